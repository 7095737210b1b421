//! Where the product touches the world outside of the workspace's files.

use std::path::{Path, PathBuf};

use toml::{Table, Value};

use crate::arrows::DEV_ONLY;
use crate::tree;

/// All places that start a program, and whose.
const STARTERS: [(&str, &str); 5] = [
    ("crates/cli/src/commands/run/on_end.rs", "the user's own"),
    (
        "crates/cli/src/commands/run/person/editor.rs",
        "the user's own editor",
    ),
    ("crates/supervisor/src/keeper.rs", "agents, Verify, hooks"),
    (
        "crates/supervisor/src/keepers.rs",
        "regreen itself, as keeper",
    ),
    ("crates/workspace/src/git/plain_runner.rs", "git"),
];

/// What opens connections. A `UnixStream` between regreen and its keeper leads nowhere else.
const SOCKETS: [&str; 6] = [
    "TcpStream",
    "TcpListener",
    "UdpSocket",
    "ToSocketAddrs",
    "net::connect",
    "AddressFamily::INET",
];

/// Libraries that speak to networks, of which one would be enough.
const NETWORKING: [&str; 14] = [
    "attohttpc",
    "curl",
    "hyper",
    "isahc",
    "minreq",
    "mio",
    "native-tls",
    "openssl",
    "quinn",
    "reqwest",
    "rustls",
    "socket2",
    "tokio",
    "ureq",
];

/// Whether a line of code gets hold of `std::process::Command`.
fn starts_programs(line: &str) -> bool {
    line.contains("process::") && line.contains("Command")
}

/// The sources of the product, with their texts.
fn sources() -> impl Iterator<Item = (PathBuf, String)> {
    let is_source = |path: &PathBuf| {
        let is_rust = path.extension().is_some_and(|extension| extension == "rs");
        let is_product = !DEV_ONLY
            .iter()
            .any(|name| path.iter().nth(1) == Some(name.as_ref()));
        let is_in_src = path.iter().nth(2).is_some_and(|folder| folder == "src");
        is_rust && path.starts_with("crates") && is_product && is_in_src
    };
    let files = tree::files().into_iter().filter(is_source);
    files.map(|path| (path.clone(), tree::read(path)))
}

#[test]
fn programs_are_started_in_these_places_only() {
    let found: Vec<PathBuf> = sources()
        .filter(|(_, text)| text.lines().any(starts_programs))
        .map(|(path, _)| path)
        .collect();
    assert_eq!(found, STARTERS.map(|(path, _)| PathBuf::from(path)));
}

#[test]
fn a_program_that_is_started_is_found() {
    for line in [
        "use std::process::Command;",
        "use std::process::{Child, Command};",
        "let mut child = std::process::Command::new(x);",
        "use std::os::unix::process::CommandExt;",
    ] {
        assert!(starts_programs(line), "{line}");
    }
    assert!(!starts_programs("use regreen_engine::{Command, Input};"));
    assert!(!starts_programs("use std::process::ExitCode;"));
}

#[test]
fn nothing_of_ours_opens_a_connection() {
    for (path, text) in sources() {
        let found: Vec<&&str> = SOCKETS
            .iter()
            .filter(|name| text.contains(**name))
            .collect();
        assert_eq!(found, [&""; 0], "{}", path.display());
    }
    let lock: Table = tree::read("Cargo.lock").parse().expect("it can be read");
    let packages = lock["package"].as_array().expect("packages are listed");
    let names = packages.iter().filter_map(|package| package.get("name"));
    let found: Vec<&str> = names
        .filter_map(Value::as_str)
        .filter(|name| NETWORKING.contains(name))
        .collect();
    assert_eq!(found, [""; 0]);
    assert!(sources().any(|(path, _)| path == Path::new("crates/cli/src/main.rs")));
}
