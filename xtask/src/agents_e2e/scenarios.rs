//! The cases that are recorded, and the scenarios that runs must get through.

use super::agents::Candidate;
use super::agents::Cli;
use super::dialect::{DONE, FAILED, overflow, overloaded, rate_limited, unauthorized};
use super::model_server::Reply;

/// One thing that an agent may go through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Case {
    Success,
    FailedBlock,
    FailingTool,
    Unauthorized,
    RateLimited,
    Overloaded,
    ContextOverflow,
    Hang,
    LostSession,
}

impl Case {
    pub(crate) const ALL: [Self; 9] = [
        Self::Success,
        Self::FailedBlock,
        Self::FailingTool,
        Self::Unauthorized,
        Self::RateLimited,
        Self::Overloaded,
        Self::ContextOverflow,
        Self::Hang,
        Self::LostSession,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::FailedBlock => "failed_block",
            Self::FailingTool => "failing_tool",
            Self::Unauthorized => "unauthorized",
            Self::RateLimited => "rate_limited",
            Self::Overloaded => "overloaded",
            Self::ContextOverflow => "context_overflow",
            Self::Hang => "hang",
            Self::LostSession => "lost_session",
        }
    }

    pub(crate) fn replies(self, cli: Cli) -> Vec<Reply> {
        match self {
            Self::Success => vec![
                Reply::write("out.txt", "hello"),
                Reply::run("grep -q hello out.txt"),
                Reply::say(DONE),
            ],
            Self::FailedBlock => vec![Reply::say(FAILED)],
            Self::FailingTool => vec![Reply::run("cat missing.txt"), Reply::say(FAILED)],
            Self::Unauthorized => vec![unauthorized(cli)],
            Self::RateLimited => vec![rate_limited(cli)],
            Self::Overloaded => vec![overloaded(cli)],
            Self::ContextOverflow => vec![overflow(cli)],
            Self::Hang => vec![Reply::Hang],
            Self::LostSession => vec![Reply::say(DONE)],
        }
    }

    /// An unknown session, where one is to be resumed.
    pub(crate) fn session(self, cli: Cli) -> Option<&'static str> {
        let id = match cli {
            Cli::Opencode => "ses_000000000000000000000000XX",
            _ => "00000000-0000-4000-8000-000000000000",
        };
        (self == Self::LostSession).then_some(id)
    }
}

/// A run with an agent, and how it must end.
pub(crate) struct Scenario {
    pub(crate) name: &'static str,
    pub(crate) flags: &'static [&'static str],
    pub(crate) replies: fn(Cli) -> Vec<Reply>,
    pub(crate) exit: i32,
    /// All attempts in order; how often one that costs nothing is repeated does not matter.
    pub(crate) attempts: &'static [Attempt],
    /// The run is killed while a tool is at work, and then goes on.
    pub(crate) kill: bool,
    /// Whether the last attempt goes on with the session of the one before, or must not.
    pub(crate) resumes: Option<bool>,
    /// The rows that are ticked in the end.
    pub(crate) done: &'static [&'static str],
}

/// The task that is tried, the class of the attempt, and whether it is charged to the task and
/// the run.
pub(crate) type Attempt = (&'static str, &'static str, bool);

const GOOD: Attempt = ("1.1", "ordinary", true);
const INTERRUPTED: Attempt = ("1.1", "interrupted", false);

const PLAIN: Scenario = Scenario {
    name: "",
    flags: &[],
    replies: |_| Vec::new(),
    exit: 0,
    attempts: &[GOOD],
    kill: false,
    resumes: None,
    done: &["1.1"],
};

const COPY: &str = "cp source.txt out.txt";
const NO_SOURCE: &str = "Task 1.1: Write it FAILED\n- Error: cp: cannot stat 'source.txt': No such file or directory\n- Attempted fix: none\n- Status: Blocked";

/// Those of an agent, as it is known to be.
pub(crate) fn scenarios(candidate: Candidate) -> impl Iterator<Item = Scenario> {
    let over_gemini = candidate.over_acp && candidate.cli == Cli::Gemini;
    let over_opencode = candidate.over_acp && candidate.cli == Cli::Opencode;
    SCENARIOS
        .into_iter()
        .filter_map(move |scenario| match scenario.name {
            // It tries for minutes, and says nothing of it.
            "overloaded" if over_gemini => None,
            // It keeps a session only when a turn has ended.
            "killed_in_mid_tool" if over_gemini => Some(Scenario {
                attempts: &[INTERRUPTED, ("1.1", "session", false), GOOD],
                resumes: Some(false),
                ..scenario
            }),
            // It gets over two of them by itself, and then nothing is told.
            "context_overflow" if over_opencode => Some(Scenario {
                attempts: &[GOOD],
                resumes: None,
                ..scenario
            }),
            _ => Some(scenario),
        })
}

const SCENARIOS: [Scenario; 10] = [
    Scenario {
        name: "success",
        replies: |_| vec![Reply::write("out.txt", "hello"), Reply::say(DONE)],
        ..PLAIN
    },
    Scenario {
        name: "failed_block",
        flags: &["--max-task-iterations", "1"],
        replies: |_| vec![Reply::say(FAILED)],
        exit: 1,
        done: &[],
        ..PLAIN
    },
    Scenario {
        name: "false_claim",
        flags: &["--max-task-iterations", "1"],
        replies: |_| vec![Reply::say(DONE)],
        exit: 1,
        done: &[],
        ..PLAIN
    },
    // The same command fails before the fix, and works after it.
    Scenario {
        name: "failing_tool_healed_by_fix",
        flags: &["--recovery-mode"],
        replies: |_| {
            vec![
                Reply::run(COPY),
                Reply::say(NO_SOURCE),
                Reply::write("source.txt", "hello"),
                Reply::say(DONE),
                Reply::run(COPY),
                Reply::say(DONE),
            ]
        },
        attempts: &[GOOD, ("1.1.1", "ordinary", true), GOOD],
        done: &["1.1", "1.1.1"],
        ..PLAIN
    },
    Scenario {
        name: "unauthorized",
        replies: |cli| vec![unauthorized(cli)],
        exit: 78,
        attempts: &[("1.1", "fatal", false)],
        done: &[],
        ..PLAIN
    },
    Scenario {
        name: "rate_limited",
        flags: &["--max-wait", "10s"],
        replies: |cli| vec![rate_limited(cli)],
        exit: 75,
        attempts: &[("1.1", "transient", false)],
        done: &[],
        ..PLAIN
    },
    Scenario {
        name: "overloaded",
        flags: &["--max-wait", "10s"],
        replies: |cli| vec![overloaded(cli)],
        exit: 75,
        attempts: &[("1.1", "transient", false)],
        done: &[],
        ..PLAIN
    },
    Scenario {
        name: "context_overflow",
        replies: |cli| {
            vec![
                overflow(cli),
                overflow(cli),
                Reply::write("out.txt", "hello"),
                Reply::say(DONE),
            ]
        },
        attempts: &[("1.1", "session", false), GOOD],
        resumes: Some(false),
        ..PLAIN
    },
    Scenario {
        name: "hang_then_resume",
        flags: &["--timeout", "45s"],
        replies: |_| {
            vec![
                Reply::write("remembered.txt", "x"),
                Reply::Hang,
                Reply::write("out.txt", "hello"),
                Reply::say(DONE),
            ]
        },
        attempts: &[GOOD, GOOD],
        resumes: Some(true),
        ..PLAIN
    },
    Scenario {
        name: "killed_in_mid_tool",
        replies: |_| {
            vec![
                Reply::run("touch started; sleep 300"),
                Reply::write("out.txt", "hello"),
                Reply::say(DONE),
            ]
        },
        attempts: &[INTERRUPTED, GOOD],
        kill: true,
        resumes: Some(true),
        ..PLAIN
    },
];
