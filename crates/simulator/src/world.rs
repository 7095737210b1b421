//! Everything outside the engine: a file, people, an agent, a clock.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;

use regreen_documents::{self as documents, TaskFile};
use regreen_model::{
    AgentIdentity, Budget, Budgets, DiagnosisAsk, FailureKind, FailureRecord, Limits, PersonChoice,
    PlanChanges, RecoveryTemplate, RunConfig, Task, TaskKey, TemplateMatch, TemplateOwner,
    TemplateStrategy, Timestamp, UserRepair,
};

use crate::agent::Character;
use crate::invariants::Watch;
use crate::mutant::Mutant;
use crate::rng::Rng;
use crate::task_lists::{self, PLANS, Plan};
use crate::transitions::Transition;
use regreen_engine::Input;
use regreen_engine::JournalLine;
use regreen_engine::State;
use regreen_engine::{CommandQueue, CommitResult};

/// The waiting time that every run allows.
const WAIT_MS: u64 = 12_000;

/// Whether an invariant holds, or what was observed instead.
pub(crate) type Check = Result<(), String>;

#[derive(Debug)]
pub(crate) struct World {
    pub(crate) rng: Rng,
    pub(crate) mutant: Option<Mutant>,
    pub(crate) plan: &'static Plan,
    pub(crate) config: RunConfig,
    pub(crate) agent: Character,
    /// How many out of ten of the agent's actions go wrong.
    pub(crate) trouble: u64,
    pub(crate) now: Timestamp,
    pub(crate) file: Rc<TaskFile>,
    /// The contents of the state file.
    pub(crate) memory: documents::StateDocument,
    pub(crate) state: State,
    pub(crate) queue: CommandQueue,
    pub(crate) journal: Vec<JournalLine>,
    /// The start of the current run in the journal.
    pub(crate) begins: usize,
    /// A power cut loses nothing before this position.
    pub(crate) synced: usize,
    /// All choices, oldest first.
    pub(crate) choices: Vec<PersonChoice>,
    pub(crate) kept: Option<Kept>,
    /// Changes to the plan, besides those that attempts report.
    pub(crate) reviews: Vec<(Option<TaskKey>, PlanChanges)>,
    /// Whether a task's work is really done, as a Verify would see it.
    pub(crate) works: BTreeMap<String, bool>,
    /// The tokens that each session has used.
    pub(crate) used: BTreeMap<String, u64>,
    /// How tasks failed in runs that have ended.
    pub(crate) failed_before: BTreeMap<TaskKey, FailureRecord>,
    /// Commits that were made, by task and number of attempts.
    pub(crate) commits: BTreeMap<(TaskKey, u32), CommitResult>,
    pub(crate) watch: Watch,
    pub(crate) reached: BTreeSet<Transition>,
    /// The last answers, which may arrive again.
    pub(crate) answered: VecDeque<Input>,
    /// Whether checks name the tests that failed.
    pub(crate) names_tests: bool,
    /// How many red checks named tests.
    pub(crate) reds: usize,
    /// Whether people decide while the run is at work, besides editing the plan.
    pub(crate) decides_live: bool,
    /// The counter for new names.
    pub(crate) made: u64,
    pub(crate) crashes: u32,
    pub(crate) restarts: u32,
    pub(crate) runs: u32,
}

/// The plan as it was when foreign code started running, kept until the journal has the result.
#[derive(Clone, Debug)]
pub(crate) struct Kept {
    pub(crate) plan: Rc<TaskFile>,
}

impl World {
    pub(crate) fn new(mut rng: Rng, mutant: Option<Mutant>) -> Self {
        let plan = &PLANS[rng.index(PLANS.len())];
        let config = config(&mut rng, plan);
        let agent = Character::any(&mut rng);
        let trouble = rng.below(10);
        let file = Rc::new(TaskFile::read(plan.text));
        // Derived, not drawn: a draw would change what every seed does.
        let names_tests = config.max_wait_ms / WAIT_MS % 3 == 1;
        let waits = config.max_wait_ms / WAIT_MS;
        let decides_live = waits % 3 == 2 || waits % 7 == 1;
        Self {
            mutant,
            plan,
            config,
            agent,
            trouble,
            now: Timestamp::from_millis(1_000_000_000_000 + rng.below(1000)),
            rng,
            memory: documents::StateDocument::from_tasks(&file),
            watch: Watch::new(plan.has_ids(), &file),
            file,
            state: State::default(),
            queue: CommandQueue::default(),
            journal: Vec::new(),
            begins: 0,
            synced: 0,
            choices: Vec::new(),
            kept: None,
            reviews: Vec::new(),
            works: BTreeMap::new(),
            used: BTreeMap::new(),
            failed_before: BTreeMap::new(),
            commits: BTreeMap::new(),
            reached: BTreeSet::new(),
            answered: VecDeque::new(),
            names_tests,
            decides_live,
            reds: 0,
            made: 0,
            crashes: 0,
            restarts: 0,
            runs: 0,
        }
    }

    /// Returns a name that no row has had.
    pub(crate) fn new_number(&mut self) -> u64 {
        self.made += 1;
        self.made
    }

    /// Returns the text with another title for a row. If its id doesn't identify the task, the
    /// title does: a row with another title is then another task, under another name.
    pub(crate) fn retitled(&mut self, file: &TaskFile, task: &Task, words: &str) -> String {
        if self.is_named_by_id(file, task) || task.is_fix() {
            return task_lists::with_words(file, task, words);
        }
        let title = format!("title{}{words}", self.new_number());
        task_lists::with_title(file, task, &title)
    }

    /// Returns whether a task's id identifies it. While the plan is guarded, a changed id doesn't,
    /// nor does one that several rows have.
    pub(crate) fn is_named_by_id(&self, file: &TaskFile, task: &Task) -> bool {
        let Some(kept) = &self.kept else {
            return self.plan.has_ids();
        };
        let rows = |file: &TaskFile| task.id.iter().flat_map(|id| file.rows_with_id(id)).count();
        self.plan.has_ids() && rows(&kept.plan) == 1 && rows(file) == 1
    }
}

/// Returns the budgets. Some runs have a token budget, depending on their waiting budget.
fn budgets(patience: u64) -> Budgets {
    let tokens = |tokens| Budget {
        tokens: Some(tokens),
        ..Budget::default()
    };
    match patience {
        1..=6 => Budgets {
            run: tokens(60 * patience),
            ..Budgets::default()
        },
        7..=12 => Budgets {
            task: tokens(10 * patience),
            ..Budgets::default()
        },
        _ => Budgets::default(),
    }
}

fn config(rng: &mut Rng, plan: &Plan) -> RunConfig {
    let one_of = |rng: &mut Rng, from: &[u32]| from[rng.index(from.len())];
    let config = RunConfig {
        spec: "sim".to_owned(),
        recovery: rng.below(3) > 0,
        keep_going: rng.below(3) == 2,
        asks: rng.one_in(2),
        limits: Limits {
            task_iterations: one_of(rng, &[5, 3, 2, 1]),
            global_iterations: one_of(rng, &[100, 40, 12, 4]),
            fixes_per_task: one_of(rng, &[3, 2, 1, 12]),
            fix_depth: one_of(rng, &[3, 2, 1]),
        },
        max_wait_ms: WAIT_MS * (1 + rng.below(50)),
        include_optional: rng.one_in(3),
        commits: rng.below(4) < 3,
        only: rng.one_in(12).then(|| plan.first_id()).flatten(),
        agent: AgentIdentity::new(if rng.one_in(15) { "shell" } else { "sim" }, None),
        gate: rng.one_in(4).then(|| "true".to_owned()),
        ..RunConfig::default()
    };
    // Derived, not drawn: a draw would change what every seed does.
    let waits = config.max_wait_ms / WAIT_MS - 1;
    RunConfig {
        budgets: budgets(waits),
        diagnosis_ask: if waits % 4 == 1 {
            DiagnosisAsk::Agent
        } else {
            DiagnosisAsk::Off
        },
        recall: waits.is_multiple_of(2),
        answer_wait_ms: (waits % 3 == 1).then_some(WAIT_MS),
        templates: if waits.is_multiple_of(3) {
            templates()
        } else {
            Vec::new()
        },
        ..config
    }
}

/// Returns templates with every strategy, for kinds of failures that occur here.
fn templates() -> Vec<RecoveryTemplate> {
    use TemplateStrategy::{Ask, Fix, Repair, Retry, Split, Wait};
    let template = |kind, owner, first: &[TemplateStrategy]| RecoveryTemplate {
        applies_to: TemplateMatch::Kind(kind),
        owner,
        first: first.to_vec(),
        prompt: Some("do it again".to_owned()),
        question: None,
        wait_ms: 1_000,
        repair: Some(UserRepair {
            does: "start it".to_owned(),
            argv: vec!["start".to_owned()],
            check: vec!["check".to_owned()],
            timeout_ms: 1_000,
        }),
    };
    let (own, offered) = (TemplateOwner::User, TemplateOwner::Workspace);
    vec![
        template(FailureKind::ConnectionRefused, own, &[Wait, Repair, Retry]),
        template(FailureKind::NotExecutable, own, &[Repair, Split, Fix]),
        template(FailureKind::NeedsClarification, own, &[Retry, Ask]),
        // Whatever it says, a repository's template runs nothing.
        template(
            FailureKind::ContradictoryRequirements,
            offered,
            &[Split, Repair, Fix],
        ),
        template(FailureKind::MissingPythonModule, offered, &[Wait, Repair]),
    ]
}

/// Returns the first word of a title; for a fix, its id.
pub(crate) fn name_of(key: &TaskKey) -> String {
    match key.title.split_whitespace().next() {
        Some("Fix:") | None => key.id.to_string(),
        Some(name) => name.to_owned(),
    }
}

pub(crate) fn name_of_task(task: &Task) -> Option<String> {
    task.key().as_ref().map(name_of)
}

/// Returns every task of a file by name.
pub(crate) fn names(file: &TaskFile) -> impl Iterator<Item = String> {
    let keys = file.rows().filter_map(|row| file.key(row));
    keys.map(|key| name_of(&key))
}
