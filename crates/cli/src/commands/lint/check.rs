//! Findings for the author of a task file.

use regreen_documents::{RowId, TaskFile, UNRUN_HELP, background_start, is_path, vague_words};
use regreen_model::{Task, TaskKind, VerifyCommand, Warning};

use super::counted;
use super::finding::Finding;
use super::judging;

/// Returns all findings, most important first. `can_run` decides whether a command can run here.
pub fn all(
    file: &TaskFile,
    can_run: impl Fn(&VerifyCommand) -> bool,
    gate: Option<&str>,
) -> Vec<Finding> {
    let rows: Vec<(RowId, Task)> = file
        .rows()
        .filter_map(|row| Some((row, file.task(row)?)))
        .collect();
    let open: Vec<&(RowId, Task)> = rows.iter().filter(|(_, task)| will_run(task)).collect();
    let mut findings = Vec::new();
    findings.extend(no_tasks(&rows));
    findings.extend(file.warnings().iter().map(reading));
    findings.extend(unverified(file, &open, &can_run, gate));
    findings.extend(judging::findings(file, &open, &can_run));
    findings.extend(background(file, &open));
    findings.extend(service_fields(&open));
    findings.extend(vague(file, &open));
    findings.extend(without_files(file, &open));
    findings.extend(unrun(file));
    findings
}

fn will_run(task: &Task) -> bool {
    !task.done && matches!(task.kind, TaskKind::Task | TaskKind::Optional)
}

fn no_tasks(rows: &[(RowId, Task)]) -> Option<Finding> {
    rows.is_empty().then(|| Finding {
        message: "no tasks in this file".into(),
        help: Some("a task is a list item with a box: - [ ] 1.1 What to do".into()),
        places: Vec::new(),
    })
}

fn reading(warning: &Warning) -> Finding {
    Finding {
        message: warning.message.clone(),
        help: None,
        places: vec![(warning.line, String::new())],
    }
}

fn unverified(
    file: &TaskFile,
    open: &[&(RowId, Task)],
    can_run: impl Fn(&VerifyCommand) -> bool,
    gate: Option<&str>,
) -> Option<Finding> {
    let places: Vec<_> = open
        .iter()
        .filter_map(|(row, task)| {
            let commands = file.verify_commands(*row);
            Some((task.line, why_unverified(task, &commands, &can_run)?))
        })
        .collect();
    let mut help = String::from("put a command into backticks: - **Verify**: `cargo test parser`");
    if let Some(gate) = gate {
        help.push_str(&format!(
            "\nor set a gate that checks the whole project: {gate}"
        ));
    }
    (!places.is_empty()).then(|| Finding {
        message: format!(
            "{} without a Verify that can run here: the result would be accepted unchecked",
            counted(places.len(), "task")
        ),
        help: Some(help),
        places,
    })
}

/// Returns why no part of a task's Verify can run; `None` if one can.
fn why_unverified(
    task: &Task,
    commands: &[VerifyCommand],
    can_run: impl Fn(&VerifyCommand) -> bool,
) -> Option<String> {
    if task.fields.verify.is_none() {
        return Some("no Verify".to_owned());
    }
    if commands.iter().any(can_run) {
        return None;
    }
    Some(match commands.first() {
        Some(command) => format!(
            "the program of its Verify is not installed: {}",
            command.program()
        ),
        None => "its Verify is prose, not a command".to_owned(),
    })
}

/// Finds programs started in the background, which end with their attempt.
fn background(file: &TaskFile, open: &[&(RowId, Task)]) -> Option<Finding> {
    let places: Vec<_> = open
        .iter()
        .filter(|(row, _)| file.declared_service(*row).is_none() && !file.ends_services(*row))
        .filter_map(|(_, task)| {
            let command = background_start(&task.fields)?;
            Some((task.line, format!("write: - **Service**: `{command}`")))
        })
        .collect();
    (!places.is_empty()).then(|| Finding {
        message: format!(
            "{} something in the background, which ends with the attempt: no later task can use it",
            starts(places.len())
        ),
        help: Some(
            "declare it, and regreen runs it for the tasks that follow:\n- **Service**: `npm run dev`\n- **Ready**: `curl -f localhost:3000`"
                .into(),
        ),
        places,
    })
}

fn starts(tasks: usize) -> String {
    let verb = if tasks == 1 { "starts" } else { "start" };
    format!("{} {verb}", counted(tasks, "task"))
}

/// Finds services whose readiness regreen can't check, and a Ready without a service.
fn service_fields(open: &[&(RowId, Task)]) -> Option<Finding> {
    let places: Vec<_> = open
        .iter()
        .filter_map(|(_, task)| {
            let fields = &task.fields;
            let why = match (&fields.service, &fields.ready, &fields.verify) {
                (None, Some(_), _) => "Ready without Service is ignored",
                (Some(service), None, None) if !service.to_lowercase().contains("stop") => {
                    "Service without Ready: it counts as ready after a second"
                }
                _ => return None,
            };
            Some((task.line, why.to_owned()))
        })
        .collect();
    (!places.is_empty()).then(|| Finding {
        message: format!(
            "{} with an incomplete Service",
            counted(places.len(), "task")
        ),
        help: Some("add a check that it is ready: - **Ready**: `curl -f localhost:3000`".into()),
        places,
    })
}

fn vague(file: &TaskFile, open: &[&(RowId, Task)]) -> Option<Finding> {
    let mut places = Vec::new();
    for (row, task) in open {
        if let Some(words) = vague_words(file.block(*row).unwrap_or_default()) {
            places.push((task.line, format!("“{words}”: the agent was not there")));
        }
    }
    (!places.is_empty()).then(|| Finding {
        message: format!(
            "{} referring to a conversation that the agent has not seen",
            counted(places.len(), "task")
        ),
        help: Some("write it out: the agent sees only this text".into()),
        places,
    })
}

fn without_files(file: &TaskFile, open: &[&(RowId, Task)]) -> Option<Finding> {
    let names_none = |row: RowId, task: &Task| {
        task.fields.files.is_none()
            && !file
                .block(row)
                .unwrap_or_default()
                .split_whitespace()
                .any(is_path)
    };
    let places: Vec<_> = open
        .iter()
        .filter(|(row, task)| names_none(*row, task))
        .map(|(_, task)| (task.line, String::new()))
        .collect();
    (!places.is_empty()).then(|| Finding {
        message: format!(
            "{} with neither Files nor any path: the agent has to guess where to work",
            counted(places.len(), "task")
        ),
        help: Some("name the files, preferably in a field: - **Files**: `src/parser.rs`".into()),
        places,
    })
}

fn unrun(file: &TaskFile) -> Option<Finding> {
    let unrun = file.unrun_rows();
    let verify = |task: &Task| task.fields.verify.as_ref().map(|_| "has a Verify");
    let places = unrun
        .rows()
        .iter()
        .map(|task| (task.line, verify(task).unwrap_or_default().to_owned()));
    Some(Finding {
        message: unrun.message()?,
        help: Some(UNRUN_HELP.to_owned()),
        places: places.collect(),
    })
}

#[cfg(test)]
mod tests {
    use regreen_model::VerifyForm;

    use super::*;

    fn messages(text: &str) -> Vec<String> {
        let file = TaskFile::read(text);
        let can_run = |command: &VerifyCommand| {
            command.form == VerifyForm::Always || command.program() == "make"
        };
        let findings = all(&file, can_run, Some("cargo test"));
        findings
            .into_iter()
            .map(|finding| finding.message)
            .collect()
    }

    #[test]
    fn a_good_file_has_no_findings() {
        let text = "- [ ] 1.1 a\n  - **Files**: a.rs\n  - **Verify**: `make test`\n- [ ] 1.2 b in src/b.rs\n  - **Verify**: make -C b\n- [x] old\n";
        assert_eq!(messages(text), Vec::<String>::new());
    }

    #[test]
    fn each_weakness_is_listed_once_with_its_count() {
        let text = "- [ ] 1.1 Do it as discussed\n- [ ] 1.2 a in a.rs\n  - **Verify**: it works\n- [ ] 1.2 b.rs\n  - **Verify**: `make x || true`\n- [ ] part\n- [ ] 1.4 c.rs\n  - **Verify**: `make x` shows all is well\n- [ ] 1.5 d.rs\n  - **Verify**: `make x` returns 3\n";
        assert_eq!(
            messages(text),
            [
                "the id 1.2 is also used on line 2",
                "2 tasks without a Verify that can run here: the result would be accepted unchecked",
                "1 Verify command can't fail: its task would pass whatever happens",
                "1 Verify command says something that regreen can't check: its task would count as unverified",
                "1 task referring to a conversation that the agent has not seen",
                "1 task with neither Files nor any path: the agent has to guess where to work",
                "1 open row has no id, so it is not run",
            ]
        );
    }

    #[test]
    fn several_verify_commands_are_spoken_of_in_the_plural() {
        let row = |id: &str, verify: &str| format!("- [ ] {id} a.rs\n  - **Verify**: {verify}\n");
        let unfailing = row("1.1", "`make x || true`") + &row("1.2", "`make y || true`");
        let unchecked = row("1.3", "`make x` shows all is well") + &row("1.4", "`make` is fast");
        assert_eq!(
            messages(&(unfailing + &unchecked)),
            [
                "2 Verify commands can't fail: their tasks would pass whatever happens",
                "2 Verify commands say something that regreen can't check: their tasks would count as unverified",
            ]
        );
    }

    #[test]
    fn a_server_in_the_background_needs_a_service() {
        let row = |step: &str| {
            format!("- [ ] 1.1 Serve a.js\n  - **Do**: {step}\n  - **Verify**: `make x`\n")
        };
        assert_eq!(
            messages(&row("Run `node a.js &`")),
            [
                "1 task starts something in the background, which ends with the attempt: no later task can use it"
            ]
        );
        let declared = "- [ ] 1.1 Serve a.js\n  - **Service**: `node a.js &`\n  - **Ready**: `make x`\n  - **Verify**: `make x`\n";
        assert_eq!(messages(declared), Vec::<String>::new());
        let no_ready = "- [ ] 1.1 Serve a.js\n  - **Service**: `node a.js`\n- [ ] 1.2 b.js\n  - **Ready**: `make x`\n  - **Verify**: `make x`\n";
        assert!(messages(no_ready).contains(&"2 tasks with an incomplete Service".to_owned()));
    }

    #[test]
    fn the_message_for_an_empty_file_explains_tasks() {
        assert_eq!(messages("# Plan\n"), ["no tasks in this file"]);
    }
}
