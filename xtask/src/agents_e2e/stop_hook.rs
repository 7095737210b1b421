//! Claude Code in its own session, which `regreen hook stop` keeps going.

use std::path::Path;
use std::{fs, io};

use super::agents::{Cli, Sandbox};
use super::claude_session::claude;
use super::model_server::{ModelServer, Reply};

pub(crate) const NAME: &str = "stop_hook_over_four_tasks";
const STATE: &str = r#"{"source":"spec","name":"demo","basePath":"./specs/demo","phase":"execution","taskIndex":0,"totalTasks":4,"taskIteration":1,"globalIteration":1}"#;
const TASKS: &str = "# Tasks\n\n- [ ] 1.1 One\n- [ ] 1.2 Two\n- [ ] 1.3 Three\n- [ ] 1.4 Four\n";

/// The session's command for each task: it ticks the row, and counts it in the state.
const STEPS: [&str; 4] = [
    "sed -i 's/\\[ \\] 1.1/[x] 1.1/' specs/demo/tasks.md; sed -i 's/\"taskIndex\":0/\"taskIndex\":1/' specs/demo/.ralph-state.json",
    "sed -i 's/\\[ \\] 1.2/[x] 1.2/' specs/demo/tasks.md; sed -i 's/\"taskIndex\":1/\"taskIndex\":2/' specs/demo/.ralph-state.json",
    "sed -i 's/\\[ \\] 1.3/[x] 1.3/' specs/demo/tasks.md; sed -i 's/\"taskIndex\":2/\"taskIndex\":3/' specs/demo/.ralph-state.json",
    "sed -i 's/\\[ \\] 1.4/[x] 1.4/' specs/demo/tasks.md; sed -i 's/\"taskIndex\":3/\"taskIndex\":4/' specs/demo/.ralph-state.json",
];

/// Returns the rows that are open once the session has stopped.
pub(crate) fn open_rows(bin: &Path, regreen: &Path) -> io::Result<String> {
    let folder = tempfile::tempdir()?;
    let mut sandbox = Sandbox::make(folder.path())?;
    let spec = sandbox.work.join("specs/demo");
    fs::create_dir_all(&spec)?;
    fs::create_dir_all(sandbox.work.join(".claude"))?;
    fs::write(sandbox.work.join("specs/.current-spec"), "demo\n")?;
    fs::write(spec.join("tasks.md"), TASKS)?;
    fs::write(spec.join(".ralph-state.json"), STATE)?;
    let command = format!("{} hook stop", regreen.display());
    let hook = serde_json::json!({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": command}]}]}});
    fs::write(sandbox.work.join(".claude/settings.json"), hook.to_string())?;
    let replies = STEPS
        .into_iter()
        .flat_map(|step| [Reply::run(step), Reply::say("This task is done.")]);
    let server = ModelServer::start(Cli::Claude, sandbox.work.clone(), replies.collect())?;
    sandbox.prepare(Cli::Claude, bin, server.port)?;
    let session = [
        "-p",
        "--dangerously-skip-permissions",
        "Work through the spec.",
    ];
    let output = claude(&sandbox, &session)?;
    let tasks = fs::read_to_string(spec.join("tasks.md"))?;
    let open: Vec<&str> = tasks.lines().filter(|line| line.contains("[ ]")).collect();
    Ok(match (output.status.success(), open.is_empty()) {
        (true, true) => String::new(),
        (true, false) => open.join("; "),
        (false, _) => format!(
            "{}: {}",
            output.status,
            String::from_utf8_lossy(&output.stderr)
        ),
    })
}
