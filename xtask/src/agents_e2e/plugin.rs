//! Claude Code with regreen's plugin, installed from this checkout.

use std::path::Path;
use std::{fs, io};

use super::agents::{Cli, Sandbox};
use super::claude_session::claude;
use super::model_server::{ModelServer, Reply};
use crate::repository;

pub(crate) const NAME: &str = "plugin_in_a_session";
const TASKS: &str = "# Tasks\n\n- [ ] 1.1 Sell bread\n";
/// A command that lacks a module, and one of which nothing but the exit code is known.
const FAILS: &str = "echo \"ModuleNotFoundError: No module named 'flour'\"; exit 1";
const SAYS_NOTHING: &str = "sh -c 'exit 3'";
const TICKS: &str = "sed -i 's/\\[ \\] 1.1/[x] 1.1/' specs/shop/tasks.md";

/// Returns what went wrong; nothing if the plugin works.
pub(crate) fn faults(bin: &Path, regreen: &Path) -> io::Result<String> {
    let folder = tempfile::tempdir()?;
    let mut sandbox = Sandbox::make(folder.path())?;
    fs::create_dir_all(sandbox.work.join("specs/shop"))?;
    fs::write(sandbox.work.join("specs/shop/tasks.md"), TASKS)?;
    let replies = vec![
        Reply::run(FAILS),
        Reply::run(SAYS_NOTHING),
        Reply::say("I could stop here."),
        Reply::run(TICKS),
        Reply::say("Done."),
    ];
    let server = ModelServer::start(Cli::Claude, sandbox.work.clone(), replies)?;
    sandbox.prepare(Cli::Claude, bin, server.port)?;
    sandbox.put_in_path(regreen);
    let root = repository::root().display().to_string();
    for call in [
        &["plugin", "validate", "--strict", &root][..],
        &["plugin", "validate", "--strict", &format!("{root}/plugin")],
        &["plugin", "marketplace", "add", &root],
        &["plugin", "install", "regreen@regreen"],
    ] {
        let output = claude(&sandbox, call)?;
        if !output.status.success() {
            let text = [output.stdout, output.stderr].concat();
            return Ok(format!("{call:?}: {}", String::from_utf8_lossy(&text)));
        }
    }
    let used = sandbox.regreen(regreen, &["use", "shop"])?;
    let session = ["-p", "--dangerously-skip-permissions", "Look around."];
    let output = claude(&sandbox, &session)?;
    let tasks = fs::read_to_string(sandbox.work.join("specs/shop/tasks.md"))?;
    let requests = server.requests();
    let told = |number: usize, text: &str| {
        let request = requests.get(number);
        request.is_some_and(|request| request.contains(text))
    };
    let diagnosis = "regreen's diagnosis of the command";
    let expected = [
        (used && output.status.success(), "a command failed"),
        (told(0, "Sell bread"), "the open task was not told"),
        (told(0, "regreen:why"), "the skills were not offered"),
        (!told(0, diagnosis), "a diagnosis came too early"),
        (told(1, diagnosis), "the failure was not explained"),
        (told(1, "missing Python module"), "its kind was not told"),
        (
            requests
                .last()
                .is_some_and(|last| last.matches(diagnosis).count() == 1),
            "what is not sure was explained as well",
        ),
        (
            told(3, "Continue spec: shop"),
            "the session could stop too early",
        ),
        (tasks.contains("[x] 1.1"), "the session did not go on"),
    ];
    let wrong = expected.into_iter().filter(|(is_well, _)| !is_well);
    let wrong: Vec<&str> = wrong.map(|(_, fault)| fault).collect();
    Ok(wrong.join("; "))
}
