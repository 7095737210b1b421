//! `regreen man`

use clap::CommandFactory as _;
use clap_mangen::Man;

use crate::arguments::Arguments;
use crate::exit::Exit;
use crate::output;
use crate::problem::Problem;

pub fn run() -> Result<Exit, Problem> {
    let mut page = Vec::new();
    Man::new(Arguments::command())
        .render(&mut page)
        .map_err(Problem::Print)?;
    output::print(&String::from_utf8_lossy(&page))?;
    Ok(Exit::AllGreen)
}
