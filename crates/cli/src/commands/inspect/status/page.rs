use regreen_model::{Dollars, Mark, OutlineKind, RunOutcome, Span, visible_line};
use regreen_reporters::{
    LineStyle, Status as StatusWord, StatusLine, Tone, VerifiedShare, about_left, headline,
    kind_and_place, short_count,
};

use super::{AtWork, Current, RunStatus, RunningService, Status, TaskStatus};

const TITLE_CHARS: usize = 200;
const REASON_CHARS: usize = 500;

impl Status {
    pub(super) fn text(&self, style: LineStyle) -> String {
        let mut lines = vec![self.spec_line()];
        lines.push(match &self.run {
            Some(run) => self.run_line(run),
            None => StatusLine::labelled(
                "RUN",
                format!("none yet: `{}` starts one", self.run_command),
            )
            .wrapped(),
        });
        let services = self.run.iter().flat_map(|run| &run.services);
        lines.extend(services.map(service_line));
        if let Some(other) = &self.other_run {
            let text = format!("another spec is running here: {}", worker(other));
            lines.push(StatusLine::new(StatusWord::Warn, text).wrapped());
        }
        let head: String = lines.iter().map(|line| line.render(style)).collect();
        let tasks: String = self
            .tasks
            .iter()
            .map(|task| task_line(task).render(style))
            .collect();
        let unrun = self.unrun_notice.as_ref().map(|notice| {
            StatusLine::new(StatusWord::Warn, notice.clone())
                .wrapped()
                .render(style)
        });
        format!("{head}\n{tasks}{}", unrun.unwrap_or_default())
    }

    fn spec_line(&self) -> StatusLine {
        let mut parts = vec![
            format!(
                "{} of {} tasks done",
                self.originals.done, self.originals.total
            ),
            visible_line(&self.file, TITLE_CHARS),
        ];
        if self.fixes.total > 0 {
            let (done, total) = (self.fixes.done, self.fixes.total);
            parts.insert(1, format!("{done} of {total} fixes done"));
        }
        let name = visible_line(&self.spec, TITLE_CHARS);
        StatusLine::labelled("SPEC", format!("{name} · {}", parts.join(" · "))).wrapped()
    }
}

fn service_line(service: &RunningService) -> StatusLine {
    let command = visible_line(&service.command, TITLE_CHARS);
    StatusLine::new(
        StatusWord::Service,
        format!("{command} · of {}", service.task),
    )
    .wrapped_detail(format!("log: {}", visible_line(&service.log, TITLE_CHARS)))
}

impl Status {
    fn run_line(&self, run: &RunStatus) -> StatusLine {
        let agent = visible_line(&run.agent.to_string(), TITLE_CHARS);
        let (tone, state) = self.state(run);
        let message = run.message.as_deref().map(first_line).unwrap_or_default();
        let stops = if self.stops_after_task {
            "stops after this task, on request"
        } else {
            ""
        };
        StatusLine::labelled("RUN", format!("{} · {agent} · {state}", run.id))
            .toned(tone)
            .wrapped()
            .wrapped_detail(visible_line(message, REASON_CHARS))
            .wrapped_detail(used(run))
            .wrapped_detail(stops)
    }

    /// Returns how the run ended, judged by the current plan.
    fn state(&self, run: &RunStatus) -> (Tone, String) {
        let is_green = matches!(run.ended, Some(RunOutcome::AllGreen)) && run.at_work.is_none();
        let open = self.originals.total - self.originals.done;
        let originals = self
            .tasks
            .iter()
            .filter(|task| task.kind == OutlineKind::Task);
        let by_choice = originals.filter(|task| task.done_by_choice).count();
        if open == 0 && by_choice > 0 && run.at_work.is_none() {
            let text = format!("all tasks done, {by_choice} by your choice");
            return (Tone::Warning, text);
        }
        let command = format!("`{}`", self.run_command);
        if !is_green {
            let (tone, text) = state(run);
            return (tone, text.replace("`regreen run`", &command));
        }
        if open > 0 {
            let tasks = if open == 1 { "task is" } else { "tasks are" };
            let text = format!("ended; {open} {tasks} open again, {command} does the rest");
            return (Tone::Warning, text);
        }
        // A row that was ticked by hand was not verified by regreen.
        let is_by_regreen = |task: &&TaskStatus| task.done && task.attempts > 0;
        let originals = self
            .tasks
            .iter()
            .filter(|task| task.kind == OutlineKind::Task)
            .filter(is_by_regreen);
        let with = |mark: Mark| {
            let marked = originals.clone();
            marked.filter(|task| task.marks.contains(&mark)).count()
        };
        VerifiedShare {
            done: originals.clone().count(),
            unverified: with(Mark::Unverified),
            known_failures: with(Mark::KnownFailures),
        }
        .outcome()
    }
}

/// Returns what the run has used, with its limits, if any.
fn used(run: &RunStatus) -> String {
    let RunStatus { spent, budget, .. } = run;
    let dollars = |micro| Dollars::from_micro(micro).to_string();
    let span = |millis| Span::from_millis(millis).to_string();
    let of = |limit: Option<String>| limit.map_or(String::new(), |limit| format!(" of {limit}"));
    let mut parts = vec![format!(
        "{} of {} attempts",
        run.attempts_used, run.attempts_limit
    )];
    if run.waited_ms > 0 {
        let (waited, most) = (span(run.waited_ms), span(run.max_wait_ms));
        parts.push(format!("waited {waited} of {most}"));
    }
    let cost = spent.cost_micro_usd.or(budget.cost_micro_usd.map(|_| 0));
    parts.extend(cost.map(|cost| {
        let limit = budget.cost_micro_usd.map(dollars);
        format!("{}{}", dollars(cost), of(limit))
    }));
    if spent.tokens() > 0 || budget.tokens.is_some() {
        let limit = budget.tokens.map(short_count);
        let tokens = short_count(spent.tokens());
        parts.push(format!("{tokens}{} tokens", of(limit)));
    }
    let time = budget.time_ms;
    parts.extend(time.map(|limit| format!("{} of {}", span(spent.time_ms), span(limit))));
    parts.extend(run.left_ms.map(about_left));
    parts.join(" · ")
}

fn state(run: &RunStatus) -> (Tone, String) {
    if let Some(at_work) = &run.at_work {
        return (Tone::Action, format!("running: {}", worker(at_work)));
    }
    let (tone, text) = match &run.ended {
        None => (Tone::Warning, "interrupted; `regreen run` resumes it"),
        Some(RunOutcome::AllGreen) => (Tone::Good, "all tasks done"),
        Some(RunOutcome::OnlyDone) => (Tone::Good, "the requested task is done"),
        Some(RunOutcome::Skipped) => (Tone::Warning, "open tasks were skipped"),
        Some(RunOutcome::Limit { .. }) => {
            (Tone::Bad, "limit reached; `regreen run` tries once more")
        }
        Some(RunOutcome::Regressed { .. }) => (
            Tone::Bad,
            "finished tasks no longer pass; `regreen run` does them again",
        ),
        Some(RunOutcome::NeedsPerson { .. }) => (
            Tone::Question,
            "needs your decision; `regreen run` resumes it",
        ),
        Some(RunOutcome::TryLater { .. }) => {
            (Tone::Warning, "try again later; `regreen run` resumes it")
        }
        Some(RunOutcome::SetUp { .. }) => {
            (Tone::Bad, "setup must be fixed; `regreen run` resumes it")
        }
        Some(RunOutcome::Stopped { .. }) => (Tone::Warning, "stopped; `regreen run` resumes it"),
    };
    (tone, text.to_owned())
}

fn worker(at_work: &AtWork) -> String {
    let spec = visible_line(&at_work.spec, TITLE_CHARS);
    match at_work.process {
        Some(pid) => format!("process {pid}, spec {spec}"),
        None => format!("spec {spec}"),
    }
}

fn task_line(task: &TaskStatus) -> StatusLine {
    let indent = "  ".repeat(usize::from(task.depth));
    let title = visible_line(&task.title, TITLE_CHARS);
    let optional = if task.optional { " (optional)" } else { "" };
    let name = format!("{indent}{} {title}{optional}", task.id);
    let mut line = StatusLine::new(word(task), name).trailing(facts(task).join(" · "));
    if !task.marks.is_empty() {
        line = line.toned(Tone::Warning);
    }
    if let Some(question) = &task.question {
        line = line.wrapped_detail(format!("{indent}{}", visible_line(question, REASON_CHARS)));
    }
    match &task.failure_record {
        Some(failure) => {
            let kind = kind_and_place(failure).map(|kind| format!("{indent}{kind}"));
            line.detail(kind.unwrap_or_default())
                .detail(format!("{indent}{}", headline(failure)))
        }
        None => line,
    }
}

fn word(task: &TaskStatus) -> StatusWord {
    if task.superseded {
        StatusWord::Skip
    } else if task.done_by_choice {
        StatusWord::Done
    } else if task.done {
        StatusWord::Pass
    } else if task.current.is_some() {
        StatusWord::Run
    } else if task.skipped {
        StatusWord::Skip
    } else if task.parked || task.question.is_some() {
        StatusWord::Ask
    } else if task.failure.is_some() {
        StatusWord::Fail
    } else {
        StatusWord::Todo
    }
}

fn facts(task: &TaskStatus) -> Vec<String> {
    let mut facts = Vec::new();
    facts.extend(task.current.as_ref().map(current));
    if task.superseded {
        facts.push("superseded".to_owned());
    }
    if !task.done && task.attempts_used > 0 {
        let (used, limit) = (task.attempts_used, task.attempts_limit);
        facts.push(format!("{used}/{limit} attempts used"));
    } else if task.attempts > 1 {
        facts.push(format!("{} attempts", task.attempts));
    }
    if !task.done && task.fixes_used > 0 {
        let (used, limit) = (task.fixes_used, task.fixes_limit);
        facts.push(format!("{used}/{limit} fixes"));
    }
    if task.done_by_choice {
        facts.push("your choice, unverified".to_owned());
    }
    facts.extend(task.marks.iter().map(ToString::to_string));
    facts.extend(task.commit.clone());
    facts
}

fn current(current: &Current) -> String {
    let what = match current.what {
        "attempt" => format!("attempt {}", current.attempt),
        what => what.to_owned(),
    };
    let left = current.left_ms.map(Span::left);
    let left = left.map(|left| format!(", {left} left"));
    let elapsed = current.for_ms.map(Span::whole_seconds);
    let elapsed = elapsed.map(|elapsed| format!(" for {elapsed}"));
    format!("{what}{}", left.or(elapsed).unwrap_or_default())
}

fn first_line(text: &str) -> &str {
    let mut lines = text.lines();
    lines
        .find(|line| !line.trim().is_empty())
        .unwrap_or_default()
}
