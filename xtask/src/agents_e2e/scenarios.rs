//! The cases that are recorded, and the scenarios that runs must pass.

use super::agents::Candidate;
use super::agents::Cli;
use super::dialect::{
    DONE, FAILED, out_of_credit, overflow, overloaded, rate_limited, unauthorized, usage_limit,
};
use super::model_server::Reply;

/// Something that may happen to an agent.
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

    /// Returns an unknown session, if the case is about resuming one.
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
    /// All attempts in order, ignoring how often a free one is repeated.
    pub(crate) attempts: &'static [Attempt],
    /// The run is killed while a tool is running, then continues.
    pub(crate) kill: bool,
    /// Whether the last attempt must resume the session of the one before, or must not.
    pub(crate) resumes: Option<bool>,
    /// Whether the agent may lose its session, which costs the task nothing.
    pub(crate) may_lose_session: bool,
    /// The rows that are ticked at the end.
    pub(crate) done: &'static [&'static str],
    /// The task file.
    pub(crate) tasks: &'static str,
    /// The kinds of the failures in order, if they matter.
    pub(crate) kinds: &'static [&'static str],
    /// The changes to services, in order.
    pub(crate) services: &'static [&'static str],
}

/// The task, the class of the attempt, and whether it is charged to the task and the run.
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
    may_lose_session: false,
    done: &["1.1"],
    tasks: TASKS,
    kinds: &[],
    services: &[],
};

const TASKS: &str = "# Tasks\n\n- [ ] 1.1 Write it\n  - **Do**: Write the word hello into out.txt\n  - **Files**: out.txt\n  - **Verify**: `grep -q hello out.txt`\n";

/// A server that three tasks need.
const SERVICE_TASKS: &str = "# Tasks

- [ ] 1.1 Serve
  - **Service**: `sh -c 'echo $$ >up; trap \"rm -f up; exit 0\" TERM; while :; do sleep 0.1; done'`
  - **Ready**: `test -f up`
- [ ] 1.2 Use it
  - **Do**: Ask the server, and write one.txt
  - **Verify**: `kill -0 $(cat up) && grep -q hello one.txt`
- [ ] 1.3 Use it again
  - **Do**: Ask the server, and write two.txt
  - **Verify**: `kill -0 $(cat up) && grep -q hello two.txt`
- [ ] 1.4 And again
  - **Do**: Ask the server, and write three.txt
  - **Verify**: `kill -0 $(cat up) && grep -q hello three.txt`
";
/// The agent's command for such a task, which fails without the server.
const USE_1: &str = "test -f up && echo hello >one.txt";
const USE_2: &str = "test -f up && echo hello >two.txt";
const USE_3: &str = "test -f up && echo hello >three.txt";

const ASKED: &[&str] = &["asked_question", "asked_question"];

const COPY: &str = "cp source.txt out.txt";
const NO_SOURCE: &str = "Task 1.1: Write it FAILED\n- Error: cp: cannot stat 'source.txt': No such file or directory\n- Attempted fix: none\n- Status: Blocked";

/// Returns the scenarios for an agent, adapted to its known behavior.
pub(crate) fn scenarios(candidate: Candidate) -> impl Iterator<Item = Scenario> {
    let over_gemini = candidate.over_acp && candidate.cli == Cli::Gemini;
    let over_opencode = candidate.over_acp && candidate.cli == Cli::Opencode;
    SCENARIOS
        .into_iter()
        .filter_map(move |scenario| match scenario.name {
            // It retries for minutes without reporting it.
            "overloaded" if over_gemini => None,
            // It saves a session only when a turn has ended.
            "killed_in_mid_tool" if over_gemini => Some(Scenario {
                attempts: &[INTERRUPTED, ("1.1", "session", false), GOOD],
                resumes: Some(false),
                ..scenario
            }),
            // When it loads a session, it sometimes overwrites it first.
            "hang_then_resume" if over_gemini => Some(Scenario {
                may_lose_session: true,
                resumes: None,
                ..scenario
            }),
            // It recovers from two overflows on its own, without reporting them.
            "context_overflow" if over_opencode => Some(Scenario {
                attempts: &[GOOD],
                resumes: None,
                ..scenario
            }),
            // Their question tools only work in their own screens.
            "question_tool" if matches!(candidate.cli, Cli::Codex | Cli::Opencode) => None,
            // It never asks for permission without its screen.
            "permission_asked" if candidate.cli == Cli::Codex => None,
            // Without a screen, it has no tool that would need permission.
            "permission_asked" if candidate.cli == Cli::Gemini && !candidate.over_acp => None,
            // Over the protocol, no tool asks a question.
            "question_tool" if candidate.over_acp => None,
            // It retries for minutes without reporting it.
            "usage_limit" if over_gemini => None,
            _ => Some(scenario),
        })
}

const SCENARIOS: [Scenario; 16] = [
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
        name: "question_in_words",
        flags: &["--recovery-mode"],
        replies: |_| {
            vec![Reply::say(
                "I read the task. Which encoding should the file have?",
            )]
        },
        exit: 3,
        attempts: &[GOOD, GOOD],
        done: &[],
        kinds: ASKED,
        ..PLAIN
    },
    Scenario {
        name: "question_tool",
        flags: &["--recovery-mode"],
        replies: |_| vec![Reply::ask("Tabs or blanks?")],
        exit: 3,
        attempts: &[GOOD, GOOD],
        done: &[],
        kinds: ASKED,
        ..PLAIN
    },
    Scenario {
        name: "permission_asked",
        flags: &["--recovery-mode", "--agent-permissions", "own"],
        replies: |_| vec![Reply::run("echo hello >out.txt")],
        exit: 3,
        attempts: &[GOOD, GOOD],
        done: &[],
        kinds: ASKED,
        ..PLAIN
    },
    Scenario {
        name: "usage_limit",
        flags: &["--max-wait", "10s"],
        replies: |cli| vec![usage_limit(cli)],
        exit: 75,
        attempts: &[("1.1", "transient", false)],
        done: &[],
        ..PLAIN
    },
    Scenario {
        name: "out_of_credit",
        replies: |cli| vec![out_of_credit(cli)],
        exit: 78,
        attempts: &[("1.1", "fatal", false)],
        done: &[],
        ..PLAIN
    },
    Scenario {
        name: "service_over_three_tasks",
        replies: |_| {
            vec![
                Reply::run(USE_1),
                Reply::say(DONE),
                Reply::run(USE_2),
                Reply::say(DONE),
                Reply::run(USE_3),
                Reply::say(DONE),
            ]
        },
        tasks: SERVICE_TASKS,
        attempts: &[
            ("1.2", "ordinary", true),
            ("1.3", "ordinary", true),
            ("1.4", "ordinary", true),
        ],
        done: &["1.1", "1.2", "1.3", "1.4"],
        // The final check runs without what it was before: services end, and start again for it.
        services: &["started", "ended", "started", "ended"],
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
