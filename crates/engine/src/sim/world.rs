//! Everything outside the engine: a file, people, an agent, a clock.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;

use regreen_documents::{self as documents, TaskFile};
use regreen_model::{
    AgentIdentity, Budget, Budgets, CommandSeq, FailureNote, Limits, PersonChoice, RunConfig,
    TaskKey, Timestamp,
};

use super::character::Character;
use super::dice::Dice;
use super::invariants::Watch;
use super::mutant::Mutant;
use super::plans::{PLANS, Plan};
use super::transitions::Transition;
use crate::command::{Issued, StateFile};
use crate::input::Input;
use crate::journal_line::JournalLine;
use crate::state::State;

/// The waiting that everybody has patience for.
const WAIT_MS: u64 = 12_000;

/// That something must hold does, or what was seen instead.
pub(super) type Held = Result<(), String>;

#[derive(Debug)]
pub(super) struct World {
    pub(super) dice: Dice,
    pub(super) mutant: Option<Mutant>,
    pub(super) plan: &'static Plan,
    pub(super) config: RunConfig,
    pub(super) agent: Character,
    /// Of ten things that the agent does, so many go wrong.
    pub(super) trouble: u64,
    pub(super) now: Timestamp,
    pub(super) file: Rc<TaskFile>,
    /// What the state file remembers.
    pub(super) memory: documents::State,
    pub(super) state: State,
    pub(super) queue: VecDeque<Issued>,
    /// The state file that is to be written when something is done that takes its time.
    pub(super) unsaved: Option<(CommandSeq, StateFile)>,
    pub(super) journal: Vec<JournalLine>,
    /// Where the run that goes on begins in the journal.
    pub(super) begins: usize,
    /// A power cut takes nothing that comes before this.
    pub(super) synced: usize,
    /// All that people said, oldest first.
    pub(super) choices: Vec<PersonChoice>,
    pub(super) kept: Option<Kept>,
    /// Whether a task's work is really done, as a Verify would see it.
    pub(super) works: BTreeMap<String, bool>,
    /// The tokens that each session has used up.
    pub(super) used: BTreeMap<String, u64>,
    /// How tasks failed in runs that have ended.
    pub(super) failed_before: BTreeMap<TaskKey, FailureNote>,
    pub(super) watch: Watch,
    pub(super) reached: BTreeSet<Transition>,
    /// The last answers, which may come again.
    pub(super) answered: VecDeque<Input>,
    /// Numbers what is new.
    pub(super) made: u64,
    pub(super) crashes: u32,
    pub(super) restarts: u32,
    pub(super) runs: u32,
}

/// The plan as it was when an attempt began.
#[derive(Clone, Debug)]
pub(super) struct Kept {
    pub(super) task: TaskKey,
    pub(super) attempt: u32,
    pub(super) plan: Rc<TaskFile>,
}

impl World {
    pub(super) fn new(mut dice: Dice, mutant: Option<Mutant>) -> Self {
        let plan = &PLANS[dice.index(PLANS.len())];
        let config = config(&mut dice, plan);
        let agent = Character::any(&mut dice);
        let trouble = dice.roll(10);
        let file = Rc::new(TaskFile::read(plan.text));
        Self {
            mutant,
            plan,
            config,
            agent,
            trouble,
            now: Timestamp::from_millis(1_000_000_000_000 + dice.roll(1000)),
            dice,
            memory: documents::State::from_tasks(&file),
            watch: Watch::new(plan.has_ids(), &file),
            file,
            state: State::default(),
            queue: VecDeque::new(),
            unsaved: None,
            journal: Vec::new(),
            begins: 0,
            synced: 0,
            choices: Vec::new(),
            kept: None,
            works: BTreeMap::new(),
            used: BTreeMap::new(),
            failed_before: BTreeMap::new(),
            reached: BTreeSet::new(),
            answered: VecDeque::new(),
            made: 0,
            crashes: 0,
            restarts: 0,
            runs: 0,
        }
    }

    /// A name that no row has had.
    pub(super) fn new_number(&mut self) -> u64 {
        self.made += 1;
        self.made
    }
}

/// Some who have a certain patience count their tokens.
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

fn config(dice: &mut Dice, plan: &Plan) -> RunConfig {
    let one_of = |dice: &mut Dice, from: &[u32]| from[dice.index(from.len())];
    let config = RunConfig {
        spec: "sim".to_owned(),
        recovery: dice.roll(3) > 0,
        keep_going: dice.roll(3) == 2,
        asks: dice.one_in(2),
        limits: Limits {
            task_iterations: one_of(dice, &[5, 3, 2, 1]),
            global_iterations: one_of(dice, &[100, 40, 12, 4]),
            fixes_per_task: one_of(dice, &[3, 2, 1, 12]),
            fix_depth: one_of(dice, &[3, 2, 1]),
        },
        max_wait_ms: WAIT_MS * (1 + dice.roll(50)),
        include_optional: dice.one_in(3),
        commits: dice.roll(4) < 3,
        only: dice.one_in(12).then(|| plan.first_id()).flatten(),
        agent: AgentIdentity::new(if dice.one_in(15) { "shell" } else { "sim" }, None),
        gate: dice.one_in(4).then(|| "true".to_owned()),
        ..RunConfig::default()
    };
    RunConfig {
        budgets: budgets(config.max_wait_ms / WAIT_MS - 1),
        ..config
    }
}
