//! `regreen status`: shows the progress of a spec.

mod page;
mod past;

use std::collections::BTreeMap;

use regreen_documents::{FixRecord, RowId};
use regreen_engine::{Phase, State, TaskState};
use regreen_model::{
    AgentIdentity, Budget, ChoiceKind, Event, FailureRecord, Mark, OutlineKind, OutlineRow,
    RunOutcome, Spending, Task, TaskKey, Timestamp,
};
use regreen_reporters::LineStyle;
use regreen_runtime::{
    LockHolder, LockPurpose, TreeLock, is_asked_to_stop_after_task, now, outline,
    outline_without_features, workspace_masks,
};
use regreen_store::{Attempt, Run};
use serde::Serialize;

use self::past::Past;
use crate::arguments::Status as Arguments;
use crate::exit::Exit;
use crate::history::{RecordedEvent, SpecHistory};
use crate::output;
use crate::plan::Plan;
use crate::problem::Problem;
use crate::spec_context::{SpecContext, own_secrets};
use crate::state_file::fixes_in;

pub fn run(arguments: &Arguments) -> Result<Exit, Problem> {
    let context = SpecContext::find(arguments.spec.as_deref())?;
    let status = Status::of(&context, arguments.spec.as_deref())?;
    let text = if arguments.json {
        output::json(&status)
    } else {
        status.text(output::line_style())
    };
    output::print(&masked(&context, &text))?;
    Ok(Exit::Success)
}

/// Returns the status of a spec as text without colors; `None` if none of its tasks are open.
pub fn open_work(context: &SpecContext) -> Result<Option<String>, Problem> {
    let status = Status::of(context, None)?;
    let is_open = status.originals.done < status.originals.total;
    Ok(is_open.then(|| masked(context, &status.text(LineStyle::default()))))
}

fn masked(context: &SpecContext, text: &str) -> String {
    workspace_masks(&context.places.root, &own_secrets()).mask(text)
}

/// The progress of a spec: its plan, its newest run, and the limits it has used.
#[derive(Debug, Serialize)]
struct Status {
    v: u8,
    spec: String,
    file: String,
    originals: Counts,
    fixes: Counts,
    run: Option<RunStatus>,
    /// A run of another spec in this working tree.
    other_run: Option<AtWork>,
    tasks: Vec<TaskStatus>,
    /// The run was asked to stop after its current task.
    stops_after_task: bool,
    /// Open rows that are not run, because they have no id.
    not_run: Vec<UnrunRow>,
    #[serde(skip)]
    unrun_notice: Option<String>,
    /// The command that runs the spec.
    #[serde(skip)]
    run_command: String,
}

#[derive(Debug, Serialize)]
struct UnrunRow {
    line: usize,
    title: String,
}

#[derive(Debug, Serialize)]
struct Counts {
    done: usize,
    total: usize,
}

#[derive(Debug, Serialize)]
struct RunStatus {
    id: String,
    started: String,
    agent: AgentIdentity,
    at_work: Option<AtWork>,
    /// How the run ended or why it paused; `null` while it is running, or if it was killed.
    outcome: Option<&'static str>,
    message: Option<String>,
    attempts_used: u32,
    attempts_limit: u32,
    waited_ms: u64,
    max_wait_ms: u64,
    spent: Spending,
    budget: Budget,
    /// How long the open tasks should take, if the history knows; `null` if nothing is open.
    left_ms: Option<u64>,
    /// The services that are running for its tasks.
    services: Vec<RunningService>,
    #[serde(skip)]
    ended: Option<RunOutcome>,
}

#[derive(Debug, Serialize)]
struct RunningService {
    task: String,
    command: String,
    log: String,
}

/// A process that is running a spec.
#[derive(Debug, Serialize)]
struct AtWork {
    process: Option<u32>,
    spec: String,
}

#[derive(Debug, Serialize)]
struct TaskStatus {
    id: String,
    /// 0 for the first task with this id in the file.
    occurrence: u32,
    title: String,
    kind: OutlineKind,
    /// The indent, below the task that it fixes or the group that contains it.
    depth: u16,
    below: Option<String>,
    done: bool,
    optional: bool,
    /// Ticked without being run, because the task that it fixes had passed.
    superseded: bool,
    skipped: bool,
    /// Waiting for a person while the other tasks continue.
    parked: bool,
    /// What a person has to decide about it, until someone does.
    question: Option<String>,
    /// Attempts in all runs.
    attempts: u32,
    /// Attempts charged to the task in the newest run.
    attempts_used: u32,
    attempts_limit: u32,
    /// Fix tasks added for it in all runs.
    fixes_used: u32,
    fixes_limit: u32,
    marks: Vec<Mark>,
    /// A person said that it is done, and nothing has verified it since.
    #[serde(skip)]
    done_by_choice: bool,
    commit: Option<String>,
    /// The current activity.
    current: Option<Current>,
    /// Why its last attempt failed, while the task is open.
    failure: Option<String>,
    #[serde(skip)]
    failure_record: Option<FailureRecord>,
}

#[derive(Debug, Serialize)]
struct Current {
    what: &'static str,
    attempt: u32,
    since: Option<String>,
    /// When a wait ends.
    until: Option<String>,
    #[serde(skip)]
    for_ms: Option<u64>,
    #[serde(skip)]
    left_ms: Option<u64>,
}

/// Everything that is read before the status is built.
struct Knowledge {
    plan: Plan,
    /// The last choice about each task.
    choices: BTreeMap<TaskKey, ChoiceKind>,
    /// The newest run, and its state with the choices made since.
    run: Option<Run>,
    state: State,
    past: Past,
    at_work: Option<LockHolder>,
    /// The attempts that the newest run is at.
    begun: Vec<Attempt>,
    /// The fixes recorded in the state file.
    fixes: BTreeMap<String, FixRecord>,
    /// When the current Verify started.
    verify_began: Option<Timestamp>,
}

impl Knowledge {
    fn gather(context: &SpecContext) -> Result<Self, Problem> {
        let plan = Plan::read(context)?;
        // Before the journal is read: a run that ends in between has then recorded its end there.
        let at_work = TreeLock::holder(&context.places.root);
        let history = SpecHistory::open(&context.places)?;
        let mut runs = history.runs()?;
        let run = runs.pop();
        let mut state = run.as_ref().map(|run| history.state(run)).transpose()?;
        let state_now = state.get_or_insert_default();
        let mut choices = BTreeMap::new();
        for choice in history.choices()? {
            choices.insert(choice.task.clone(), choice.what);
            if choice.number > state_now.choices_seen {
                state_now.apply(&Event::Chosen { choice });
            }
        }
        let state = state.unwrap_or_default();
        let past = Past::gather(&plan, &history, &runs, &state)?;
        let verify_began = match run.as_ref().filter(|_| is_verifying(&state)) {
            Some(run) => history.last_event(run, verify_began)?,
            None => None,
        };
        let begun = match &run {
            Some(run) => begun(&history, run, &state)?,
            None => Vec::new(),
        };
        Ok(Self {
            verify_began,
            begun,
            fixes: fixes_in(&context.places.state)?,
            plan,
            choices,
            run,
            state,
            past,
            at_work: at_work.filter(|holder| holder.purpose == LockPurpose::Run),
        })
    }

    fn fixes_used(&self, row: RowId) -> u32 {
        self.plan.file.fixes_used(row, &self.fixes)
    }
}

fn is_verifying(state: &State) -> bool {
    let is_it = |task: &TaskState| matches!(task.phase, Phase::Verifying { .. });
    state.tasks.values().any(is_it)
}

fn verify_began(one: &RecordedEvent) -> Option<Timestamp> {
    matches!(one.event, Event::VerifyStarted { .. }).then_some(one.at)
}

/// Returns the last attempts at the tasks that something is pending for.
fn begun(history: &SpecHistory, run: &Run, state: &State) -> Result<Vec<Attempt>, Problem> {
    let tasks = state.tasks.iter();
    let pending = tasks.filter(|(_, task)| doing(&task.phase).is_some());
    let mut begun = Vec::new();
    for (key, task) in pending {
        begun.extend(history.attempt(run, key, task.attempts)?);
    }
    Ok(begun)
}

impl Status {
    fn of(context: &SpecContext, asked: Option<&str>) -> Result<Self, Problem> {
        let places = &context.places;
        let known = Knowledge::gather(context)?;
        let rows = match known.state.config.times {
            Some(_) => outline(&known.plan.file),
            None => outline_without_features(&known.plan.file),
        };
        // A fix that was ticked because its task had passed was not done.
        let is_done = |row: &&OutlineRow| row.done && !known.past.is_superseded(&row.key);
        let counted = |is_wanted: fn(&&OutlineRow) -> bool| Counts {
            done: rows.iter().filter(is_wanted).filter(is_done).count(),
            total: rows.iter().filter(is_wanted).count(),
        };
        let is_ours = |holder: &&LockHolder| holder.runs(places);
        let ours = known.at_work.as_ref().filter(is_ours);
        let other = known.at_work.as_ref().filter(|holder| !is_ours(holder));
        let unrun = known.plan.file.unrun_rows();
        let stops_after_task = ours.and_then(|holder| holder.pid).is_some_and(|pid| {
            known.state.stops_after_task || is_asked_to_stop_after_task(&places.root, pid)
        });
        Ok(Self {
            v: 1,
            spec: places.spec.name.clone(),
            file: places.shown(&places.spec.tasks),
            originals: counted(|row| row.is_original() && !row.optional),
            fixes: counted(|row| !row.is_original()),
            tasks: task_statuses(&known, &rows, ours.is_some()),
            stops_after_task,
            run: known
                .run
                .as_ref()
                .map(|run| run_status(run, &known.state, ours, &rows)),
            other_run: other.map(AtWork::of),
            unrun_notice: unrun.notice(),
            run_command: ["regreen run".to_owned()]
                .into_iter()
                .chain(context.argument(asked))
                .collect::<Vec<_>>()
                .join(" "),
            not_run: unrun.rows().iter().map(UnrunRow::of).collect(),
        })
    }
}

impl UnrunRow {
    fn of(task: &Task) -> Self {
        Self {
            line: task.line,
            title: task.title.clone(),
        }
    }
}

impl AtWork {
    fn of(holder: &LockHolder) -> Self {
        Self {
            process: holder.pid,
            spec: holder.name.clone(),
        }
    }
}

fn run_status(
    run: &Run,
    state: &State,
    at_work: Option<&LockHolder>,
    rows: &[OutlineRow],
) -> RunStatus {
    // A resumed run records that only once it has started.
    let ended = state.outcome.clone().filter(|_| at_work.is_none());
    RunStatus {
        id: run.id.to_string(),
        started: moment(run.started_ms).iso8601(),
        agent: state.config.agent.clone(),
        at_work: at_work.map(AtWork::of),
        outcome: ended.as_ref().map(RunOutcome::name),
        message: ended.as_ref().and_then(message),
        attempts_used: state.iterations,
        attempts_limit: state.iteration_limit(),
        waited_ms: state.waited_ms,
        max_wait_ms: state.config.max_wait_ms,
        spent: state.spent,
        budget: state.config.budgets.run,
        left_ms: left_ms(state, rows),
        services: services(state, at_work.is_some()),
        ended,
    }
}

/// Returns how long the open tasks should take, by what the history said when the run began.
fn left_ms(state: &State, rows: &[OutlineRow]) -> Option<u64> {
    let times = state.config.times.as_ref()?;
    let left = times.time_left(rows, state.config.include_optional);
    left.filter(|left| *left > 0)
}

/// Returns the running services. They end with the process that runs them.
fn services(state: &State, is_at_work: bool) -> Vec<RunningService> {
    let services = state.services.iter();
    let running = services.filter(|service| service.is_running && is_at_work);
    running
        .map(|service| RunningService {
            task: service.task.id.to_string(),
            command: service.command.clone(),
            log: service.log.clone(),
        })
        .collect()
}

fn message(outcome: &RunOutcome) -> Option<String> {
    match outcome {
        RunOutcome::Limit { message: why }
        | RunOutcome::Regressed { message: why }
        | RunOutcome::NeedsPerson { why }
        | RunOutcome::TryLater { why }
        | RunOutcome::SetUp { why } => Some(why.clone()),
        RunOutcome::AllGreen
        | RunOutcome::OnlyDone
        | RunOutcome::Skipped
        | RunOutcome::Stopped { .. } => None,
    }
}

fn task_statuses(known: &Knowledge, rows: &[OutlineRow], is_at_work: bool) -> Vec<TaskStatus> {
    let mut above: Vec<&TaskKey> = Vec::new();
    let mut statuses = Vec::new();
    for row in rows {
        above.truncate(usize::from(row.depth));
        let below = above.last().map(|key| key.id.to_string());
        above.push(&row.key);
        let mut status = task_status(known, row, below);
        if is_at_work {
            status.current = current(known, &row.key);
        }
        statuses.push(status);
    }
    statuses
}

fn task_status(known: &Knowledge, row: &OutlineRow, below: Option<String>) -> TaskStatus {
    let state = &known.state;
    let place = known.plan.row_of(&row.key);
    let last = place.and_then(|place| known.past.last(place));
    let failure = last
        .filter(|task| !row.done && task.result != Some(true))
        .and_then(|task| task.failure.as_ref());
    let is_called_done = known.choices.get(&row.key) == Some(&ChoiceKind::Done);
    let has_passed = last.is_some_and(|task| task.result == Some(true));
    TaskStatus {
        id: row.key.id.to_string(),
        occurrence: row.key.occurrence,
        title: row.key.title.clone(),
        kind: row.kind,
        depth: row.depth,
        below,
        done: row.done,
        optional: row.optional,
        superseded: row.done && known.past.is_superseded(&row.key),
        skipped: !row.done && state.skipped.contains(&row.key),
        parked: !row.done && state.parked.contains(&row.key),
        question: state
            .tasks
            .get(&row.key)
            .filter(|_| !row.done)
            .and_then(question),
        attempts: place.map_or(0, |place| known.past.attempts(place)),
        attempts_used: place.map_or(0, |place| known.past.used(place)),
        attempts_limit: state.config.limits.task_iterations,
        fixes_used: place.map_or(0, |place| known.fixes_used(place)),
        fixes_limit: state.config.limits.fixes_per_task,
        marks: last.filter(|_| row.done).map_or(Vec::new(), marks),
        done_by_choice: row.done && is_called_done && !has_passed,
        commit: last.and_then(|task| task.hash.clone()).filter(|_| row.done),
        current: None,
        failure: failure.map(|failure| failure.error.clone()),
        failure_record: failure.cloned(),
    }
}

fn question(task: &TaskState) -> Option<String> {
    match &task.phase {
        Phase::Asking { why, .. } => Some(why.clone()),
        _ => None,
    }
}

fn marks(task: &TaskState) -> Vec<Mark> {
    task.marks.iter().copied().collect()
}

fn current(known: &Knowledge, key: &TaskKey) -> Option<Current> {
    let task = known.state.tasks.get(key)?;
    let what = doing(&task.phase)?;
    let is_it = |one: &&Attempt| one.key.task == *key && one.key.number == task.attempts;
    let begun = known.begun.iter().rfind(is_it);
    let (since, until) = match &task.phase {
        Phase::Waiting { since, until, .. } => (Some(*since), Some(*until)),
        Phase::Verifying { .. } => (known.verify_began, None),
        _ => (begun.map(|one| moment(one.started_ms)), None),
    };
    let now = now();
    Some(Current {
        what,
        attempt: task.attempts,
        since: since.map(Timestamp::iso8601),
        until: until.map(Timestamp::iso8601),
        for_ms: since.map(|since| now.since(since)),
        left_ms: until.map(|until| until.since(now)),
    })
}

fn doing(phase: &Phase) -> Option<&'static str> {
    match phase {
        Phase::Open | Phase::Closed => None,
        Phase::Attempting { .. } => Some("attempt"),
        Phase::Verifying { .. } | Phase::ReviewingTests { .. } | Phase::JudgingClaims { .. } => {
            Some("verifying")
        }
        Phase::Waiting { .. } => Some("waiting"),
        // The question is shown whether a run is active or not.
        Phase::Asking { .. } => None,
        Phase::Repairing { .. } => Some("repairing"),
        Phase::AskingOpinion { .. } | Phase::Recalling { .. } => Some("diagnosing"),
        Phase::Inspecting { .. }
        | Phase::Budgeting { .. }
        | Phase::Inserting { .. }
        | Phase::Modifying { .. } => Some("planning"),
        Phase::Superseding { .. }
        | Phase::TickingFixes { .. }
        | Phase::Noting { .. }
        | Phase::Ticking { .. }
        | Phase::Committing { .. }
        | Phase::Recording { .. } => Some("saving"),
    }
}

fn moment(millis: i64) -> Timestamp {
    Timestamp::from_millis(u64::try_from(millis).unwrap_or(0))
}
