//! docs/agents.md agrees with the adapters.

#![expect(
    clippy::disallowed_methods,
    reason = "the page is a file, and this is a test"
)]

use std::fs;

use regreen_agents::{Abilities, Agent, CodingAgent};

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/agents.md");
const BEGIN: &str = "page_of_agents -->\n";
const END: &str = "<!-- end -->";

fn matrix() -> String {
    let agents = CodingAgent::ALL.map(|known| (known.title(), known.abilities()));
    let acp = ("ACP", Agent::acp_abilities());
    let agents: Vec<(&str, Abilities)> = agents.into_iter().chain([acp]).collect();
    let row = |cells: Vec<&str>| format!("| {} |\n", cells.join(" | "));
    let titles = agents.iter().map(|(title, _)| *title);
    let mut table = row([""].into_iter().chain(titles).collect());
    table += &format!("|{}\n", "---|".repeat(agents.len() + 1));
    for (at, title) in Abilities::TITLES.into_iter().enumerate() {
        let cells = agents.iter().map(|(_, abilities)| abilities.row()[at]);
        table += &row([title].into_iter().chain(cells).collect());
    }
    let skips = CodingAgent::ALL.map(|known| format!("`{}`", known.skip_flag()));
    let skips = skips.iter().map(String::as_str);
    let cells = ["no permission prompts"].into_iter().chain(skips);
    table += &row(cells.chain(["regreen allows every request"]).collect());
    table
}

#[test]
fn the_page_of_agents_has_what_the_adapters_say() {
    let page = fs::read_to_string(PAGE).unwrap();
    let (head, rest) = page.split_once(BEGIN).unwrap();
    let (_, tail) = rest.split_once(END).unwrap();
    let expected = format!("{head}{BEGIN}{}{END}{tail}", matrix());
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(PAGE, &expected).unwrap();
    }
    let page = fs::read_to_string(PAGE).unwrap();
    assert!(
        page == expected,
        "docs/agents.md is out of date: run this with UPDATE_DOCS=1"
    );
}
