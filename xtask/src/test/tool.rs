//! Cargo's optional subcommands: which of them this machine has.

use std::process::Stdio;

use crate::repository;

pub(super) fn is_installed(subcommand: &str) -> bool {
    repository::cargo(&[subcommand, "--version"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}
