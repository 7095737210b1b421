use std::fmt::Write as _;

use regreen_model::PlainLine;
use regreen_reporters::Span;

use super::{RunStatus, Status, TaskStatus};
use crate::output::printable_line;

const TITLE_CHARS: usize = 60;
const REASON_CHARS: usize = 100;

impl Status {
    pub(super) fn to_page(&self) -> String {
        let mut page = format!(
            "spec {} ({}): {} of {} originals done",
            printable_line(&self.spec),
            printable_line(&self.file),
            self.originals.done,
            self.originals.total
        );
        if self.fixes.total > 0 {
            let _ = write!(page, ", {} of {} fixes", self.fixes.done, self.fixes.total);
        }
        page.push('\n');
        match &self.run {
            None => page.push_str("no run yet: `regreen run` starts one\n"),
            Some(run) => tell_run(&mut page, run),
        }
        page.push('\n');
        let width = self
            .tasks
            .iter()
            .map(|task| name(task).chars().count())
            .max();
        for task in &self.tasks {
            tell_task(&mut page, task, width.unwrap_or(0));
        }
        page
    }
}

fn tell_run(page: &mut String, run: &RunStatus) {
    let state = match (&run.holder, run.outcome.as_deref()) {
        (Some(_), _) => "at work",
        (None, None) => "was cut off; `regreen run` goes on with it",
        (None, Some("all_green")) => "ended, all green",
        (None, Some("only_done")) => "ended, with what was asked for done",
        (None, Some("skipped")) => "ended, with tasks skipped",
        (None, Some("limit")) => "ended at a limit",
        (None, Some("needs_person")) => "waits for a person; `regreen run` goes on with it",
        (None, Some("try_later")) => "paused until later; `regreen run` goes on with it",
        (None, Some("set_up")) => "paused: the set-up must be fixed; `regreen run` goes on with it",
        (None, Some(_)) => "was stopped; `regreen run` goes on with it",
    };
    let _ = writeln!(
        page,
        "run {}, agent {}: {state}",
        run.id,
        PlainLine::flatten(&run.agent, REASON_CHARS)
    );
    let _ = writeln!(
        page,
        "attempts {} of {}, waited {} of {}",
        run.attempts_used,
        run.attempts_limit,
        Span::from_millis(run.waited_ms),
        Span::from_millis(run.max_wait_ms)
    );
}

fn name(task: &TaskStatus) -> String {
    let indent = "  ".repeat(usize::from(task.depth));
    let tick = if task.done { 'x' } else { ' ' };
    let title = PlainLine::flatten(&task.title, TITLE_CHARS);
    let optional = if task.optional { "*" } else { "" };
    format!("{indent}[{tick}]{optional} {} {title}", task.id)
}

fn tell_task(page: &mut String, task: &TaskStatus, width: usize) {
    let facts = facts(task).join(", ");
    let line = format!("{:<width$}  {facts}", name(task));
    let _ = writeln!(page, "{}", line.trim_end());
}

fn facts(task: &TaskStatus) -> Vec<String> {
    let mut facts = Vec::new();
    match task.attempts {
        0 => {}
        1 => facts.push("1 attempt".to_owned()),
        n => facts.push(format!("{n} attempts")),
    }
    facts.extend(task.marks.iter().map(ToString::to_string));
    facts.extend(task.commit.clone());
    if task.skipped {
        facts.push("skipped".to_owned());
    }
    if let Some(current) = &task.current {
        let elapsed = current
            .for_ms
            .map(|ms| format!(" for {}", Span::whole_seconds(ms)));
        facts.push(format!("{}{}", current.what, elapsed.unwrap_or_default()));
    }
    if let Some(failure) = &task.failure {
        let first = failure.lines().next().unwrap_or_default();
        facts.push(format!(
            "failed: {}",
            PlainLine::flatten(first, REASON_CHARS)
        ));
    }
    facts
}
