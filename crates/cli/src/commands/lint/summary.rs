//! The first lines of a lint report.

use std::fmt::Write as _;

use regreen_documents::TaskFile;
use regreen_model::{Task, TaskKind};

pub fn of(name: &str, file: &TaskFile, findings: usize) -> String {
    let tasks = file.tasks();
    let count = |is: &dyn Fn(&Task) -> bool| tasks.iter().filter(|task| is(task)).count();
    let to_run = count(&|task| task.kind == TaskKind::Task && !task.is_fix());
    let done = count(&|task| task.kind == TaskKind::Task && !task.is_fix() && task.done);
    let mut text = format!(
        "{name}: {} style, {}",
        file.dialect(),
        counted(to_run, "task")
    );
    let _ = write!(text, " ({done} done)");
    for (number, word) in [
        (count(&|task| task.is_fix()), "fix"),
        (count(&|task| task.kind == TaskKind::Group), "group"),
        (
            count(&|task| task.kind == TaskKind::Optional && !task.is_fix()),
            "optional task",
        ),
        (
            count(&|task| task.kind == TaskKind::Checklist),
            "checklist item",
        ),
    ] {
        if number > 0 {
            let _ = write!(text, ", {}", counted(number, word));
        }
    }
    text.push('\n');
    text.push_str(&match findings {
        0 => "Nothing to complain about.\n".to_owned(),
        n => format!("{} to look at:\n", counted(n, "thing")),
    });
    text
}

pub fn counted(number: usize, word: &str) -> String {
    match (number, word) {
        (1, word) => format!("1 {word}"),
        (n, "fix") => format!("{n} fixes"),
        (n, word) => format!("{n} {word}s"),
    }
}
