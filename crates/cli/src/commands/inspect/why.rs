//! `regreen why`: shows the history of a task, from its first attempt on.

mod changes;
mod page;
mod story;

use regreen_model::{ChoiceKind, Event, PersonChoice, TaskKey};
use regreen_reporters::Status;
use regreen_runtime::workspace_masks;
use regreen_store::Run;

use self::page::Page;
use self::story::{RunStory, concerns};
use crate::arguments::{OneTask, Why, WhyTask};
use crate::exit::Exit;
use crate::history::{RecordedEvent, SpecHistory};
use crate::output;
use crate::plan::{Plan, SelectedTask};
use crate::problem::Problem;
use crate::spec_context::{SpecContext, own_secrets};

/// Shows the history of the named task, or of the current one.
pub fn run_for_task(arguments: &WhyTask) -> Result<Exit, Problem> {
    run(&Why {
        which: arguments.which.or_current()?,
        diff: arguments.diff,
    })
}

pub fn run(arguments: &Why) -> Result<Exit, Problem> {
    let context = SpecContext::with_flag(arguments.which.spec.as_deref())?;
    let story = TaskStory::gather(&context, &arguments.which)?;
    let masks = workspace_masks(&context.places.root, &own_secrets());
    output::print(&masks.mask(&story.page(&context, arguments)))?;
    Ok(Exit::Success)
}

/// Everything that the journals know about a task.
struct TaskStory {
    plan: Plan,
    selected: SelectedTask,
    runs: Vec<ToldRun>,
    /// Choices that no run has applied yet.
    said: Vec<PersonChoice>,
}

/// A run that the task appears in.
struct ToldRun {
    run: Run,
    agent: String,
    /// Those that name the task, and what is recorded around them.
    events: Vec<RecordedEvent>,
}

impl TaskStory {
    fn gather(context: &SpecContext, named: &OneTask) -> Result<Self, Problem> {
        let plan = Plan::read(context)?;
        let history = SpecHistory::open(&context.places)?;
        let selected = history.find(&plan, named)?;
        let keys = history.keys_of(&plan, &selected)?;
        let mut runs = Vec::new();
        let mut heard = 0;
        for run in history.runs()? {
            let mut events = history.events_naming(&run, &keys)?;
            let is_ours = |one: &RecordedEvent| concerns(&plan, &selected, &one.event);
            if !events.iter().any(is_ours) {
                continue;
            }
            events.retain(|one| is_news(&one.event, heard));
            heard = heard.max(last_heard(&events));
            let agent = agent_of(history.first_event(&run)?.as_ref());
            runs.push(ToldRun { run, agent, events });
        }
        let choices = history.choices()?;
        let is_new =
            |choice: &PersonChoice| choice.number > heard && plan.is(&selected, &choice.task);
        Ok(Self {
            said: choices.into_iter().filter(is_new).collect(),
            plan,
            selected,
            runs,
        })
    }

    fn page(&self, context: &SpecContext, arguments: &Why) -> String {
        let mut page = Page::default();
        self.tell_task(&mut page);
        let newest = self.newest_try();
        let mut is_told = false;
        for ToldRun { run, agent, events } in &self.runs {
            let is_ours = |one: &RecordedEvent| concerns(&self.plan, &self.selected, &one.event);
            if !events.iter().any(is_ours) {
                continue;
            }
            is_told = true;
            page.heading("RUN", &format!("{}{agent}", run.id));
            let mut story = RunStory::new(context, &self.plan, &self.selected, run, arguments);
            story.is_newest = Some(&run.id) == newest.map(|run| &run.id);
            story.tell(events, &mut page);
        }
        for choice in &self.said {
            is_told = true;
            tell_choice(choice.what, &mut page);
        }
        if !is_told {
            page.detail("not attempted yet");
        }
        page.text(output::line_style())
    }

    /// Returns the last run that tried it.
    fn newest_try(&self) -> Option<&Run> {
        let has_tried = |told: &&ToldRun| {
            told.events.iter().any(|one| match &one.event {
                Event::AttemptStarted { task, .. } => self.plan.is(&self.selected, task),
                _ => false,
            })
        };
        Some(&self.runs.iter().rfind(has_tried)?.run)
    }

    /// Describes the task, and how it relates to others.
    fn tell_task(&self, page: &mut Page) {
        let key = &self.selected.key;
        let file = &self.plan.file;
        let status = match self.selected.row {
            None => Status::Skip,
            Some(row) if file.is_done(row) => Status::Pass,
            Some(_) => Status::Todo,
        };
        page.entry(status, &name(key));
        let Some(row) = self.selected.row else {
            page.detail("no longer in the file");
            return;
        };
        if let Some(fixed) = file.fixed_by(row).and_then(|row| file.key(row)) {
            page.detail(&format!("fixes {}", name(&fixed)));
        }
        for fix in file.fixes(row) {
            let Some(key) = file.key(fix) else { continue };
            let state = if file.is_done(fix) { "done" } else { "open" };
            page.detail(&format!("fix {} ({state})", name(&key)));
        }
    }
}

/// Every run applies all choices ever made, but each is shown once.
fn is_news(event: &Event, heard: u64) -> bool {
    match event {
        Event::Chosen { choice } => choice.number > heard,
        _ => true,
    }
}

/// Returns the agent that a run was started with, for its heading.
fn agent_of(first: Option<&Event>) -> String {
    match first {
        Some(Event::RunStarted { config, .. }) => format!(" · {}", config.agent),
        _ => String::new(),
    }
}

/// Returns the number of the last choice that a run has applied.
fn last_heard(events: &[RecordedEvent]) -> u64 {
    let heard = events.iter().filter_map(|one| match &one.event {
        Event::Chosen { choice } => Some(choice.number),
        _ => None,
    });
    heard.max().unwrap_or(0)
}

fn name(key: &TaskKey) -> String {
    format!("{} {}", key.id, key.title)
}

/// Describes a person's choice.
fn tell_choice(what: ChoiceKind, page: &mut Page) {
    match what {
        ChoiceKind::Skip => page.entry(Status::Skip, "your choice"),
        ChoiceKind::Done => page.entry(Status::Done, "your choice"),
        ChoiceKind::Retry => page.entry(Status::Retry, "your choice, starting over"),
    }
}
