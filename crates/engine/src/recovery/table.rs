//! What is done after each class of failure.

use super::Class;

/// One row: what a class is charged to, what is done about it at first, and when that is used
/// up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    pub class: Class,
    pub charge: Charge,
    pub first: Step,
    pub then: Step,
}

/// What pays for a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Charge {
    WaitingBudget,
    Run,
    /// So many per task.
    Sessions,
    /// So many for nothing, then the task's attempts.
    Interruptions,
    /// So many per task.
    Repeats,
    TaskIteration,
    ModificationRequests,
    Nothing,
    FixBudget,
}

/// What is done about a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    Wait,
    StopRun,
    NewSession,
    Again,
    Repeat,
    MoreTime,
    Split,
    Enrich,
    Person,
    Repair,
    Fix,
    /// What is done about everything else.
    AsOther,
}

pub const TABLE: [Row; 11] = {
    use {Charge as C, Class as K, Step as S};
    [
        row(K::Transient, C::WaitingBudget, S::Wait, S::StopRun),
        row(K::Fatal, C::Run, S::StopRun, S::StopRun),
        row(K::Session, C::Sessions, S::NewSession, S::AsOther),
        row(K::Interrupted, C::Interruptions, S::Again, S::Again),
        row(K::PassingTrouble, C::Repeats, S::Repeat, S::AsOther),
        row(
            K::TimeoutWithProgress,
            C::TaskIteration,
            S::MoreTime,
            S::MoreTime,
        ),
        row(
            K::TimeoutWithoutProgress,
            C::ModificationRequests,
            S::Split,
            S::Person,
        ),
        row(K::MissingContext, C::TaskIteration, S::Enrich, S::Person),
        row(K::InvalidTask, C::Nothing, S::Person, S::Person),
        row(K::Repairable, C::FixBudget, S::Repair, S::AsOther),
        row(K::Other, C::FixBudget, S::Fix, S::Fix),
    ]
};

const fn row(class: Class, charge: Charge, first: Step, then: Step) -> Row {
    Row {
        class,
        charge,
        first,
        then,
    }
}

impl Row {
    #[must_use]
    pub fn of(class: Class) -> Self {
        let rows = TABLE.into_iter().find(|row| row.class == class);
        rows.unwrap_or(row(class, Charge::FixBudget, Step::Fix, Step::Fix))
    }
}

impl Class {
    /// Which failures are of this class.
    #[must_use]
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Transient => {
                "the agent's own service is rate limited, overloaded or out of reach"
            }
            Self::Fatal => {
                "the agent is missing, its login is refused, there is no credit, or regreen cannot write"
            }
            Self::Session => "the session is full, unknown, or has had its turns",
            Self::Interrupted => "regreen or the machine ended while the agent was at work",
            Self::PassingTrouble => {
                "a command met something that may be gone the next time: refused connection, DNS, a locked database, a crash"
            }
            Self::TimeoutWithProgress => {
                "the time was over, and tools, output or files showed that it was getting on"
            }
            Self::TimeoutWithoutProgress => "the time was over, and nothing showed any progress",
            Self::MissingContext => "the agent lacks something that whoever wrote the task knows",
            Self::InvalidTask => "the task contradicts itself, cannot be done, or is refused",
            Self::Repairable => {
                "something is missing that a look at the workspace says may be repaired"
            }
            Self::Other => "everything else: tool errors, partial work, false completion",
        }
    }
}

impl Charge {
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::WaitingBudget => "the run's waiting budget (--max-wait, 6 h)",
            Self::Run => "the run",
            Self::Sessions => "2 per task, then as “other”",
            Self::Interruptions => "nothing twice, then the task's attempts",
            Self::Repeats => "2 repeats per task, then as “other”",
            Self::TaskIteration => "the task's attempts",
            Self::ModificationRequests => "the task's modification requests",
            Self::Nothing => "nothing",
            Self::FixBudget => "the fix budget",
        }
    }
}

impl Row {
    /// What regreen does, in one sentence.
    #[must_use]
    pub fn words(&self) -> &'static str {
        match self.class {
            Class::Transient => {
                "waits until the time that is given, at least 2 s doubling to 5 min, and tries again; when the budget is used up the run stops with exit code 75"
            }
            Class::Fatal => "stops the run at once with exit code 78",
            Class::Session => "a new session, told what is known of the last one",
            Class::Interrupted => "tries again, with what is known",
            Class::PassingTrouble => {
                "repeats it after the delay that the text names (60 s at most), else after 2 s, then 5 s"
            }
            Class::TimeoutWithProgress => {
                "tries again with twice the time (8 times at most), in the same session where the agent can"
            }
            Class::TimeoutWithoutProgress => {
                "asks the agent to split the task; if it cannot, a person decides"
            }
            Class::MissingContext => {
                "tries once more with the project's root, main files, configuration, tests and the missing things looked up; then a person decides"
            }
            Class::InvalidTask => "a person decides",
            Class::Repairable => {
                "writes a fix task and carries it out by itself, then tries the task again"
            }
            Class::Other => {
                "writes a fix task for the agent, then tries the task again with what was done and what blocked it"
            }
        }
    }
}
