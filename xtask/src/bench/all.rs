//! `cargo xtask bench`: all benchmarks in one run, and the page about them.

use std::path::Path;
use std::process::ExitCode;

use clap::Args;

use super::{diagnosis, instructions, long_history, page, run_bench, run_loop};
use crate::repository::Product;

/// The generated parts of docs/benchmarks.md.
pub(super) const PARTS: [&str; 5] = ["instructions", "loop", "history", "diagnosis", "machine"];

/// The benchmarks that cargo runs, and that print their own tables.
const OTHERS: [(&str, &str); 4] = [
    ("regreen-agents", "decoding"),
    ("xtask", "documents"),
    ("xtask", "healing"),
    ("xtask", "history"),
];

#[derive(Clone, Debug, Args)]
#[group(id = "all")]
pub(crate) struct Arguments {
    /// Make the counted instructions the baseline.
    #[arg(long)]
    update: bool,
    #[command(flatten)]
    product: Product,
}

pub(crate) fn run(arguments: &Arguments) -> ExitCode {
    let program = match arguments.product.program() {
        Ok(program) => program,
        Err(code) => return code,
    };
    match measure_all(&program, arguments.update) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// Returns whether nothing has got worse and all promises of the other benchmarks are kept. Bars that are
/// missed are on the page.
fn measure_all(program: &Path, updates: bool) -> Result<bool, String> {
    let words = |error: run_loop::LoopError| error.to_string();
    let counted = instructions::measure(program, updates)?;
    let has_regressed = instructions::verdict(&counted) != ExitCode::SUCCESS;
    let looped = run_loop::measure(&run_loop::Arguments::usual(program), program).map_err(words)?;
    print!("{}", looped.text());
    let remembered = long_history::measure(program).map_err(words)?;
    print!("{}", remembered.text());
    let diagnosed = diagnosis::Arguments::usual(program);
    let diagnosed = diagnosis::measure(&diagnosed, program).map_err(words)?;
    print!("{}", diagnosed.text());
    let machine = machine(&looped);
    let [a, b, c, d, e] = PARTS;
    page::update(&[
        (a, instructions::table(&counted)),
        (b, looped.table()),
        (c, remembered.table()),
        (d, diagnosed.table()),
        (e, machine),
    ])?;
    let others = OTHERS.map(|(package, name)| run_bench(package, name));
    let are_kept = others.into_iter().all(|code| code == ExitCode::SUCCESS);
    Ok(!has_regressed && are_kept)
}

/// Describes the machine and how much its times can be trusted.
fn machine(looped: &super::promise::Report) -> String {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = load.split(' ').next().unwrap_or("unknown");
    let spread = looped
        .facts
        .iter()
        .find(|(what, _)| what == run_loop::SPREAD);
    let spread = spread.map_or("unknown", |(_, found)| found.as_str());
    format!(
        "Measured on {cores} cores with a load of {load} at the end. The bare loop's processor time varied by \
         {spread} from round to round: that much of any time here is noise. Instructions don't vary."
    )
}
