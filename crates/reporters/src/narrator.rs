//! What happened, told in lines: short, and only what is worth telling.

use std::collections::BTreeMap;

use regreen_model::{
    AttemptClass, AttemptReport, ChoiceKind, Event, FailureRecord, Inspection, Mark, PersonAnswer,
    PersonChoice, PlainLine, PromptKind, RepairResult, RunOutcome, Span, StopSignal, TaskKey,
    Timestamp, Verdict,
};

use crate::line::Line;
use crate::palette::Tone;
use crate::shown::{self, named, reason, shown};
use crate::tally::Tally;
use crate::telling_line::telling_line;

const NAME_CHARS: usize = 100;
const COMMAND_CHARS: usize = 100;

/// Tells a run, one event after the other.
#[derive(Clone, Debug, Default)]
pub(crate) struct Narrator {
    tally: Tally,
    /// When the run began to work in this process.
    since: Option<Timestamp>,
    /// When each task that is open was picked, and its attempt started.
    picked: BTreeMap<TaskKey, Timestamp>,
    started: BTreeMap<TaskKey, Timestamp>,
    /// The verification that runs is the second one.
    again: bool,
    /// It runs before the agent is asked again.
    first: bool,
    /// The run goes on, so that what people said is new to it.
    goes_on: bool,
    /// A person has just answered: what they chose by that is told.
    answered: bool,
}

impl Narrator {
    /// Takes note of an event without telling it.
    pub(crate) fn recall(&mut self, event: &Event) {
        self.tally.apply(event);
    }

    pub(crate) fn tell(&mut self, now: Timestamp, event: &Event) -> Vec<Line> {
        self.tally.apply(event);
        self.note(now, event);
        let lines = match event {
            Event::AttemptEnded { task, report, .. } => attempt_end(task, report),
            event => self.line(now, event).into_iter().collect(),
        };
        self.answered = matches!(event, Event::PersonAnswered { .. });
        lines
    }

    /// Remembers when things began.
    fn note(&mut self, now: Timestamp, event: &Event) {
        match event {
            Event::RunStarted { .. } => self.since = Some(now),
            Event::RunResumed { .. } => {
                self.since = Some(now);
                self.goes_on = true;
            }
            Event::TaskPicked { task } => {
                self.picked.insert(task.task.clone(), now);
            }
            Event::AttemptStarted { task, .. } => {
                self.started.insert(task.clone(), now);
            }
            Event::VerifyStarted { again, first, .. } => {
                self.again = *again;
                self.first = *first;
            }
            _ => {}
        }
    }

    fn line(&self, now: Timestamp, event: &Event) -> Option<Line> {
        match event {
            Event::RunStarted { .. } => Some(self.heading("")),
            Event::RunResumed { .. } => Some(self.heading(" goes on")),
            Event::AttemptStarted { task, prompt, .. } => Some(self.attempt_start(task, *prompt)),
            Event::VerifyStarted {
                task, again: false, ..
            } => self.verify_start(task),
            Event::VerifyEnded { task, verdict, .. } => self.verify_end(task, verdict),
            Event::TaskFailed { task, failure, .. } => Some(self.failure(now, task, failure)),
            Event::CommitRefused { task, .. } => Some(Line::happened(
                Tone::Bad,
                format!("{}: a commit hook refused it", task.id),
            )),
            Event::TaskDone { task, marks, hash } => {
                Some(self.done(now, task, marks.iter().copied(), hash.as_deref()))
            }
            // What else was said before a run began is in the file.
            Event::Chosen { choice } => {
                let is_news = self.goes_on || choice.what == ChoiceKind::Skip;
                (is_news && !self.answered).then(|| chosen(choice))
            }
            Event::FixInserted { task, fix } => Some(Line::happened(
                Tone::Plain,
                format!("{}: {fix} is written into the plan, to repair it", task.id),
            )),
            Event::RepairInspected {
                task,
                inspection: Inspection::Ask { repair, why },
            } => Some(Line::happened(
                Tone::Plain,
                format!(
                    "{}: a person may want to do this: {} ({})",
                    task.id,
                    reason(&repair.does),
                    reason(why)
                ),
            )),
            Event::RepairInspected {
                task,
                inspection: Inspection::Refused { why },
            } => Some(Line::happened(
                Tone::Plain,
                format!("{}: not repaired by regreen: {}", task.id, reason(why)),
            )),
            Event::RepairStarted { task, repair, .. } => Some(Line::begins(
                Tone::Plain,
                format!("{}: regreen does it: {}", named(task), reason(&repair.does)),
            )),
            Event::RepairEnded {
                task,
                result: RepairResult::Failed { why },
            } => Some(Line::happened(
                Tone::Bad,
                format!("{}: that did not work: {}", task.id, reason(why)),
            )),
            Event::PlanModified { task, added } => Some(Line::happened(
                Tone::Plain,
                format!("{}: the agent asked for {}", task.id, ids(added)),
            )),
            Event::ModificationRefused { task, why } => Some(Line::happened(
                Tone::Warning,
                format!("{}: the plan stays as it is: {}", task.id, reason(why)),
            )),
            Event::FixesSuperseded { task, fixes, .. } => Some(Line::happened(
                Tone::Plain,
                format!(
                    "{}: passed, so there is nothing left to do for {}",
                    task.id,
                    ids(fixes)
                ),
            )),
            Event::PersonAsked { task, why, .. } => Some(Line::happened(
                Tone::Warning,
                format!("{}: a person must decide: {}", task.id, reason(why)),
            )),
            Event::PersonAnswered { task, answer } => Some(answered(task, answer)),
            Event::TaskParked { task, .. } => Some(Line::happened(
                Tone::Warning,
                format!("{}: put aside, the others go on", task.id),
            )),
            Event::TaskGone { task } => Some(Line::happened(
                Tone::Warning,
                format!(
                    "{}: somebody took it out of the file, or ticked it",
                    named(task)
                ),
            )),
            Event::TaskSkipped { task } => Some(Line::happened(
                Tone::Warning,
                format!("{}: skipped", named(task)),
            )),
            Event::WaitStarted {
                task,
                until,
                why,
                repeats,
                ..
            } => Some(match repeats {
                true => repeat(now, task, *until, why),
                false => wait(now, task, *until, why),
            }),
            Event::Warned { message } => Some(Line::happened(
                Tone::Warning,
                format!("warning: {}", shown::message(message)),
            )),
            Event::StopAsked { signal } => Some(stop(*signal)),
            Event::RunEnded { outcome } => Some(self.end(now, outcome)),
            // Told with another event, or of no interest to people.
            Event::PlanAsked { .. }
            | Event::RepeatPlanned { .. }
            | Event::InspectionAsked { .. }
            | Event::RepairInspected { .. }
            | Event::RepairEnded { .. }
            | Event::BudgetAsked { .. }
            | Event::FixPlanned { .. }
            | Event::ModificationAsked { .. }
            | Event::SupersedeAsked { .. }
            | Event::HistoryAsked { .. }
            | Event::LimitSettled { .. }
            | Event::TaskPicked { .. }
            | Event::SessionSeen { .. }
            | Event::AttemptPostponed { .. }
            | Event::AttemptEnded { .. }
            | Event::ClaimsAsked { .. }
            | Event::ClaimsJudged { .. }
            | Event::VerifyStarted { again: true, .. }
            | Event::TickAsked { .. }
            | Event::CommitAsked { .. }
            | Event::Marked { .. }
            | Event::Committed { .. }
            | Event::RecordAsked { .. }
            | Event::WaitEnded { .. } => None,
        }
    }

    fn heading(&self, addition: &str) -> Line {
        let config = &self.tally.config;
        let run = shown(&self.tally.run, NAME_CHARS);
        let spec = shown(&config.spec, NAME_CHARS);
        let agent = shown(&config.agent.to_string(), NAME_CHARS);
        let text = format!("run {run}{addition}: spec {spec}, agent {agent}");
        Line::happened(Tone::Heading, text)
    }

    fn attempt_start(&self, task: &TaskKey, prompt: PromptKind) -> Line {
        let number = self.tally.number_of(task, prompt);
        let attempt = format!("attempt {number} of {}", self.tally.limit_of_task());
        let what = match prompt {
            PromptKind::First | PromptKind::Retry => attempt,
            PromptKind::Reminder => "only the signal is missing, the agent is reminded".to_owned(),
            PromptKind::NoOp => format!("{attempt}, the last one changed nothing"),
            PromptKind::Interrupted => format!("{attempt}, the last one was cut off"),
            PromptKind::NewSession => format!("{attempt}, in a new session"),
            PromptKind::Enriched => format!("{attempt}, told what the last one was missing"),
            PromptKind::Split => "it got nowhere in its time, the agent is to split it".to_owned(),
        };
        Line::begins(Tone::Plain, format!("{}: {what}", named(task)))
    }

    fn verify_start(&self, task: &TaskKey) -> Option<Line> {
        let commands = self.tally.verified_with(task);
        if commands.is_empty() {
            return None;
        }
        let commands = shown(&commands.join("; "), COMMAND_CHARS);
        let text = format!("{}: verifying: {commands}", task.id);
        Some(Line::begins(Tone::Plain, text))
    }

    /// A second red is told as the failure that follows from it.
    fn verify_end(&self, task: &TaskKey, verdict: &Verdict) -> Option<Line> {
        let id = &task.id;
        let (tone, text) = match verdict {
            Verdict::Red { error } if self.tally.is_fix(task) => (
                Tone::Warning,
                format!(
                    "{id}: Verify is red, but the task that it repairs is the judge: {}",
                    telling_line(error)
                ),
            ),
            Verdict::Red { error } if self.first => (
                Tone::Plain,
                format!("{id}: Verify is still red: {}", telling_line(error)),
            ),
            Verdict::Red { error } if !self.again => (
                Tone::Warning,
                format!(
                    "{id}: Verify is red, it runs once more: {}",
                    telling_line(error)
                ),
            ),
            Verdict::Green if self.again => (
                Tone::Warning,
                format!("{id}: Verify is green the second time: flaky"),
            ),
            Verdict::Red { .. } | Verdict::Green | Verdict::Unverified => return None,
        };
        Some(Line::happened(tone, text))
    }

    fn failure(&self, now: Timestamp, task: &TaskKey, failure: &FailureRecord) -> Line {
        let limit = self.tally.limit_of_task();
        let what = match self.tally.used_by(task) {
            // A group has no attempts of its own.
            0 => "failed".to_owned(),
            used => format!("attempt {used} of {limit} failed"),
        };
        let after = after(now, self.started.get(task));
        let kind = failure.kind().map(|kind| format!(" ({kind})"));
        let kind = kind.unwrap_or_default();
        let why = telling_line(failure.cause());
        let text = format!("{}: {what}{after}{kind}: {why}", named(task));
        Line::happened(Tone::Bad, text)
    }

    fn done(
        &self,
        now: Timestamp,
        task: &TaskKey,
        marks: impl Iterator<Item = Mark>,
        hash: Option<&str>,
    ) -> Line {
        let after = after(now, self.picked.get(task));
        let mut text = format!("{}: done{after}", named(task));
        if let Some(hash) = hash {
            text.push_str(&format!(", commit {}", shown(hash, 12)));
        }
        for mark in marks {
            text.push_str(&format!(", {mark}"));
        }
        Line::happened(Tone::Good, text)
    }

    fn end(&self, now: Timestamp, outcome: &RunOutcome) -> Line {
        let (tone, what) = match outcome {
            RunOutcome::AllGreen => (Tone::Good, "all tasks are done"),
            RunOutcome::OnlyDone => (Tone::Good, "what was asked for is done"),
            RunOutcome::Skipped => (Tone::Warning, "open tasks were left out"),
            RunOutcome::Limit { .. } => (Tone::Bad, "a limit was reached"),
            RunOutcome::NeedsPerson { .. } => (Tone::Warning, "a person must decide"),
            RunOutcome::TryLater { .. } => (Tone::Warning, "try again later"),
            RunOutcome::SetUp { .. } => (Tone::Bad, "the set-up must be fixed"),
            RunOutcome::Stopped { .. } => (Tone::Warning, "stopped, everything is saved"),
        };
        let run = shown(&self.tally.run, NAME_CHARS);
        let (after, code) = (after(now, self.since.as_ref()), outcome.exit_code());
        let text = format!("run {run} ended{after}: {what} (exit code {code})");
        Line::happened(tone, text)
    }
}

/// How the agent's run ended, where no other event tells it.
fn attempt_end(task: &TaskKey, report: &AttemptReport) -> Vec<Line> {
    let id = &task.id;
    let ended = match &report.class {
        AttemptClass::Session { why } => {
            let why = reason(why);
            Some(format!(
                "{id}: the agent's session is of no more use: {why}"
            ))
        }
        AttemptClass::Interrupted => {
            let why = PlainLine::flatten(&reason(&report.failure.error), usize::MAX);
            Some(format!(
                "{id}: the attempt was cut off: {}",
                why.or("somebody asked to stop")
            ))
        }
        AttemptClass::Ordinary | AttemptClass::Transient { .. } | AttemptClass::Fatal { .. } => {
            None
        }
    };
    let added = report
        .plan
        .added
        .iter()
        .map(|row| format!("plan: the agent added {}", named(row)));
    let edited = report.plan.edited.iter();
    let edited = edited.map(|row| format!("plan: the agent changed {}", named(row)));
    let lines = ended.into_iter().chain(added).chain(edited);
    lines
        .map(|text| Line::happened(Tone::Warning, text))
        .collect()
}

fn ids(tasks: &[TaskKey]) -> String {
    let ids: Vec<String> = tasks.iter().map(|task| task.id.to_string()).collect();
    ids.join(", ")
}

/// What a person said when the run asked.
fn answered(task: &TaskKey, answer: &PersonAnswer) -> Line {
    let what = match answer {
        PersonAnswer::Edit => "edited, so it is tried as if for the first time".to_owned(),
        PersonAnswer::Context { text } => format!("tried again, with this: {}", reason(text)),
        PersonAnswer::Repair => "regreen is to repair it".to_owned(),
        PersonAnswer::Fix => "a fix is to be made for it".to_owned(),
        PersonAnswer::Skip => "to be skipped".to_owned(),
        PersonAnswer::Stop => "not decided yet".to_owned(),
    };
    Line::happened(Tone::Plain, format!("{}: a person said: {what}", task.id))
}

/// What a person said while the run was not going on.
fn chosen(choice: &PersonChoice) -> Line {
    let said = match choice.what {
        ChoiceKind::Skip => "to be skipped",
        ChoiceKind::Done => "done",
        ChoiceKind::Retry => "to be tried again",
    };
    let text = format!("{}: {said}, as a person said", named(&choice.task));
    Line::happened(Tone::Plain, text)
}

fn wait(now: Timestamp, task: &TaskKey, until: Timestamp, why: &str) -> Line {
    let length = Span::from_millis(until.since(now));
    let date = match until.utc_date() {
        date if date == now.utc_date() => String::new(),
        date => format!("{date} "),
    };
    let time = until.utc_time();
    let why = reason(why);
    let text = format!(
        "{}: waiting {length}, until {date}{time} UTC: {why}",
        task.id
    );
    Line::happened(Tone::Warning, text)
}

/// Passing trouble is met by doing the same again.
fn repeat(now: Timestamp, task: &TaskKey, until: Timestamp, why: &str) -> Line {
    let length = Span::from_millis(until.since(now));
    let text = format!(
        "{}: this may pass, the same again in {length}: {}",
        task.id,
        reason(why)
    );
    Line::happened(Tone::Warning, text)
}

fn stop(signal: StopSignal) -> Line {
    let text = match signal {
        StopSignal::Interrupt => "stopping: what runs is being ended; once more ends at once",
        StopSignal::Terminate => "stopping on request: what runs is being ended",
    };
    Line::happened(Tone::Warning, text.to_owned())
}

/// ` after 12s`, if it is known when it began.
fn after(now: Timestamp, began: Option<&Timestamp>) -> String {
    let text = began.map(|began| format!(" after {}", Span::from_millis(now.since(*began))));
    text.unwrap_or_default()
}
