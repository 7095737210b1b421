//! The cases that are recorded.

use super::install::Cli;
use super::reply::{Failure, Reply};

pub(crate) const FAILED: &str = "Task 1.1: Write it FAILED\n- Error: File not found: src/parser.ts\n- Attempted fix: Checked alternate paths\n- Status: Blocked, needs manual intervention";
pub(crate) const DONE: &str = "All done.\nTASK_COMPLETE";

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

    /// A session that nobody knows, where one is to be resumed.
    pub(crate) fn session(self, cli: Cli) -> Option<&'static str> {
        let id = match cli {
            Cli::Opencode => "ses_000000000000000000000000XX",
            _ => "00000000-0000-4000-8000-000000000000",
        };
        (self == Self::LostSession).then_some(id)
    }
}

pub(crate) fn unauthorized(cli: Cli) -> Reply {
    match cli {
        Cli::Claude => Reply::fail(401, "authentication_error", "invalid x-api-key"),
        Cli::Codex | Cli::Opencode => {
            Reply::fail(401, "invalid_api_key", "Incorrect API key provided: dummy.")
        }
        Cli::Gemini => Reply::fail(401, "UNAUTHENTICATED", "API key not valid."),
    }
}

/// An hour: nobody waits for it inside of an agent.
pub(crate) fn rate_limited(cli: Cli) -> Reply {
    let word = match cli {
        Cli::Claude => "rate_limit_error",
        Cli::Codex | Cli::Opencode => "rate_limit_exceeded",
        Cli::Gemini => "RESOURCE_EXHAUSTED",
    };
    Reply::Fail(Failure {
        status: 429,
        word,
        message: "Rate limit reached. Please try again in 3600s.",
        retry_after: Some(3600),
    })
}

pub(crate) fn overloaded(cli: Cli) -> Reply {
    match cli {
        Cli::Claude => Reply::fail(529, "overloaded_error", "Overloaded"),
        Cli::Codex | Cli::Opencode => Reply::fail(503, "server_is_overloaded", "overloaded"),
        Cli::Gemini => Reply::fail(503, "UNAVAILABLE", "The model is overloaded."),
    }
}

pub(crate) fn overflow(cli: Cli) -> Reply {
    match cli {
        Cli::Claude => Reply::fail(
            400,
            "invalid_request_error",
            "prompt is too long: 214321 tokens > 200000 maximum",
        ),
        Cli::Codex | Cli::Opencode => Reply::fail(
            400,
            "context_length_exceeded",
            "This model's maximum context length is 100000 tokens.",
        ),
        Cli::Gemini => Reply::fail(
            400,
            "INVALID_ARGUMENT",
            "The input token count (1048577) exceeds the maximum number of tokens allowed (1048576).",
        ),
    }
}
