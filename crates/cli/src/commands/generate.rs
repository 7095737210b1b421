//! `regreen completions` and `regreen man`: text generated from the definition of the command line.

use clap::CommandFactory as _;
use clap_complete::Shell;
use clap_mangen::Man;

use crate::arguments::Arguments;
use crate::exit::Exit;
use crate::output;
use crate::problem::Problem;

/// Prints a completion script.
pub fn completions(shell: Shell) -> Result<Exit, Problem> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "regreen", &mut script);
    output::print(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Success)
}

/// Prints the manual page of regreen or one of its commands.
pub fn man(path: &[String]) -> Result<Exit, Problem> {
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
    let typed = name.replace('-', " ");
    Man::new(command.display_name(&name).bin_name(typed))
        .title(&name)
        .source(format!("regreen {}", env!("CARGO_PKG_VERSION")))
        .render(&mut page)
        .map_err(Problem::Print)?;
    output::print(&String::from_utf8_lossy(&page))?;
    Ok(Exit::Success)
}
