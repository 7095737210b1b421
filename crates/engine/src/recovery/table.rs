//! The recovery table: what each class of failure is charged to and how regreen responds, also as
//! text for people.

use regreen_model::FailureKind;

use super::{FailureClass, RecoveryHistory};

/// How many sessions a task may lose free of charge.
pub const FREE_SESSIONS: u32 = 2;
/// How often a task may be interrupted free of charge.
pub const FREE_INTERRUPTIONS: u32 = 2;
/// How often an attempt is repeated because of passing trouble.
pub const REPEATS: u32 = 2;
/// How far the time for an attempt may grow by doubling, as a multiple of the usual time.
pub const MAX_TIME_FACTOR: u32 = 8;

/// The rule for one class of failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecoveryRule {
    /// The class of failure.
    pub class: FailureClass,
    /// The account that pays for it.
    pub charge: Charge,
    /// The first response.
    pub first: Response,
    /// The response once the allowance of `charge` is used up.
    pub then: Response,
}

/// The account that pays for a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Charge {
    /// The run's waiting time.
    WaitingBudget,
    /// The run itself, which ends.
    Run,
    /// A fixed number of sessions per task.
    Sessions,
    /// A fixed number free of charge, then the task's attempts.
    Interruptions,
    /// A fixed number of repeats per task.
    Repeats,
    /// The task's attempts.
    TaskIteration,
    /// The task's requests to change the plan.
    ModificationRequests,
    /// Nothing.
    Nothing,
    /// The task's fix budget.
    FixBudget,
}

/// How regreen responds to a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Response {
    /// Wait, then try again.
    Wait,
    /// End the run.
    StopRun,
    /// Try again in a new session.
    NewSession,
    /// Try again.
    Again,
    /// Repeat the attempt after a short delay.
    Repeat,
    /// Try again with more time.
    MoreTime,
    /// Ask the agent to split the task.
    Split,
    /// Try again with the information that was missing.
    Enrich,
    /// Ask a person.
    Person,
    /// Repair the environment.
    Repair,
    /// Add a fix task.
    Fix,
}

/// The rule for each class.
pub const TABLE: [RecoveryRule; 11] = {
    use {Charge as C, FailureClass as K, Response as R};
    [
        rule(K::Transient, C::WaitingBudget, R::Wait, R::Wait),
        rule(K::Fatal, C::Run, R::StopRun, R::StopRun),
        rule(K::Session, C::Sessions, R::NewSession, R::Fix),
        rule(K::Interrupted, C::Interruptions, R::Again, R::Again),
        rule(K::PassingTrouble, C::Repeats, R::Repeat, R::Fix),
        rule(
            K::TimeoutWithProgress,
            C::TaskIteration,
            R::MoreTime,
            R::MoreTime,
        ),
        rule(
            K::TimeoutWithoutProgress,
            C::ModificationRequests,
            R::Split,
            R::Person,
        ),
        rule(K::MissingContext, C::TaskIteration, R::Enrich, R::Person),
        rule(K::InvalidTask, C::Nothing, R::Person, R::Person),
        rule(K::Repairable, C::FixBudget, R::Repair, R::Fix),
        rule(K::Other, C::FixBudget, R::Fix, R::Fix),
    ]
};

const fn rule(
    class: FailureClass,
    charge: Charge,
    first: Response,
    then: Response,
) -> RecoveryRule {
    RecoveryRule {
        class,
        charge,
        first,
        then,
    }
}

impl RecoveryRule {
    /// Returns the rule for a class.
    #[must_use]
    pub fn of(class: FailureClass) -> Self {
        let mut rules = TABLE.into_iter().filter(|rule| rule.class == class);
        let other = rule(class, Charge::FixBudget, Response::Fix, Response::Fix);
        rules.next().unwrap_or(other)
    }

    /// Returns the response to one more failure of the class.
    pub(super) fn response(&self, history: &RecoveryHistory<'_>) -> Response {
        if self.is_used_up(history) {
            self.then
        } else {
            self.first
        }
    }

    /// Whether the first response was used as often as the rule allows.
    pub(crate) fn is_used_up(&self, history: &RecoveryHistory<'_>) -> bool {
        match self.charge {
            Charge::Sessions => history.lost_sessions > FREE_SESSIONS,
            Charge::Repeats => history.repeats >= REPEATS,
            Charge::ModificationRequests => history.asked_to_split,
            Charge::TaskIteration => self.first == Response::Enrich && history.was_enriched,
            Charge::FixBudget => self.first == Response::Repair && history.was_repaired,
            Charge::WaitingBudget | Charge::Run | Charge::Interruptions | Charge::Nothing => false,
        }
    }
}

impl Charge {
    /// Whether an attempt that ends this way is taken from the task's attempts. `history` excludes
    /// this failure. Without recovery there are no modification requests that could pay for it.
    pub(crate) fn is_taken_from_task(self, history: &RecoveryHistory<'_>, recovery: bool) -> bool {
        match self {
            Self::WaitingBudget | Self::Run => false,
            Self::Sessions => history.lost_sessions >= FREE_SESSIONS,
            Self::Interruptions => history.interruptions >= FREE_INTERRUPTIONS,
            Self::ModificationRequests => !recovery,
            Self::Repeats | Self::TaskIteration | Self::Nothing | Self::FixBudget => true,
        }
    }

    /// Whether an attempt that ends this way is taken from the run's attempts.
    pub(crate) fn is_taken_from_run(self) -> bool {
        !matches!(self, Self::WaitingBudget | Self::Run | Self::Interruptions)
    }
}

impl FailureClass {
    /// Describes the failures of this class.
    #[must_use]
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Transient => "the agent's service is rate limited, overloaded or unreachable",
            Self::Fatal => {
                "the agent is missing, its login is refused, it is out of credit, or regreen cannot write"
            }
            Self::Session => "the session is full, unknown or out of turns",
            Self::Interrupted => "regreen or the machine stopped during the attempt",
            Self::PassingTrouble => {
                "a command hit a problem that may go away: refused connection, DNS, locked database, crash"
            }
            Self::TimeoutWithProgress => {
                "the attempt hit its time limit, but tools, output or files showed progress"
            }
            Self::TimeoutWithoutProgress => {
                "the attempt hit its time limit without any sign of progress"
            }
            Self::MissingContext => {
                "the agent lacks information that only the author of the task has"
            }
            Self::InvalidTask => {
                "the task contradicts itself, cannot be done, or the agent refuses it"
            }
            Self::Repairable => {
                "the environment is broken, and an inspection of the workspace shows that regreen can repair it"
            }
            Self::Other => "everything else: tool errors, partial work, false completion",
        }
    }
}

impl Charge {
    /// Describes the charge and its limit.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::WaitingBudget => "the run's waiting budget (--max-wait, 6 h)",
            Self::Run => "the run",
            Self::Sessions => "2 per task, then like “other”",
            Self::Interruptions => "nothing the first two times, then the task's attempts",
            Self::Repeats => "2 repeats per task, then like “other”",
            Self::TaskIteration => "the task's attempts",
            Self::ModificationRequests => "the task's modification requests",
            Self::Nothing => "nothing",
            Self::FixBudget => "the fix budget",
        }
    }
}

impl RecoveryRule {
    /// Describes in one sentence what regreen does.
    #[must_use]
    pub fn words(&self) -> &'static str {
        match self.class {
            FailureClass::Transient => {
                "waits until the time that the service gives, but at least 2 s, doubling to 5 min, and tries again; when the budget is used up, stops the run with exit code 75"
            }
            FailureClass::Fatal => "stops the run immediately with exit code 78",
            FailureClass::Session => "starts a new session with a summary of the last one",
            FailureClass::Interrupted => "tries again with a summary of the interrupted attempt",
            FailureClass::PassingTrouble => {
                "repeats the attempt after the delay that the error names (at most 60 s), or after 2 s and then 5 s"
            }
            FailureClass::TimeoutWithProgress => {
                "tries again with twice the time (at most 8 times the limit), in the same session if the agent supports that"
            }
            FailureClass::TimeoutWithoutProgress => {
                "asks the agent to split the task; if it cannot, a person decides"
            }
            FailureClass::MissingContext => {
                "looks up the project's root, main files, configuration, tests and the missing things, and tries once more; then a person decides"
            }
            FailureClass::InvalidTask => "a person decides",
            FailureClass::Repairable => {
                "adds a fix task, carries it out itself, then tries the task again"
            }
            FailureClass::Other => {
                "adds a fix task for the agent, then tries the task again with what was done and what blocked it"
            }
        }
    }
}

impl RecoveryRule {
    /// Returns the rule as text, headed by the name of the class.
    #[must_use]
    pub fn text(&self) -> String {
        let class = self.class;
        format!(
            "{class}: {}\n  charged to: {}\n  regreen: {}\n",
            class.meaning(),
            self.charge.words(),
            self.words()
        )
    }
}

impl FailureClass {
    /// Returns the kinds of failures in this class, as far as the kind alone tells.
    #[must_use]
    pub fn kinds(self) -> Vec<FailureKind> {
        let kinds = FailureKind::ALL.into_iter();
        kinds.filter(|kind| Self::of_kind(*kind) == self).collect()
    }
}

/// Returns the whole table as text.
#[must_use]
pub fn table_text() -> String {
    let rules: Vec<String> = TABLE.iter().map(RecoveryRule::text).collect();
    rules.join("\n")
}

/// Returns the whole table as Markdown, with the kinds of each class.
#[must_use]
pub fn table_page() -> String {
    let mut page =
        "| class | meaning | charged to | what regreen does |\n|---|---|---|---|\n".to_owned();
    for rule in &TABLE {
        let (class, charge) = (rule.class, rule.charge.words());
        page += &format!(
            "| {class} | {} | {charge} | {} |\n",
            class.meaning(),
            rule.words()
        );
    }
    page += "\nClasses of the kinds of [failures](failures.md). All other kinds are “other”, or “repairable” if regreen can repair the workspace:\n\n";
    for class in FailureClass::ALL
        .into_iter()
        .filter(|class| *class != FailureClass::Other)
    {
        let kinds = class.kinds();
        if !kinds.is_empty() {
            let kinds: Vec<String> = kinds.iter().map(|kind| format!("`{kind}`")).collect();
            page += &format!("- {class}: {}\n", kinds.join(", "));
        }
    }
    page
}
