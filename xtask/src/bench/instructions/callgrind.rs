//! Counts the instructions of processes with valgrind's callgrind.
//!
//! A count doesn't depend on what else the machine does, so it shows a change that a time would hide.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;
use std::process::Command;

use crate::bench::run_loop::{Doing as _, LoopError};

/// How the keepers of regreen are called.
const KEEPER: &str = " __keep";
/// Programs that regreen starts aren't counted.
const OTHERS: &str = "/bin/*,/sbin/*,/usr/*";

/// The instructions of a call of regreen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counted {
    /// Those of the process itself.
    pub(super) own: u64,
    /// Those of its keepers.
    pub(super) keepers: u64,
}

/// Why nothing could be counted.
#[derive(Debug, thiserror::Error)]
pub(in crate::bench) enum CountError {
    #[error(
        "valgrind is not installed, and nothing else counts instructions repeatably: \
         `apt-get install valgrind`, `dnf install valgrind` or `pacman -S valgrind`"
    )]
    NoValgrind,
    #[error(transparent)]
    Failed(#[from] LoopError),
}

/// Runs a call in an environment that is always the same, and counts it.
pub(super) fn count(call: &Command, home: &Path) -> Result<Counted, CountError> {
    let folder = tempfile::tempdir().doing("make a folder")?;
    let mut valgrind = Command::new("valgrind");
    valgrind
        .args(["--quiet", "--tool=callgrind", "--trace-children=yes"])
        .arg(format!("--trace-children-skip={OTHERS}"))
        .arg(format!(
            "--callgrind-out-file={}/%p",
            folder.path().display()
        ))
        .arg(call.get_program())
        .args(call.get_args());
    if let Some(place) = call.get_current_dir() {
        valgrind.current_dir(place);
    }
    fix_environment(&mut valgrind, home);
    let output = match valgrind.output() {
        Err(error) if error.kind() == ErrorKind::NotFound => return Err(CountError::NoValgrind),
        output => output.doing("start valgrind")?,
    };
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(LoopError::Failed(format!("{call:?}: {said}")).into());
    }
    Ok(read_all(folder.path()).doing("read what callgrind counted")?)
}

/// Sets the environment that every counted process gets, and nothing else.
pub(super) fn fix_environment<'c>(command: &'c mut Command, home: &Path) -> &'c mut Command {
    command
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("HOME", home)
        .env("LANG", "C")
        .env("TZ", "UTC")
        .env("GIT_CONFIG_NOSYSTEM", "1")
}

fn read_all(folder: &Path) -> io::Result<Counted> {
    let mut counted = Counted::default();
    for entry in fs::read_dir(folder)? {
        let profile = fs::read_to_string(entry?.path())?;
        match total(&profile) {
            Some((of_keeper, total)) if of_keeper => counted.keepers += total,
            Some((_, total)) => counted.own += total,
            None => {}
        }
    }
    Ok(counted)
}

/// Returns whether a profile is a keeper's, and how many instructions it has.
fn total(profile: &str) -> Option<(bool, u64)> {
    let after = |name: &str| profile.lines().find_map(|line| line.strip_prefix(name));
    let is_keeper = after("cmd:")?.contains(KEEPER);
    // `summary` is missing if nothing was counted.
    let total = after("totals:").or_else(|| after("summary:"))?;
    Some((is_keeper, total.split_whitespace().next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_names_its_process_and_its_total() {
        let profile = "version: 1\ncmd:  target/release/regreen __keep\npart: 1\n\nfn=(1)\n1 2\ntotals: 1269781\n";
        assert_eq!(total(profile), Some((true, 1_269_781)));
        let own = profile.replace("__keep", "run");
        assert_eq!(total(&own), Some((false, 1_269_781)));
        assert_eq!(total("cmd: regreen\n"), None);
    }
}
