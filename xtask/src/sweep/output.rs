use std::process::ExitCode;

use clap::Args;

use crate::product::Product;
use crate::repository;

#[derive(Clone, Debug, Args)]
pub(crate) struct Arguments {
    /// How much each of them prints.
    #[arg(long, default_value_t = 1_000, value_name = "N")]
    megabytes: u64,
    #[command(flatten)]
    product: Product,
}

pub(crate) fn run(arguments: &Arguments) -> ExitCode {
    let program = match arguments.product.program() {
        Ok(program) => program,
        Err(code) => return code,
    };
    let mut tests = super::test("flood");
    tests
        .env("REGREEN_FLOOD_PROGRAM", program)
        .env("REGREEN_FLOOD_MB", arguments.megabytes.to_string());
    repository::finish(tests)
}
