//! `regreen man`

use clap::CommandFactory as _;
use clap_mangen::Man;

use crate::arguments::Arguments;
use crate::exit::Exit;
use crate::output;
use crate::problem::Problem;

pub fn run(path: &[String]) -> Result<Exit, Problem> {
    let mut command = Arguments::command();
    let mut name = String::from("regreen");
    for part in path {
        let found = command.find_subcommand(part).cloned();
        command = found.ok_or_else(|| Problem::NoSuchCommand {
            name: path.join(" "),
        })?;
        name = format!("{name}-{part}");
    }
    let mut page = Vec::new();
    Man::new(command.display_name(&name))
        .title(&name)
        .render(&mut page)
        .map_err(Problem::Print)?;
    output::print(&String::from_utf8_lossy(&page))?;
    Ok(Exit::Success)
}
