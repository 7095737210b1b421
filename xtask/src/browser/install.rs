//! The browser, its driver, and the checker of accessibility.

use std::path::Path;
use std::process::{Command, Stdio};

use super::{Result, fail};

/// The rules change with each version, so it is a known one.
const AXE: &str = "axe-core@4.14.0";

/// Installs Debian's packages if they are missing.
pub(super) fn browser() -> Result<()> {
    if has("chromium") && has("chromedriver") {
        return Ok(());
    }
    let flags = ["install", "-y", "--no-install-recommends"];
    call(
        Command::new("apt-get")
            .args(flags)
            .args(["chromium", "chromium-driver"]),
    )
}

/// Returns the script of axe-core.
pub(super) fn axe(folder: &Path) -> Result<String> {
    let script = folder.join("node_modules/axe-core/axe.min.js");
    if !script.exists() {
        let flags = ["install", "--no-save", "--ignore-scripts", "--prefix"];
        call(Command::new("npm").args(flags).arg(folder).arg(AXE))?;
    }
    Ok(std::fs::read_to_string(script)?)
}

fn has(program: &str) -> bool {
    let mut command = Command::new(program);
    let command = command.arg("--version").stdout(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

fn call(command: &mut Command) -> Result<()> {
    let status = command.stdout(Stdio::null()).status()?;
    if status.success() {
        Ok(())
    } else {
        fail(format!("{command:?} failed: {status}"))
    }
}
