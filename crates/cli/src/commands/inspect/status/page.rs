use std::fmt::Write as _;

use regreen_model::{Dollars, RunOutcome, Span, visible_line};

use super::{AtWork, Current, RunStatus, Status, TaskStatus};

const TITLE_CHARS: usize = 60;
const REASON_CHARS: usize = 100;

impl Status {
    pub(super) fn to_page(&self) -> String {
        let mut page = visible_line(
            &format!(
                "spec {} ({}): {} of {} originals done{}",
                self.spec,
                self.file,
                self.originals.done,
                self.originals.total,
                self.fixes_done()
            ),
            usize::MAX,
        );
        page.push('\n');
        match &self.run {
            None => page.push_str("no run yet: `regreen run` starts one\n"),
            Some(run) => tell_run(&mut page, run),
        }
        if let Some(other) = &self.other_run {
            let _ = writeln!(page, "another spec is being run here: {}", worker(other));
        }
        page.push('\n');
        let names = self.tasks.iter().map(|task| name(task).chars().count());
        let width = names.max().unwrap_or(0);
        for task in &self.tasks {
            tell_task(&mut page, task, width);
        }
        page
    }

    fn fixes_done(&self) -> String {
        match self.fixes.total {
            0 => String::new(),
            total => format!(", {} of {total} fixes", self.fixes.done),
        }
    }
}

fn tell_run(page: &mut String, run: &RunStatus) {
    let agent = visible_line(&run.agent.to_string(), REASON_CHARS);
    let _ = writeln!(page, "run {}, agent {agent}: {}", run.id, fate(run));
    if let Some(message) = &run.message {
        let _ = writeln!(page, "{}", visible_line(first_line(message), REASON_CHARS));
    }
    let _ = writeln!(
        page,
        "attempts {} of {}, waited {} of {}",
        run.attempts_used,
        run.attempts_limit,
        Span::from_millis(run.waited_ms),
        Span::from_millis(run.max_wait_ms)
    );
    let spent = spent(run);
    if !spent.is_empty() {
        let _ = writeln!(page, "{}", spent.join(", "));
    }
}

/// What was spent, where anybody says so, and of how much.
fn spent(run: &RunStatus) -> Vec<String> {
    let RunStatus { spent, budget, .. } = run;
    let dollars = |micro| Dollars::from_micro(micro).to_string();
    let span = |millis| Span::from_millis(millis).to_string();
    let of = |limit: Option<String>| limit.map_or(String::new(), |limit| format!(" of {limit}"));
    let is_counted = spent.tokens() > 0 || budget.tokens.is_some();
    let cost = spent.cost_micro_usd.or(budget.cost_micro_usd.map(|_| 0));
    let cost = cost.map(|cost| {
        format!(
            "cost {}{}",
            dollars(cost),
            of(budget.cost_micro_usd.map(dollars))
        )
    });
    let tokens = is_counted.then(|| {
        let limit = budget.tokens.map(|limit| limit.to_string());
        format!("tokens {}{}", spent.tokens(), of(limit))
    });
    let time = budget.time_ms;
    let time = time.map(|limit| format!("time {} of {}", span(spent.time_ms), span(limit)));
    [cost, tokens, time].into_iter().flatten().collect()
}

fn fate(run: &RunStatus) -> String {
    if let Some(at_work) = &run.at_work {
        return format!("at work, {}", worker(at_work));
    }
    let words = match &run.ended {
        None => "was cut off; `regreen run` goes on with it",
        Some(RunOutcome::AllGreen) => "ended, all green",
        Some(RunOutcome::OnlyDone) => "ended, with what was asked for done",
        Some(RunOutcome::Skipped) => "ended, with tasks skipped",
        Some(RunOutcome::Limit { .. }) => "ended at a limit; `regreen run` tries once more",
        Some(RunOutcome::NeedsPerson { .. }) => "waits for a person; `regreen run` goes on with it",
        Some(RunOutcome::TryLater { .. }) => "paused until later; `regreen run` goes on with it",
        Some(RunOutcome::SetUp { .. }) => {
            "paused: the set-up must be fixed; `regreen run` goes on with it"
        }
        Some(RunOutcome::Stopped { .. }) => "was stopped; `regreen run` goes on with it",
    };
    words.to_owned()
}

fn worker(at_work: &AtWork) -> String {
    let spec = visible_line(&at_work.spec, TITLE_CHARS);
    match at_work.process {
        Some(pid) => format!("process {pid}, spec {spec}"),
        None => format!("spec {spec}"),
    }
}

fn name(task: &TaskStatus) -> String {
    let indent = "  ".repeat(usize::from(task.depth));
    let tick = if task.done { 'x' } else { ' ' };
    let title = visible_line(&task.title, TITLE_CHARS);
    let optional = if task.optional { "*" } else { "" };
    format!("{indent}[{tick}]{optional} {} {title}", task.id)
}

fn tell_task(page: &mut String, task: &TaskStatus, width: usize) {
    let facts = facts(task).join(", ");
    let line = format!("{:<width$}  {facts}", name(task));
    let _ = writeln!(page, "{}", line.trim_end());
    let indent = "  ".repeat(usize::from(task.depth));
    if let Some(question) = &task.question {
        let _ = writeln!(
            page,
            "{indent}    to decide: {}",
            visible_line(question, REASON_CHARS)
        );
    }
    if let Some(failure) = &task.failure {
        let reason = visible_line(first_line(failure), REASON_CHARS);
        let _ = writeln!(page, "{indent}    failed: {reason}");
    }
}

fn facts(task: &TaskStatus) -> Vec<String> {
    let mut facts = Vec::new();
    match task.attempts {
        0 => {}
        1 => facts.push("1 attempt".to_owned()),
        n => facts.push(format!("{n} attempts")),
    }
    if !task.done && task.attempts_used > 0 {
        facts.push(format!(
            "{} of {} used up",
            task.attempts_used, task.attempts_limit
        ));
    }
    if !task.done && task.fixes_used > 0 {
        let (used, limit) = (task.fixes_used, task.fixes_limit);
        facts.push(format!("{used} of {limit} fixes made"));
    }
    facts.extend(task.marks.iter().map(ToString::to_string));
    facts.extend(task.commit.as_ref().map(|hash| format!("commit {hash}")));
    if task.skipped {
        facts.push("skipped".to_owned());
    }
    if task.parked || task.question.is_some() {
        facts.push("waits for a person".to_owned());
    }
    facts.extend(task.current.as_ref().map(doing));
    facts
}

fn doing(current: &Current) -> String {
    let what = match current.what {
        "attempt" => format!("attempt {} is at work", current.attempt),
        what => what.to_owned(),
    };
    let elapsed = current.for_ms.map(Span::whole_seconds);
    let elapsed = elapsed.map(|elapsed| format!(" for {elapsed}"));
    format!("{what}{}", elapsed.unwrap_or_default())
}

fn first_line(text: &str) -> &str {
    text.lines()
        .find(|line| !line.trim().is_empty())
        .unwrap_or_default()
}
