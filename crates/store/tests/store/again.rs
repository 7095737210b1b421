//! Tests whose inner half runs in a process of its own.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const PLACE: &str = "REGREEN_TEST_STORE";

/// This program once more, to run only the ignored test `inner` on `file`.
pub(crate) fn again(inner: &str, file: &Path) -> Command {
    let mut command = Command::new(env::current_exe().unwrap());
    command
        .args(["--exact", inner, "--ignored"])
        .env(PLACE, file);
    command
}

/// The file the outer half prepared; none if the inner half was started on its own.
pub(crate) fn prepared() -> Option<PathBuf> {
    env::var_os(PLACE).map(PathBuf::from)
}

/// A name that matches no test would succeed as well, so success alone proves nothing.
pub(crate) fn assert_passed(output: &Output) {
    let ran = String::from_utf8_lossy(&output.stdout).contains("1 passed");
    assert!(output.status.success() && ran, "{output:#?}");
}
