//! Texts about what is selected, made from the read model: a run, a task, the evidence of a failure.

use regreen_model::{FailureRecord, Span, TaskFailure};
use regreen_overview::{AttemptView, RunDetails, TaskState, TaskView, prompt_words};
use regreen_reporters::{Tone, headline, kind_and_place};

use crate::state::{Panel, State};
use crate::words;

/// More failures, warnings or lines of an error than anyone reads here.
const MAX_LISTED: usize = 50;

/// A line, and what it means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DetailLine {
    pub(crate) tone: Option<Tone>,
    pub(crate) text: String,
}

/// The lines of a text as it is made.
#[derive(Debug, Default)]
struct Lines(Vec<DetailLine>);

impl Lines {
    fn add(&mut self, tone: Option<Tone>, text: impl Into<String>) {
        let text = text.into();
        if !text.trim().is_empty() {
            self.0.push(DetailLine { tone, text });
        }
    }

    fn title(&mut self, text: impl Into<String>) {
        if !self.0.is_empty() {
            let (tone, text) = (None, String::new());
            self.0.push(DetailLine { tone, text });
        }
        self.add(Some(Tone::Strong), text);
    }

    /// Adds a text of several lines.
    fn quote(&mut self, text: &str) {
        let lines = text.lines().filter(|line| !line.trim().is_empty());
        lines.take(MAX_LISTED).for_each(|line| self.add(None, line));
    }
}

/// Returns the text about what is selected, if it isn't a text of an attempt.
pub(crate) fn details(state: &State) -> Vec<DetailLine> {
    let mut lines = Lines::default();
    let Some(run) = &state.run else {
        return lines.0;
    };
    match (state.subject, state.row(), state.attempt()) {
        (Panel::Attempts, Some(_), Some(attempt)) => evidence(&mut lines, attempt),
        (Panel::Tasks | Panel::Attempts, Some(row), _) => {
            let unknown;
            let task = match run.view.task(&row.key) {
                Some(task) => task,
                None => {
                    unknown = TaskView::untouched(&row.key);
                    &unknown
                }
            };
            about_task(&mut lines, run, task, TaskState::of_row(run, row));
        }
        _ => about_run(&mut lines, state, run),
    }
    lines.0
}

fn about_run(lines: &mut Lines, state: &State, run: &RunDetails) {
    let (summary, now) = (&run.summary, state.now);
    let (done, all) = summary.done;
    lines.title(format!("{} · {}", summary.spec, summary.workspace));
    lines.add(Some(words::run_tone(summary.state)), summary.state.words());
    lines.add(None, summary.doing(now).unwrap_or_default());
    lines.add(None, format!("{done} of {all} tasks done"));
    let agent = run.view.agent().to_string();
    let facts = [
        agent,
        words::spent(&run.view.spent),
        format!("{} tokens", run.view.spent.tokens()),
    ];
    lines.add(Some(Tone::Dim), words::joined(&facts));
    // Nothing is drawn while nothing happens, so an age would be wrong soon.
    let last = if summary.is_active() {
        words::ago(now, summary.last_sign)
    } else {
        words::moment(summary.last_sign)
    };
    let started = words::moment(summary.started);
    lines.add(Some(Tone::Dim), format!("started {started}"));
    lines.add(Some(Tone::Dim), format!("last activity {last}"));
    if !summary.questions.is_empty() {
        lines.title("Needs you (a answers)");
    }
    for (task, why) in summary.questions.iter().take(MAX_LISTED) {
        lines.add(Some(Tone::Question), words::name(task));
        lines.add(None, why.as_str());
    }
    failures(lines, run);
    if !run.view.warnings.is_empty() {
        lines.title("Warnings");
    }
    for warning in run.view.warnings.iter().rev().take(MAX_LISTED) {
        lines.add(Some(Tone::Warning), warning.as_str());
    }
}

/// Adds the tasks that are failing, and then those that were healed.
fn failures(lines: &mut Lines, run: &RunDetails) {
    let failed = run.view.tasks.iter().filter(|task| task.failure.is_some());
    let (done, open): (Vec<_>, Vec<_>) = failed.partition(|task| task.done);
    let failed: Vec<&TaskView> = open.into_iter().chain(done.into_iter().rev()).collect();
    if !failed.is_empty() {
        lines.title(format!("What failed ({})", failed.len()));
    }
    for task in failed.into_iter().take(MAX_LISTED) {
        let state = TaskState::of(task);
        let name = format!("{} · {}", words::name(&task.key), state.words());
        lines.add(words::task_tone(state), name);
        if let Some(failure) = &task.failure {
            lines.add(Some(Tone::Dim), kind_and_place(failure).unwrap_or_default());
            lines.add(None, headline(failure));
        }
    }
}

fn about_task(lines: &mut Lines, run: &RunDetails, task: &TaskView, task_state: TaskState) {
    lines.title(words::name(&task.key));
    lines.add(words::task_tone(task_state), task_state.words());
    let marks: Vec<String> = task.marks.iter().map(ToString::to_string).collect();
    lines.add(Some(Tone::Warning), marks.join(" · "));
    let attempts = usize::try_from(task.attempts).unwrap_or(usize::MAX);
    let commit = task.commit.as_ref().map(|hash| format!("commit {hash}"));
    let facts = [
        words::count(attempts, "attempt", "attempts"),
        words::spent(&task.spent),
        commit.unwrap_or_default(),
    ];
    lines.add(Some(Tone::Dim), words::joined(&facts));
    if task.is_fix() {
        lines.add(None, format!("fixes {}", words::name(&task.root)));
    }
    if let Some(question) = &task.question {
        lines.title("Needs you (a answers)");
        lines.quote(&question.why);
        if let Some(repair) = &question.repair {
            lines.add(None, format!("proposed repair: {}", repair.does));
        }
        let asked = words::moment(question.asked);
        lines.add(Some(Tone::Dim), format!("asked {asked}"));
    }
    fixes(lines, run, task);
    if !task.history.is_empty() {
        lines.title("Attempts");
    }
    for attempt in task.history.iter().rev().take(MAX_LISTED) {
        about_attempt(lines, attempt);
    }
}

/// Adds the fixes of a task, each with the failure that it was added for.
fn fixes(lines: &mut Lines, run: &RunDetails, task: &TaskView) {
    if !task.fixes.is_empty() {
        lines.title("Fixes");
    }
    for fix in &task.fixes {
        let mut known = run.view.tasks.iter().filter(|one| one.is_fix());
        match known.find(|one| one.key.id == fix.id) {
            Some(found) => {
                let state = TaskState::of(found);
                let text = format!("{} · {}", words::name(&found.key), state.words());
                lines.add(words::task_tone(state), text);
            }
            None => lines.add(None, fix.id.as_str()),
        }
        if let Some(cause) = &fix.cause {
            lines.add(Some(Tone::Dim), format!("because: {}", headline(cause)));
        }
    }
}

/// Adds how an attempt went, and what came of it.
fn about_attempt(lines: &mut Lines, attempt: &AttemptView) {
    let took = attempt
        .took_ms
        .map(|millis| Span::from_millis(millis).to_string());
    let files = usize::try_from(attempt.files_changed).unwrap_or(usize::MAX);
    let facts = [
        format!("attempt {}", attempt.number),
        prompt_words(attempt.prompt).to_owned(),
        took.unwrap_or_default(),
        words::count(files, "file changed", "files changed"),
    ];
    let tone = attempt.failure.as_ref().map(|_| Tone::Bad);
    lines.add(tone, words::joined(&facts));
    if let Some(failure) = &attempt.failure {
        lines.add(Some(Tone::Dim), kind_and_place(failure).unwrap_or_default());
        lines.add(None, headline(failure));
    }
    if let Some(what) = &attempt.response.what {
        let (tone, helped) = match attempt.response.helped {
            Some(true) => (Some(Tone::Good), "helped"),
            Some(false) => (Some(Tone::Bad), "did not help"),
            None => (None, "not known yet whether it helped"),
        };
        lines.add(tone, format!("tried next: {what} · {helped}"));
    }
}

/// Adds everything that is known about why an attempt failed.
fn evidence(lines: &mut Lines, attempt: &AttemptView) {
    about_attempt(lines, attempt);
    lines.add(
        Some(Tone::Dim),
        format!("started {}", words::moment(attempt.started)),
    );
    match &attempt.failure {
        Some(failure) => about_failure(lines, failure),
        None if attempt.took_ms.is_none() => lines.add(None, "It goes on."),
        None => lines.add(None, "It did not fail."),
    }
}

fn about_failure(lines: &mut Lines, failure: &FailureRecord) {
    if let Some(found) = &failure.diagnosis {
        lines.title("Diagnosis");
        let category = found.category.name().replace('_', " ");
        lines.add(
            Some(Tone::Bad),
            format!("{} · {category}", found.kind.words()),
        );
        lines.add(None, found.message.as_str());
        lines.add(
            Some(Tone::Dim),
            format!("{} sure · rule {}", found.confidence, found.rule),
        );
        if let Some(blocked_on) = &found.blocked_on {
            let line = found
                .line
                .map_or(String::new(), |line| format!(" (line {line})"));
            lines.title(format!("Blamed line{line}"));
            lines.quote(blocked_on);
        }
        for advice in found.advice() {
            lines.add(Some(Tone::Action), format!("may help: {advice}"));
        }
    }
    lines.title("Error");
    lines.quote(&failure.error);
    if failure.attempted_fix != TaskFailure::NO_ATTEMPTED_FIX && !failure.attempted_fix.is_empty() {
        lines.title("The agent tried");
        lines.quote(&failure.attempted_fix);
    }
    if let Some(found) = &failure.diagnosis {
        used(lines, found);
    }
    if let Some(said) = failure.unquoted_words() {
        lines.title("The agent's last words");
        lines.quote(said);
    }
}

fn used(lines: &mut Lines, found: &regreen_model::Failure) {
    let tools = found.tool_usage.iter();
    let tools: Vec<String> = tools
        .map(|(tool, count)| format!("{tool} {count}×"))
        .collect();
    if !tools.is_empty() {
        lines.title("Tools that the agent used");
        lines.add(None, tools.join(" · "));
    }
    if !found.files_modified.is_empty() {
        lines.title("Files that the attempt changed");
    }
    for file in found.files_modified.iter().take(MAX_LISTED) {
        lines.add(None, file.as_str());
    }
}
