//! What a run must come through, or end at, in the right way.

use super::candidate::Candidate;
use super::case::{DONE, FAILED, overflow, overloaded, rate_limited, unauthorized};
use super::install::Cli;
use super::reply::Reply;

/// One of them.
pub(crate) struct Cell {
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

const PLAIN: Cell = Cell {
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
pub(crate) fn cells(candidate: Candidate) -> impl Iterator<Item = Cell> {
    let over_gemini = candidate.over_acp && candidate.cli == Cli::Gemini;
    let over_opencode = candidate.over_acp && candidate.cli == Cli::Opencode;
    CELLS.into_iter().filter_map(move |cell| match cell.name {
        // It tries for minutes, and says nothing of it.
        "overloaded" if over_gemini => None,
        // It keeps a session only when a turn has ended.
        "killed_in_mid_tool" if over_gemini => Some(Cell {
            attempts: &[INTERRUPTED, ("1.1", "session", false), GOOD],
            resumes: Some(false),
            ..cell
        }),
        // It gets over two of them by itself, and then nothing is told.
        "context_overflow" if over_opencode => Some(Cell {
            attempts: &[GOOD],
            resumes: None,
            ..cell
        }),
        _ => Some(cell),
    })
}

const CELLS: [Cell; 10] = [
    Cell {
        name: "success",
        replies: |_| vec![Reply::write("out.txt", "hello"), Reply::say(DONE)],
        ..PLAIN
    },
    Cell {
        name: "failed_block",
        flags: &["--max-task-iterations", "1"],
        replies: |_| vec![Reply::say(FAILED)],
        exit: 1,
        done: &[],
        ..PLAIN
    },
    Cell {
        name: "false_claim",
        flags: &["--max-task-iterations", "1"],
        replies: |_| vec![Reply::say(DONE)],
        exit: 1,
        done: &[],
        ..PLAIN
    },
    // The same command fails before the fix, and works after it.
    Cell {
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
    Cell {
        name: "unauthorized",
        replies: |cli| vec![unauthorized(cli)],
        exit: 78,
        attempts: &[("1.1", "fatal", false)],
        done: &[],
        ..PLAIN
    },
    Cell {
        name: "rate_limited",
        flags: &["--max-wait", "10s"],
        replies: |cli| vec![rate_limited(cli)],
        exit: 75,
        attempts: &[("1.1", "transient", false)],
        done: &[],
        ..PLAIN
    },
    Cell {
        name: "overloaded",
        flags: &["--max-wait", "10s"],
        replies: |cli| vec![overloaded(cli)],
        exit: 75,
        attempts: &[("1.1", "transient", false)],
        done: &[],
        ..PLAIN
    },
    Cell {
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
    Cell {
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
    Cell {
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
