//! The runs that every view has to show.

use regreen_engine::CommitResult;
use regreen_model::{
    AttemptClass, AttemptReport, Claim, Limits, OutlineKind, OutlineRow, PlanChanges, RunConfig,
    StopSignal, Timestamp, Usage, Verdict, VerifyCommand,
};
use regreen_reporters::Reporter;

use crate::run::{Run, done, fix, key, picked, row};

pub(crate) const RED: &str = "exit code 101: cargo test\n\nrunning 2 tests\nthread 'tests::prints' panicked at src/print.rs:7:5:\nassertion `left == right` failed\n  left: 1\n right: 2\ntest result: FAILED. 1 passed; 1 failed\n";

pub(crate) fn config() -> RunConfig {
    RunConfig {
        spec: "demo".to_owned(),
        agent: "command:./agent.sh".to_owned().into(),
        ..RunConfig::default()
    }
}

pub(crate) fn signalled() -> AttemptReport {
    AttemptReport {
        signalled: true,
        files_changed: 2,
        ..AttemptReport::default()
    }
}

/// An attempt that passes and uses tokens.
pub(crate) fn spending(tokens: u64, micro_usd: u64) -> AttemptReport {
    let usage = Usage {
        input_tokens: tokens,
        cost_micro_usd: Some(micro_usd),
        ..Usage::default()
    };
    AttemptReport {
        usage: Some(usage),
        ..signalled()
    }
}

/// The agent's service asks to try again at 04:51:40.
fn away() -> AttemptReport {
    let class = AttemptClass::Transient {
        why: "429 rate limit".to_owned(),
        until: Some(Timestamp::from_millis(1_794_804_700_000)),
    };
    AttemptReport {
        class,
        ..AttemptReport::default()
    }
}

fn red() -> Verdict {
    Verdict::Red {
        error: RED.to_owned(),
    }
}

fn commit(hash: &str) -> CommitResult {
    CommitResult::Done {
        hash: hash.to_owned(),
        warnings: Vec::new(),
    }
}

fn rows() -> Vec<OutlineRow> {
    vec![
        done(row("1.1", "Parse the file")),
        row("1.2", "Print it again"),
        OutlineRow {
            optional: true,
            ..row("1.3", "Make it fast")
        },
        row("1.4", "Write the guide"),
    ]
}

/// Everything works out in the end, after trouble of every kind.
pub(crate) fn well_in_the_end<R: Reporter>(view: R) -> Run<R> {
    let mut run = Run::start(view, config());
    let mut rows = rows();
    let print = picked(&rows[1], &["cargo test"], Some("feat: print"));
    run.pass(3).plan(&rows, Some(print));
    fails_and_passes(&mut run);
    rows[1].done = true;
    rows.push(row("1.5", "Check the links"));
    let guide = picked(&rows[3], &[], None);
    run.pass(1).plan(&rows, Some(guide));
    is_reminded(&mut run);
    rows[3].done = true;
    let links = picked(&rows[4], &["./links.sh --all"], Some("docs: links"));
    run.pass(1).plan(&rows, Some(links));
    waits(&mut run);
    rows[4].done = true;
    run.pass(1).plan(&rows, None);
    run.finally_checked(2_000, 0).plan(&rows, None);
    run
}

/// The last task breaks the first, and the final check finds it.
pub(crate) fn breaks_what_passed<R: Reporter>(view: R) -> Run<R> {
    let mut run = Run::start(view, config());
    let mut rows = vec![row("1.1", "Parse the file"), row("1.2", "Print it again")];
    for (at, check) in ["make parse", "make print"].into_iter().enumerate() {
        run.plan(&rows, Some(picked(&rows[at], &[check], None)));
        run.attempt(4_000, signalled())
            .verified(100, Verdict::Green);
        run.ticked().recorded();
        rows[at].done = true;
    }
    run.plan(&rows, None).finally_checked(2_000, 1).reopened();
    run
}

/// Fails twice, then fails once and passes: flaky. Meanwhile, the agent edits the plan.
fn fails_and_passes<R: Reporter>(run: &mut Run<R>) {
    run.attempt(12_000, signalled());
    run.verified(800, red()).verified(700, red());
    let links = key("1.5", "Check the links");
    let plan = PlanChanges {
        claims: vec![Claim {
            task: key("1.4", "Write the guide"),
            verify: vec![VerifyCommand::always("true")],
            is_red: false,
        }],
        put_back: vec![key("1.3", "Make it fast")],
        added: vec![links],
        warnings: vec!["task 1.3 had vanished from the plan and was put back".to_owned()],
        ..PlanChanges::default()
    };
    let report = AttemptReport {
        plan,
        ..signalled()
    };
    run.attempt(61_000, report);
    run.claims(&[], &[key("1.4", "Write the guide")]);
    run.verified(700, red()).verified(700, Verdict::Green);
    run.ticked().committed(commit("0a1b2c3")).recorded();
}

/// Nothing verifies it, and the first attempt lacks the signal.
fn is_reminded<R: Reporter>(run: &mut Run<R>) {
    let silent = AttemptReport {
        signalled: false,
        ..signalled()
    };
    run.attempt(5_000, silent).verified(1, Verdict::Unverified);
    run.attempt(2_000, signalled());
    run.verified(1, Verdict::Unverified);
    run.ticked().recorded();
}

/// The agent's service is unavailable, then its session is lost, then everything works.
fn waits<R: Reporter>(run: &mut Run<R>) {
    run.attempt(900, away()).waited();
    let class = AttemptClass::Session {
        why: "context window is full".to_owned(),
    };
    let lost = AttemptReport {
        class,
        ..AttemptReport::default()
    };
    run.attempt(30_000, lost).attempt(8_000, signalled());
    run.verified(300, Verdict::Green).ticked();
    run.committed(CommitResult::Nothing).recorded();
}

/// Two attempts and no more: the agent contradicts itself, then a hook refuses the commit.
pub(crate) fn limit_reached<R: Reporter>(view: R) -> Run<R> {
    let config = RunConfig {
        limits: Limits {
            task_iterations: 2,
            ..Limits::default()
        },
        ..config()
    };
    let mut run = Run::start(view, config);
    let rows = [
        done(row("1.1", "Parse the file")),
        done(fix(row("1.1.1", "Fix: boom"), 1)),
        row("1.2", "Print it again"),
        fix(row("1.2.1", "Fix: no such file"), 1),
    ];
    let print = picked(&rows[2], &["cargo test"], Some("feat: print"));
    run.pass(3).plan(&rows, Some(print));
    let torn = AttemptReport {
        contradiction: Some("could not complete".to_owned()),
        ..signalled()
    };
    run.attempt(3_000, torn);
    run.attempt(4_000, signalled());
    run.verified(100, Verdict::Green).ticked();
    let output = "trailing space in src/print.rs".to_owned();
    run.committed(CommitResult::HookFailed { output });
    run.pass(2).ticked();
    run
}

/// Someone presses Ctrl-C during an attempt.
pub(crate) fn stopped<R: Reporter>(view: R) -> Run<R> {
    let mut run = Run::start(view, config());
    let rows = rows();
    let print = picked(&rows[1], &["cargo test"], None);
    run.pass(3).plan(&rows, Some(print));
    run.pass(4_000).stopped(StopSignal::Interrupt);
    run
}

/// The stopped run resumes an hour later. The group is closed by its Verify alone, and then someone
/// keeps saving the plan.
pub(crate) fn goes_on<R: Reporter, V: Reporter>(stopped: Run<R>, view: V) -> Run<V> {
    let mut run = stopped.resumed(view, 3_600_000);
    run.attempt(1_000, signalled());
    run.verified(100, Verdict::Green).ticked().recorded();
    let group = OutlineRow {
        kind: OutlineKind::Group,
        ..row("2", "Ship it")
    };
    let rows = [done(row("1.2", "Print it again")), group.clone()];
    run.plan(&rows, Some(picked(&group, &["make ship"], None)));
    run.verified(50, Verdict::Green);
    run.contended("somebody saves tasks.md again and again");
    run
}

/// The agent's service is unavailable.
pub(crate) fn waiting<R: Reporter>(view: R) -> Run<R> {
    let mut run = Run::start(view, config());
    let rows = [row("1.1", "Parse the file")];
    run.plan(&rows, Some(picked(&rows[0], &[], None)));
    run.attempt(1_000, away());
    run
}

/// One task is done, with nothing to verify it.
pub(crate) fn unverified<R: Reporter>(view: R) -> Run<R> {
    let mut run = Run::start(view, config());
    let rows = [row("1.1", "Parse the file")];
    run.plan(&rows, Some(picked(&rows[0], &[], None)));
    run.attempt(1_000, signalled());
    run.verified(1, Verdict::Unverified).ticked().recorded();
    run
}
