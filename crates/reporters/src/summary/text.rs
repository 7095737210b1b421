//! The summary for people.

use regreen_model::{Dollars, RunOutcome, Span, is_format_control};

use super::Summary;
use super::figures::{Attempts, Figures, PlanFigures, Tokens};
use crate::public_task::PublicTask;
use crate::shown;

/// What other programs wait for; it stands alone on its line, and for nothing else.
const ALL_GREEN: &str = "ALL_TASKS_COMPLETE";

impl Summary {
    /// What it comes to, in a line or a few; `None` if the run has not ended.
    #[must_use]
    pub fn headline(&self) -> Option<String> {
        let text = match self.outcome.as_ref()? {
            RunOutcome::AllGreen => ALL_GREEN.to_owned(),
            RunOutcome::Limit { message } => printable(message),
            RunOutcome::OnlyDone => self.only_done(),
            RunOutcome::Skipped => self.left_out(),
            RunOutcome::NeedsPerson { why } => {
                format!("A person must decide: {}", shown::message(why))
            }
            RunOutcome::TryLater { why } => format!("Try again later: {}", shown::message(why)),
            RunOutcome::SetUp { why } => {
                format!("The set-up must be fixed first: {}", shown::message(why))
            }
            RunOutcome::Stopped { .. } => "Stopped. Everything is saved.".to_owned(),
        };
        Some(text)
    }

    /// The numbers, and what to do next: a line each.
    #[must_use]
    pub fn details(&self) -> Vec<String> {
        let figures = self.figures();
        let numbers = numbers(&figures);
        let next = self.next_steps(&figures);
        let next = next.into_iter().map(|step| ("Next", Some(step)));
        let entries = numbers.into_iter().chain(next);
        entries
            .filter_map(|(label, value)| Some(entry(label, &value?)))
            .collect()
    }

    /// All of it.
    #[must_use]
    pub fn text(&self) -> String {
        let lines = self.headline().into_iter().chain(self.details());
        lines.map(|line| format!("{line}\n")).collect()
    }

    fn only_done(&self) -> String {
        let id = self.tally.config.only.as_ref();
        let id = id.map_or_else(String::new, |id| format!(" {id}"));
        match self.still_open() {
            Some(open) => format!("Task{id} is done; {open}."),
            None => format!("Task{id} is done."),
        }
    }

    fn left_out(&self) -> String {
        match self.still_open() {
            Some(open) => format!("Not everything was run: {open}."),
            None => "Not everything was run.".to_owned(),
        }
    }

    fn still_open(&self) -> Option<String> {
        let originals = self.outline.originals(self.tally.config.include_optional);
        match originals.open() {
            0 => None,
            1 => Some("1 task is still open".to_owned()),
            open => Some(format!("{open} tasks are still open")),
        }
    }

    fn next_steps(&self, figures: &Figures) -> Vec<String> {
        let Some(outcome) = &self.outcome else {
            return Vec::new();
        };
        let mut steps = Vec::new();
        if let Some(failed) = &figures.failed {
            let why = self.about("why", failed);
            steps.push(format!("{why} tells how it failed"));
        }
        if matches!(outcome, RunOutcome::NeedsPerson { .. }) {
            steps.extend(figures.waiting.iter().map(|task| self.decision(task)));
        }
        steps.extend(self.way_on(outcome, figures));
        steps
    }

    fn decision(&self, task: &PublicTask) -> String {
        let [retry, done, skip] = ["retry", "done", "skip"].map(|say| self.about(say, task));
        format!("{retry} once it is edited or repaired, or {done}, or {skip}")
    }

    /// A command about a task, for this spec.
    fn about(&self, command: &str, task: &PublicTask) -> String {
        let spec = self.tally.config.spec_argument.as_ref();
        let spec = spec.map_or_else(String::new, |spec| format!(" --spec {}", printable(spec)));
        format!("`regreen {command} {}{spec}`", task.id)
    }

    fn run(&self) -> String {
        let spec = self.tally.config.spec_argument.as_ref();
        let spec = spec.map_or_else(String::new, |spec| format!(" {}", printable(spec)));
        format!("`regreen run{spec}`")
    }

    fn way_on(&self, outcome: &RunOutcome, figures: &Figures) -> Option<String> {
        let run = self.run();
        Some(match outcome {
            RunOutcome::AllGreen => {
                let diff = self.about("diff", figures.unverified.first()?);
                format!("{diff} shows what nothing has verified")
            }
            RunOutcome::Skipped => match figures.skipped.first() {
                // That is said of it already.
                first if first.is_some() && first == figures.failed.as_ref() => return None,
                Some(first) => {
                    let why = self.about("why", first);
                    format!("{why} tells why it was skipped")
                }
                None => format!("{run} goes on with what is open"),
            },
            RunOutcome::OnlyDone => format!("{run} goes on with what is open"),
            RunOutcome::Limit { .. } => format!("{run} tries once more"),
            RunOutcome::NeedsPerson { .. } if !figures.waiting.is_empty() => {
                format!("{run} goes on then; on a terminal it asks")
            }
            RunOutcome::NeedsPerson { .. } => format!("decide, then {run} goes on"),
            RunOutcome::TryLater { .. } => format!("{run} goes on, once the service is back"),
            RunOutcome::SetUp { .. } => format!("mend it, then {run} goes on"),
            RunOutcome::Stopped { .. } => format!("{run} goes on"),
        })
    }
}
fn numbers(figures: &Figures) -> Vec<(&'static str, Option<String>)> {
    let originals = figures.originals;
    let fixes = figures.fixes;
    let waits = figures.waits;
    vec![
        (
            "Originals",
            (originals.total > 0)
                .then(|| format!("{} of {} done", originals.done, originals.total)),
        ),
        (
            "Fixes",
            (fixes.made > 0).then(|| format!("{} done of {} made", fixes.done, fixes.made)),
        ),
        ("Attempts", Some(attempts(figures.attempts))),
        (
            "Waits",
            (waits.count > 0).then(|| format!("{} ({})", waits.count, Span::from_millis(waits.ms))),
        ),
        ("Time", Some(Span::from_millis(figures.time_ms).to_string())),
        ("Cost", figures.cost_micro_usd.map(cost)),
        ("Tokens", tokens(figures.tokens)),
        ("Unverified", ids(&figures.unverified)),
        ("Flaky", ids(&figures.flaky)),
        ("Nothing changed", ids(&figures.nothing_changed)),
        ("Claimed", ids(&figures.claimed)),
        ("Skipped", ids(&figures.skipped)),
        ("Waiting", ids(&figures.waiting)),
        ("Plan", plan(&figures.plan_changes)),
        (
            "Warnings",
            (figures.warnings > 0).then(|| figures.warnings.to_string()),
        ),
    ]
}

fn entry(label: &str, value: &str) -> String {
    format!("{:<17}{value}", format!("{label}:"))
}

fn attempts(attempts: Attempts) -> String {
    let Attempts {
        made,
        charged,
        limit,
    } = attempts;
    if made == charged {
        format!("{made} (limit {limit})")
    } else {
        format!("{made}, of which {charged} count (limit {limit})")
    }
}

fn cost(micro_usd: u64) -> String {
    Dollars::from_micro(micro_usd).to_string()
}

/// An agent that says nothing of them has not used none.
fn tokens(Tokens { input, output }: Tokens) -> Option<String> {
    (input > 0 || output > 0).then(|| format!("{input} in, {output} out"))
}

fn ids(tasks: &[PublicTask]) -> Option<String> {
    let ids: Vec<&str> = tasks.iter().map(|task| task.id.as_str()).collect();
    (!ids.is_empty()).then(|| ids.join(", "))
}

fn plan(changes: &PlanFigures) -> Option<String> {
    let kinds = [
        ("added", &changes.added),
        ("edited", &changes.edited),
        ("put back", &changes.put_back),
        ("ticks taken back", &changes.taken_back),
    ];
    let told = kinds.into_iter();
    let told = told.filter_map(|(what, tasks)| Some(format!("{what} {}", ids(tasks)?)));
    let told: Vec<String> = told.collect();
    (!told.is_empty()).then(|| told.join("; "))
}

/// The text exactly, but for what could command a terminal.
fn printable(text: &str) -> String {
    let lines: Vec<String> = text.lines().map(printable_line).collect();
    lines.join("\n")
}

fn printable_line(line: &str) -> String {
    let is_harmless = |c: &char| !c.is_control() && !is_format_control(*c);
    let visible = line.chars().filter(is_harmless);
    // Some spaces are separators of lines.
    visible
        .map(|c| if c.is_whitespace() { ' ' } else { c })
        .collect()
}
