//! `regreen attach`: shows a run that was started anywhere, from its journal. On a terminal, the
//! terminal interface does; what follows prints lines.

use std::os::fd::AsFd as _;
use std::time::Duration;

use regreen_documents::TaskFile;
use regreen_model::{Event, RunOutcome, Timestamp};
use regreen_overview::{Change, ChangeFeed, JournalReader};
use regreen_runtime::{
    LockPurpose, RunObserver as _, SpecPaths, Stop, TreeLock, now, open_store_read_only, outline,
};
use regreen_workspace::{RealDisk, read_text, workspace_root};

use super::run::View;
use crate::arguments::Attach;
use crate::exit::Exit;
use crate::history::SpecHistory;
use crate::output;
use crate::problem::Problem;
use crate::spec_context::{SpecContext, current_dir};

/// How often to look whether the run is alive, if its process can't be watched.
const LOOK_INTERVAL: Duration = Duration::from_secs(1);

type TimedEvent = (Timestamp, Event);

/// Shows the newest run of a spec until it ends, or until Ctrl-C, which doesn't affect the run.
pub fn run(arguments: &Attach) -> Result<Exit, Problem> {
    let context = SpecContext::find(named_spec(arguments)?.as_deref())?;
    let history = SpecHistory::open(&context.places)?;
    let run = history.run_named(None, &context.places.spec.name)?;
    let stop = Stop::default();
    stop.listen().map_err(Problem::Signals)?;
    #[cfg(feature = "tui")]
    if !arguments.json
        && !arguments.lines
        && super::tui::show_run(&context.places, &run.id, &stop)?
        && is_active(&context.places)
    {
        say_detached();
        return Ok(Exit::Success);
    }
    let mut attached = Attached {
        reader: JournalReader::new(run.id),
        paths: context.places,
        view: View::choose(arguments.json),
        outcome: None,
    };
    let seen = attached.follow(&stop)?;
    attached.end(seen)
}

/// Returns the spec to show: as named, or else the one that is running here.
fn named_spec(arguments: &Attach) -> Result<Option<String>, Problem> {
    if arguments.spec.is_some() {
        return Ok(arguments.spec.clone());
    }
    let here = current_dir()?;
    let root = workspace_root(&RealDisk, &here);
    let holder = TreeLock::holder(&root).filter(|holder| holder.purpose == LockPurpose::Run);
    let tasks = holder.map(|holder| root.join(holder.spec).display().to_string());
    Ok(tasks)
}

/// A view of a run that another process drives.
struct Attached {
    reader: JournalReader,
    paths: SpecPaths,
    view: View,
    /// How the run ended, as far as it was read.
    outcome: Option<RunOutcome>,
}

/// Why there is nothing more to show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Seen {
    /// No process is at work on the run any more.
    End,
    /// The person has left.
    Enough,
}

impl Attached {
    fn follow(&mut self, stop: &Stop) -> Result<Seen, Problem> {
        let bell = stop.wake_pipe().map_err(Problem::Watch)?;
        let mut feed = ChangeFeed::new(&self.paths.own()).map_err(Problem::Watch)?;
        // Before the journal is read: what is written afterwards wakes the feed.
        let limit = self.watch_process(&mut feed);
        let earlier = self.new_events()?;
        self.show_earlier(&earlier);
        let mut is_active = self.is_active();
        loop {
            self.show_new()?;
            if self.outcome.is_some() || !is_active {
                return Ok(Seen::End);
            }
            match feed.wait(limit, &[bell.as_fd()]).map_err(Problem::Watch)? {
                Change::Woken(_) => return Ok(Seen::Enough),
                Change::ProcessEnded => is_active = false,
                Change::Nothing => is_active = self.is_active(),
                Change::Written => {}
            }
        }
    }

    /// Watches the process that is at work. Returns how long to wait at most for a change.
    fn watch_process(&self, feed: &mut ChangeFeed) -> Option<Duration> {
        let holder = TreeLock::holder(&self.paths.root);
        let pid = holder.and_then(|holder| holder.pid);
        let is_watched = pid.is_some_and(|pid| feed.watch_process(pid));
        (!is_watched).then_some(LOOK_INTERVAL)
    }

    fn is_active(&self) -> bool {
        is_active(&self.paths)
    }

    /// Opens the journal anew: a journal that was closed when it was opened shows no changes.
    fn new_events(&mut self) -> Result<Vec<TimedEvent>, Problem> {
        let Some(store) = open_store_read_only(&self.paths.root)? else {
            return Ok(Vec::new());
        };
        let events = self.reader.new_events(&store);
        let events = events.map_err(Problem::from_reading)?;
        Ok(events.into_iter().map(without_prompt).collect())
    }

    /// Shows how the run began and the events since the current task was picked, and only notes those
    /// in between.
    fn show_earlier(&mut self, events: &[TimedEvent]) {
        self.show_plan();
        let is_pick = |(_, event): &TimedEvent| matches!(event, Event::TaskPicked { .. });
        let shown_from = events.iter().rposition(is_pick).unwrap_or(0);
        for (number, (at, event)) in events.iter().enumerate() {
            if number < shown_from && !begins(event) {
                self.view.recall(*at, event);
            } else {
                self.view.event(*at, event);
            }
            self.note(event);
        }
        self.view.set_clock(now());
    }

    fn show_new(&mut self) -> Result<(), Problem> {
        let events = self.new_events()?;
        if events.iter().any(|(_, event)| changes_plan(event)) {
            self.show_plan();
        }
        for (at, event) in &events {
            self.view.event(*at, event);
            self.note(event);
        }
        Ok(())
    }

    fn note(&mut self, event: &Event) {
        match event {
            Event::RunEnded { outcome } => self.outcome = Some(outcome.clone()),
            Event::RunResumed { .. } => self.outcome = None,
            _ => {}
        }
    }

    fn show_plan(&mut self) {
        if let Ok(read) = read_text(&RealDisk, &self.paths.spec.tasks) {
            self.view.outline(&outline(&TaskFile::read(read.text)));
        }
    }

    fn end(self, seen: Seen) -> Result<Exit, Problem> {
        if seen == Seen::Enough {
            self.view.leave(now());
            say_detached();
            return Ok(Exit::Success);
        }
        match self.outcome {
            Some(outcome) => {
                self.view.finish(now());
                Ok(Exit::of(&outcome))
            }
            None => {
                self.view.leave(now());
                Err(Problem::RunKilled)
            }
        }
    }
}

/// Whether a process is at work on a run of the spec.
fn is_active(paths: &SpecPaths) -> bool {
    let holder = TreeLock::holder(&paths.root);
    holder.is_some_and(|holder| holder.runs(paths))
}

fn say_detached() {
    output::say("detached; the run continues (`regreen attach` shows it, `regreen stop` stops it)");
}

/// Whether an event begins the time that a view counts.
fn begins(event: &Event) -> bool {
    matches!(event, Event::RunStarted { .. } | Event::RunResumed { .. })
}

/// Returns the event as it is shown where nobody is asked: questions are lines like all others.
fn without_prompt((at, mut event): TimedEvent) -> TimedEvent {
    match &mut event {
        Event::RunStarted { config, .. } => config.asks = false,
        Event::RunResumed {
            config: Some(config),
            ..
        } => config.asks = false,
        _ => {}
    }
    (at, event)
}

/// Whether the plan should be shown anew.
fn changes_plan(event: &Event) -> bool {
    matches!(
        event,
        Event::TaskPicked { .. }
            | Event::FixInserted { .. }
            | Event::PlanModified { .. }
            | Event::TaskDone { .. }
            | Event::TaskReopened { .. }
            | Event::RunEnded { .. }
    )
}
