//! The summary for people.

use regreen_model::{Dollars, NotRepeatedReason, OutlineRow, RunOutcome, Span};

use super::Summary;
use super::figures::{Attempts, Figures, PlanFigures, PublicTask, Tokens};
use crate::event_lines::warning;
use crate::status_line::{LineStyle, Status, StatusLine};
use crate::text::{printable, reason, short_count, text_width};
use crate::wrap::wrap_below;

/// The line that other programs wait for. It is alone on its line, and never means anything else.
const ALL_GREEN: &str = "ALL_TASKS_COMPLETE";
/// For how many tasks the decision commands are listed; `status` has the others.
const NAMED_DECISIONS: usize = 2;

/// How many tasks are named that were ticked before the first run.
const NAMED_TICKS: usize = 10;

/// A command to continue with, and its purpose.
type NextStep = (String, String);

impl Summary {
    /// Returns the result in one or a few lines; `None` if the run has not ended.
    #[must_use]
    pub fn headline(&self) -> Option<String> {
        let text = match self.outcome.as_ref()? {
            RunOutcome::AllGreen => ALL_GREEN.to_owned(),
            RunOutcome::Limit { message } | RunOutcome::Regressed { message } => printable(message),
            RunOutcome::OnlyDone => self.only_done(),
            RunOutcome::Skipped => match self.still_open() {
                Some(open) => format!("Some tasks were skipped: {open}."),
                None => "Some tasks were skipped.".to_owned(),
            },
            RunOutcome::NeedsPerson { why } => format!("A person must decide: {}", reason(why)),
            RunOutcome::TryLater { why } => format!("Try again later: {}", reason(why)),
            RunOutcome::SetUp { why } => format!("Fix the setup first: {}", reason(why)),
            RunOutcome::Stopped { .. } => "Stopped; progress is saved.".to_owned(),
        };
        Some(text)
    }

    /// Returns the numbers, the warnings, and the commands to continue with.
    #[must_use]
    pub fn details(&self) -> Vec<StatusLine> {
        let figures = self.figures();
        let mut lines = numbers(&figures);
        lines.extend(self.warning_lines(&figures));
        lines.extend(next_lines(&self.next_steps(&figures)));
        lines
    }

    /// Returns the whole summary as text.
    #[must_use]
    pub fn text(&self, style: LineStyle) -> String {
        let headline = self.headline();
        let headline = headline.map(|line| wrap_below(&line, style.columns, 0) + "\n");
        let details = self.details().into_iter();
        let details = details.map(|line| line.render(style));
        headline.into_iter().chain(details).collect()
    }

    fn only_done(&self) -> String {
        let id = self.totals.config.only.as_ref();
        let id = id.map_or_else(String::new, |id| format!(" {id}"));
        match self.still_open() {
            Some(open) => format!("Task{id} is done; {open}."),
            None => format!("Task{id} is done."),
        }
    }

    fn still_open(&self) -> Option<String> {
        let originals = self.outline.originals(self.totals.config.include_optional);
        match originals.open() {
            0 => None,
            1 => Some("1 task is open".to_owned()),
            open => Some(format!("{open} tasks are open")),
        }
    }

    /// Returns each warning once, however often it occurred, unless it can still be seen.
    fn warning_lines(&self, figures: &Figures) -> Vec<StatusLine> {
        let marks = [
            ("unverified", &figures.unverified),
            ("own Verify failed", &figures.verify_failed),
            ("known failures", &figures.known_failures),
            ("flaky", &figures.flaky),
            ("nothing changed", &figures.nothing_changed),
        ];
        let marks = marks
            .into_iter()
            .filter_map(|(mark, tasks)| Some(format!("{mark}: {}", ids(tasks)?)));
        let mut messages: Vec<String> = Vec::new();
        for message in marks.chain(self.past_warnings()) {
            if !messages.contains(&message) {
                messages.push(message);
            }
        }
        messages.iter().map(|message| warning(message)).collect()
    }

    fn next_steps(&self, figures: &Figures) -> Vec<NextStep> {
        let Some(outcome) = &self.outcome else {
            return Vec::new();
        };
        let mut steps = Vec::new();
        if let Some(failed) = &figures.failed {
            let what = format!("see how {} failed", failed.id);
            steps.push((what, self.about("why", failed)));
        }
        if matches!(outcome, RunOutcome::NeedsPerson { .. }) {
            let named = figures.waiting.iter().take(NAMED_DECISIONS);
            steps.extend(named.flat_map(|task| self.decisions(task)));
            if figures.waiting.len() > NAMED_DECISIONS {
                steps.push(("see what else waits".to_owned(), self.status_command()));
            }
        }
        steps.extend(self.way_on(outcome, figures));
        steps
    }

    fn decisions(&self, task: &PublicTask) -> [NextStep; 3] {
        let id = &task.id;
        [
            (format!("once {id} is edited or repaired"), "retry"),
            (format!("if {id} is done already"), "done"),
            (format!("leave {id} out"), "skip"),
        ]
        .map(|(what, command)| (what, self.about(command, task)))
    }

    /// Returns a command about a task of this spec.
    fn about(&self, command: &str, task: &PublicTask) -> String {
        let spec = self.totals.config.spec_argument.as_ref();
        let spec = spec.map_or_else(String::new, |spec| format!(" --spec {}", printable(spec)));
        let line = self.line_of(task);
        let line = line.map_or_else(String::new, |line| format!(" --line {line}"));
        format!("regreen {command} {}{line}{spec}", task.id)
    }

    /// Returns the line of a task, if several have its id.
    fn line_of(&self, task: &PublicTask) -> Option<usize> {
        let rows = self.outline.rows().iter();
        let namesakes = rows.filter(|row| row.key.id.as_str() == task.id);
        let namesakes: Vec<&OutlineRow> = namesakes.collect();
        let row = namesakes
            .iter()
            .find(|row| row.key.occurrence == task.occurrence)?;
        (namesakes.len() > 1 && row.line > 0).then_some(row.line)
    }

    fn status_command(&self) -> String {
        format!("regreen status{}", self.spec_operand())
    }

    fn run(&self) -> String {
        let plain = || format!("regreen run{}", self.spec_operand());
        self.run_command.as_deref().map_or_else(plain, printable)
    }

    fn spec_operand(&self) -> String {
        let spec = self.totals.config.spec_argument.as_ref();
        spec.map_or_else(String::new, |spec| format!(" {}", printable(spec)))
    }

    fn way_on(&self, outcome: &RunOutcome, figures: &Figures) -> Option<NextStep> {
        let what = match outcome {
            RunOutcome::AllGreen => {
                let Some(unverified) = figures.unverified.first() else {
                    let ticked = figures.ticked_before.first()?;
                    let what = format!("have {} done again and checked", ticked.id);
                    return Some((what, self.about("retry", ticked)));
                };
                let what = "review what nothing has verified".to_owned();
                let command = if self.totals.config.in_git {
                    "diff"
                } else {
                    "log"
                };
                return Some((what, self.about(command, unverified)));
            }
            RunOutcome::Skipped => match figures.skipped.first() {
                // The first step already says that.
                first if first.is_some() && first == figures.failed.as_ref() => return None,
                Some(first) => {
                    let what = format!("see why {} was skipped", first.id);
                    return Some((what, self.about("why", first)));
                }
                None => "continue with the open tasks",
            },
            RunOutcome::OnlyDone => "continue with the open tasks",
            RunOutcome::Limit { .. } => "try once more",
            RunOutcome::Regressed { .. } => "do the open tasks again",
            // The next run, too, sets aside tasks that a person must decide about.
            RunOutcome::NeedsPerson { .. }
                if !figures.waiting.is_empty() && self.totals.config.keep_going =>
            {
                "then continue"
            }
            RunOutcome::NeedsPerson { .. } if !figures.waiting.is_empty() => {
                "then continue (on a terminal it asks)"
            }
            RunOutcome::NeedsPerson { .. } => "decide, then continue",
            RunOutcome::TryLater { .. } => "continue when the service is back",
            RunOutcome::SetUp { .. } => "continue when it is fixed",
            RunOutcome::Stopped { .. } => "continue",
        };
        Some((what.to_owned(), self.run()))
    }
}

fn numbers(figures: &Figures) -> Vec<StatusLine> {
    let originals = figures.originals;
    let fixes = figures.fixes;
    let waits = figures.waits;
    let time = Span::from_millis(figures.time_ms);
    let rows = [
        (
            "Tasks",
            Some(format!(
                "{} of {} done in {time}",
                originals.done, originals.total
            )),
        ),
        (
            "Fixes",
            (fixes.made > 0).then(|| format!("{} of {} done", fixes.done, fixes.made)),
        ),
        ("Attempts", Some(attempts(figures.attempts))),
        (
            "Waits",
            (waits.count > 0)
                .then(|| format!("{}, {} in all", waits.count, Span::from_millis(waits.ms))),
        ),
        ("Cost", figures.cost_micro_usd.map(cost)),
        ("Tokens", tokens(figures.tokens)),
        ("Plan", plan(figures)),
        ("Reopened", ids(&figures.regressed)),
        ("Unchecked", not_repeated(figures)),
        ("Unchecked", ticked_before(&figures.ticked_before)),
    ];
    let rows = rows.into_iter();
    let mut lines: Vec<StatusLine> = rows
        .filter_map(|(label, value)| Some(StatusLine::labelled(label, value?).wrapped()))
        .collect();
    let lists = [
        (Status::Skip, &figures.skipped),
        (Status::Ask, &figures.waiting),
    ];
    let lists = lists.into_iter();
    lines.extend(
        lists.filter_map(|(status, tasks)| Some(StatusLine::new(status, ids(tasks)?).wrapped())),
    );
    lines
}

/// Aligns the commands in a column at the ends of their lines, where they are easy to copy.
fn next_lines(steps: &[NextStep]) -> Vec<StatusLine> {
    let widest = steps.iter().map(|(what, _)| text_width(what)).max();
    let column = widest.unwrap_or(0) + ":  ".len();
    let lines = steps.iter().enumerate().map(|(at, (what, command))| {
        let label = if at == 0 { "Next" } else { "" };
        StatusLine::labelled(label, format!("{what}:")).command(column, command)
    });
    lines.collect()
}

fn attempts(attempts: Attempts) -> String {
    let Attempts {
        made,
        charged,
        limit,
    } = attempts;
    if made == charged {
        format!("{made} of {limit}")
    } else {
        format!("{made} made, {charged} of {limit} used")
    }
}

fn cost(micro_usd: u64) -> String {
    Dollars::from_micro(micro_usd).to_string()
}

/// Returns `None` if the agent does not report its tokens.
fn tokens(Tokens { input, output }: Tokens) -> Option<String> {
    (input > 0 || output > 0)
        .then(|| format!("{} in, {} out", short_count(input), short_count(output)))
}

fn ids(tasks: &[PublicTask]) -> Option<String> {
    let ids: Vec<&str> = tasks.iter().map(|task| task.id.as_str()).collect();
    (!ids.is_empty()).then(|| ids.join(", "))
}

/// Names the tasks that were ticked before regreen ran them.
fn ticked_before(tasks: &[PublicTask]) -> Option<String> {
    let named = tasks
        .get(..NAMED_TICKS)
        .filter(|_| tasks.len() > NAMED_TICKS + 1);
    let mut named = ids(named.unwrap_or(tasks))?;
    if tasks.len() > NAMED_TICKS + 1 {
        named.push_str(&format!(" and {} more", tasks.len() - NAMED_TICKS));
    }
    let count = match tasks.len() {
        1 => "1 task was".to_owned(),
        more => format!("{more} tasks were"),
    };
    Some(format!(
        "{count} ticked before regreen first ran this list, and never checked: {named}"
    ))
}

/// Lists the tasks whose checks the final check left out, by reason.
fn not_repeated(figures: &Figures) -> Option<String> {
    let of = |why: NotRepeatedReason| {
        let left_out = figures.not_repeated.iter();
        let tasks = left_out
            .filter(|one| one.why == why)
            .map(|one| one.task.clone());
        let tasks: Vec<PublicTask> = tasks.collect();
        Some(format!("{} ({})", ids(&tasks)?, why.shown()))
    };
    let parts: Vec<String> = NotRepeatedReason::ALL.into_iter().filter_map(of).collect();
    (!parts.is_empty()).then(|| format!("not repeated at the end: {}", parts.join("; ")))
}

fn plan(figures: &Figures) -> Option<String> {
    let PlanFigures {
        added,
        edited,
        put_back,
        taken_back,
        reverted,
    } = &figures.plan_changes;
    let changes = [
        ("agent added", added),
        ("agent edited", edited),
        ("restored", put_back),
        ("reverted", reverted),
        ("agent ticked and verified", &figures.claimed),
        ("unticked", taken_back),
    ];
    let changes = changes.into_iter();
    let changes = changes.filter_map(|(what, tasks)| Some(format!("{what} {}", ids(tasks)?)));
    let changes: Vec<String> = changes.collect();
    (!changes.is_empty()).then(|| changes.join("; "))
}
