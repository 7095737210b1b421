//! Finds out which of the tests that failed a task is responsible for.
//!
//! Tests that are red run again alone; those that pass then are flaky. The check runs on the state from
//! before the task; tests that are red there as well are known failures. Before one of them is excused,
//! the check runs as a whole once more, and two controls show that the comparison means something: beside
//! the tree, the present state has the same results, and code that is unreadable there changes them.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::Path;
use std::time::{Duration, Instant};

use regreen_diagnosis::{Scanner, SilentCheck, check_failure, evidence_of};
use regreen_engine::TestReviewOrder;
use regreen_model::{Failure, FailureRecord, FlakyTest, Source, TestReview, VerifyCommand};
use regreen_supervisor::{EndReason, Stdin, Stream};
use regreen_tampering::is_part_of_tests;
use regreen_test_results::{TestCommand, TestResults};
use regreen_workspace::{AttemptName, Oid, RelPath};

use super::tampering::review_check;
use super::tests_before::Checkout;
use crate::history::EarlierRuns;
use crate::log_file::{Excerpt, LogFile};
use crate::observer::RunObserver;
use crate::performer::{PerformError, Performer};
use crate::process::{Job, Processes, Sink, ending_of};
use crate::verify::{COMPARED_BYTES, Check, CheckResult, QUOTED_BYTES, why_cancelled};

/// How often a red test runs again.
const RUNS_ALONE: u32 = 4;
/// How often the whole check runs again if its tests can't run alone.
const RUNS_WHOLE: u32 = 2;
/// The most red tests that run again: if more fail, the cause is not chance.
const MAX_CHANCE: usize = 10;
/// Nothing runs again after this time.
const REPEAT_TIME: Duration = Duration::from_secs(5 * 60);
/// Changed files that no test runs.
const PROSE: [&str; 4] = [".md", ".txt", ".rst", ".adoc"];

/// How a command that runs tests ended.
#[derive(Clone, Debug)]
pub(crate) struct TestRun {
    results: TestResults,
    /// The end of its output.
    printed: String,
    diagnosis: Option<Box<Failure>>,
}

pub(crate) fn review_tests(
    performer: &mut Performer,
    order: &TestReviewOrder,
    earlier: &EarlierRuns<'_>,
    observer: &mut dyn RunObserver,
) -> Result<TestReview, PerformError> {
    let before = state_before(performer, order, earlier)?;
    let stem = format!("{}.tests", order.attempt);
    let review = review_as(performer, order, &stem, before, observer)?;
    after_foreign_code(performer, order, review)
}

/// Reviews the tests of a check that failed in the final check, where nothing is compared with earlier
/// states.
pub(super) fn review_repeated(
    performer: &mut Performer,
    order: &TestReviewOrder,
    observer: &mut dyn RunObserver,
) -> Result<TestReview, PerformError> {
    review_as(performer, order, "final.tests", None, observer)
}

fn review_as(
    performer: &mut Performer,
    order: &TestReviewOrder,
    stem: &str,
    before: Option<Oid>,
    observer: &mut dyn RunObserver,
) -> Result<TestReview, PerformError> {
    let mut review = TestReview {
        failure: Box::new(order.failure.clone()),
        ..TestReview::default()
    };
    let Some(command) = TestCommand::parse(&order.red.command) else {
        review.unexplained = Some("its command does more than run tests".to_owned());
        return Ok(review);
    };
    let folder = performer.paths.task_folder(&performer.run, &order.task);
    let log = LogFile::create(&folder, stem)?;
    let mut reviewer = Reviewer {
        performer,
        order,
        observer,
        command,
        log,
        review,
        before,
        alone: None,
    };
    reviewer.review()?;
    let Reviewer { log, review, .. } = reviewer;
    log.finish()?;
    Ok(review)
}

/// The tests may have been written by the agent: they must neither move the branch nor weaken a check.
fn after_foreign_code(
    performer: &mut Performer,
    order: &TestReviewOrder,
    mut review: TestReview,
) -> Result<TestReview, PerformError> {
    let name = AttemptName::new(&performer.run, &order.task, order.attempt);
    let moved = performer.tree.put_head_back(&name)?;
    if let Some(error) = moved.or(review_check(performer)?) {
        review.unexplained = Some("the tests changed what checks them".to_owned());
        *review.failure = FailureRecord::new(error);
    }
    Ok(review)
}

/// Returns the state from before the first attempt at the task, in this run or an earlier one.
fn state_before(
    performer: &Performer,
    order: &TestReviewOrder,
    earlier: &EarlierRuns<'_>,
) -> Result<Option<Oid>, PerformError> {
    let unfinished = earlier.unfinished(&order.task)?;
    let first = unfinished
        .last()
        .map_or(performer.run.as_str(), |run| run.as_str());
    Ok(performer.tree.before_task(first, &order.task))
}

struct Reviewer<'a> {
    performer: &'a mut Performer,
    order: &'a TestReviewOrder,
    observer: &'a mut dyn RunObserver,
    command: TestCommand,
    log: LogFile,
    review: TestReview,
    /// The state before the task.
    before: Option<Oid>,
    /// The last run of red tests alone, and these tests.
    alone: Option<(BTreeSet<String>, TestRun)>,
}

impl Reviewer<'_> {
    fn review(&mut self) -> Result<(), PerformError> {
        let at_first = self.order.red_at_first.clone().unwrap_or_default();
        let red = self.order.red.failed.union(&at_first).cloned().collect();
        self.sort(red)?;
        if !self.may_excuse() {
            self.blame_new();
            return Ok(());
        }
        let now = self.run_whole(None)?;
        if !now.results.is_complete {
            self.give_up("something other than a test went wrong as well");
            return Ok(());
        }
        let unexpected = &now.results.failed - &self.explained();
        self.sort(unexpected)?;
        self.forget_known_that_pass(&now);
        if !self.may_excuse() {
            self.blame_new();
            return Ok(());
        }
        if !self.review.known.is_empty() {
            self.compare_with_before(&now)?;
        }
        self.run_other_commands()
    }

    fn may_excuse(&self) -> bool {
        self.review.new.is_empty() && self.review.unexplained.is_none()
    }

    fn give_up(&mut self, why: &str) {
        self.review.unexplained = Some(why.to_owned());
    }

    /// The tests for whose failure there is an excuse.
    fn explained(&self) -> BTreeSet<String> {
        let flaky = self.review.flaky.iter().map(|flaky| flaky.test.clone());
        let known = self.review.known_failures().into_iter();
        flaky.chain(known).collect()
    }

    /// Finds out why these tests are red.
    fn sort(&mut self, red: BTreeSet<String>) -> Result<(), PerformError> {
        let (accepted, red): (BTreeSet<_>, BTreeSet<_>) = red
            .into_iter()
            .partition(|test| self.order.accepted.contains(test));
        self.review.accepted.extend(accepted);
        let (quarantined, red): (BTreeSet<_>, BTreeSet<_>) = red
            .into_iter()
            .partition(|test| self.order.quarantined.contains(test));
        let flickered = quarantined.into_iter().map(|test| FlakyTest {
            test,
            runs: 1,
            failed: 1,
        });
        self.review.flaky.extend(flickered);
        let red = self.run_again(red)?;
        if red.is_empty() {
            return Ok(());
        }
        let known = match self.run_before()? {
            Ok(before) => &red & &before.results.failed,
            Err(why) => {
                self.give_up(&format!(
                    "the check did not run on the state before the task: {why}"
                ));
                BTreeSet::new()
            }
        };
        self.review.new.extend(red.difference(&known).cloned());
        self.review.known.extend(known);
        Ok(())
    }

    /// Runs red tests again, alone if that is possible. Returns those that never pass.
    fn run_again(&mut self, mut red: BTreeSet<String>) -> Result<BTreeSet<String>, PerformError> {
        let began = Instant::now();
        if red.len() > MAX_CHANCE {
            return Ok(red);
        }
        for run in 1..=RUNS_ALONE {
            if red.is_empty() || began.elapsed() > REPEAT_TIME {
                break;
            }
            let result = match self.command.alone(&red) {
                Some(argv) => {
                    let result = self.run_alone(argv)?;
                    self.alone = Some((red.clone(), result.clone()));
                    result
                }
                None if run <= RUNS_WHOLE => self.run_whole(None)?,
                None => break,
            };
            let (green, still_red): (BTreeSet<_>, BTreeSet<_>) = red
                .into_iter()
                .partition(|test| result.results.passed.contains(test));
            red = still_red;
            self.review
                .flaky
                .extend(green.into_iter().map(|test| FlakyTest {
                    test,
                    // It had failed in both runs of the check.
                    runs: run + 2,
                    failed: run + 1,
                }));
        }
        Ok(red)
    }

    /// Runs the check on the state before the task, once per run of regreen; says why if it can't.
    fn run_before(&mut self) -> Result<Result<TestRun, String>, PerformError> {
        let Some(tree) = self.before.clone() else {
            return Ok(Err("that state is not known".to_owned()));
        };
        let whole = self.command.whole();
        if let Some(known) = self.performer.tests_before.known(&tree, &whole) {
            return Ok(Ok(known.clone()));
        }
        let checkout = match Checkout::of(self.performer, &tree) {
            Ok(checkout) => checkout,
            Err(why) => return Ok(Err(why)),
        };
        let run = self.run_whole(Some(&checkout.root))?;
        let results = &run.results;
        if !results.is_complete && results.failed.is_empty() {
            return Ok(Err("no test is named".to_owned()));
        }
        self.performer.tests_before.learn(&tree, &whole, &run);
        Ok(Ok(run))
    }

    /// A test that was red before and passes now and then is flaky.
    fn forget_known_that_pass(&mut self, now: &TestRun) {
        let passing = &self.review.known & &now.results.passed;
        self.review.known = &self.review.known - &passing;
        self.review
            .flaky
            .extend(passing.into_iter().map(|test| FlakyTest {
                test,
                runs: RUNS_ALONE + 3,
                failed: RUNS_ALONE + 2,
            }));
    }

    /// Finds what turned green, and gives up unless the state before the task can be compared.
    fn compare_with_before(&mut self, now: &TestRun) -> Result<(), PerformError> {
        let before = match self.run_before()? {
            Ok(before) => before,
            Err(why) => {
                self.give_up(&why);
                return Ok(());
            }
        };
        self.review.turned_green = &before.results.failed & &now.results.passed;
        if self.review.turned_green.is_empty() {
            // The task fails, whatever the controls show.
            return Ok(());
        }
        let (Some(before_tree), Some(now_tree)) =
            (self.before.clone(), self.performer.tree.current())
        else {
            self.give_up("the present state is not known");
            return Ok(());
        };
        if let Some(why) = self.present_differs_beside(&now_tree, now)? {
            self.give_up(&why);
            return Ok(());
        }
        if !self.reads_the_checkout(&before_tree, &now_tree, &before)? {
            self.give_up("beside the work tree, the check still reads its code, for example because the project is installed there in editable form");
        }
        Ok(())
    }

    /// Runs the check on the present state beside the tree, where it must have the same results.
    fn present_differs_beside(
        &mut self,
        tree: &Oid,
        now: &TestRun,
    ) -> Result<Option<String>, PerformError> {
        let checkout = match Checkout::of(self.performer, tree) {
            Ok(checkout) => checkout,
            Err(why) => return Ok(Some(why)),
        };
        let beside = self.run_whole(Some(&checkout.root))?;
        let flaky: BTreeSet<String> = self
            .review
            .flaky
            .iter()
            .map(|one| one.test.clone())
            .collect();
        let steady = |run: &TestRun| &run.results.failed - &flaky;
        let is_same = beside.results.is_complete && steady(&beside) == steady(now);
        Ok((!is_same).then(|| "beside the work tree, the check has other results".to_owned()))
    }

    /// Whether code beside the tree decides about the results. If all changed code is in tests, the rest
    /// is the same on both sides.
    fn reads_the_checkout(
        &mut self,
        before: &Oid,
        now: &Oid,
        results: &TestRun,
    ) -> Result<bool, PerformError> {
        let changed = self.performer.tree.changed_between(before, now);
        let own = self.performer.paths.spec_files();
        let is_code = |path: &&RelPath| {
            let name = path.to_string();
            let is_prose = PROSE.iter().any(|end| name.ends_with(end));
            !is_prose && !is_part_of_tests(&name) && !own.contains(&Some((*path).clone()))
        };
        let code: Vec<&RelPath> = changed.iter().filter(is_code).collect();
        let Ok(checkout) = Checkout::of(self.performer, before) else {
            return Ok(false);
        };
        if !checkout.spoil(code.into_iter()) {
            return Ok(true);
        }
        let spoilt = self.run_whole(Some(&checkout.root))?;
        Ok(spoilt.results != results.results)
    }

    /// Runs the commands after the one that failed.
    fn run_other_commands(&mut self) -> Result<(), PerformError> {
        let order = self.order;
        let stem = format!("{}.verify-rest", order.attempt);
        let check = self
            .performer
            .check(&order.task, stem, &order.commands, &order.environment);
        let check = Check {
            gate: order.gate.as_deref(),
            timeout_ms: order.timeout_ms,
            ..check
        };
        let all: Vec<VerifyCommand> = self.performer.context.runnable(&check);
        let at = all.iter().position(|one| one.command == order.red.command);
        let Some(rest) = at.and_then(|at| all.get(at + 1..)) else {
            self.give_up("the commands of the check are no longer the same");
            return Ok(());
        };
        let check = Check {
            commands: rest,
            gate: None,
            ..check
        };
        let result = self.performer.context.verify(&check, self.observer)?;
        if let CheckResult::Failed { failure, .. } = result {
            *self.review.failure = failure;
            self.give_up("another command of the check failed");
        }
        Ok(())
    }

    /// Lets the failure name only what the task is responsible for, if there is anything else.
    fn blame_new(&mut self) {
        let others = self.explained();
        if others.is_empty() || self.review.new.is_empty() {
            return;
        }
        let names = |tests: &BTreeSet<String>| {
            let names: Vec<&str> = tests.iter().take(MAX_CHANCE).map(String::as_str).collect();
            names.join(", ")
        };
        let new = names(&self.review.new);
        let head = format!(
            "Verify failed: `{}`: these tests fail because of this task: {new} (not because of it: {})",
            self.order.red.command,
            names(&others)
        );
        let own = self.alone.take();
        let failure = match own.filter(|(tests, _)| *tests == self.review.new) {
            Some((_, run)) => FailureRecord {
                error: format!("{head}\n{}", run.printed),
                diagnosis: run.diagnosis,
                ..self.order.failure.clone()
            },
            None => FailureRecord {
                error: format!("{head}\n{}", self.order.failure.error),
                ..self.order.failure.clone()
            },
        };
        *self.review.failure = failure;
    }

    /// Runs all tests, in the work tree or beside it.
    fn run_whole(&mut self, beside: Option<&Path>) -> Result<TestRun, PerformError> {
        let text = self.command.whole();
        let argv = self
            .performer
            .context
            .shell_argv(&format!("{text} 2>&1"), None);
        self.run(argv, &text, beside)
    }

    fn run_alone(&mut self, argv: Vec<String>) -> Result<TestRun, PerformError> {
        let shown = argv.join(" ");
        let shell: OsString = self.performer.context.shell.clone().into();
        // The names are arguments, never part of the script.
        let begin = [shell.clone(), "-c".into(), "exec \"$@\" 2>&1".into(), shell];
        let argv = begin
            .into_iter()
            .chain(argv.into_iter().map(OsString::from));
        self.run(argv.collect(), &shown, None)
    }

    fn run(
        &mut self,
        argv: Vec<OsString>,
        shown: &str,
        beside: Option<&Path>,
    ) -> Result<TestRun, PerformError> {
        let context = &self.performer.context;
        let shown = context.processes.masks.mask(shown);
        self.observer.activity(&shown);
        let place = if beside.is_some() {
            " (another state, beside the work tree)"
        } else {
            ""
        };
        self.log.write(format!("$ {shown}{place}\n").as_bytes());
        let mut env = context
            .project_programs
            .environment(&self.order.environment)?;
        if let Some(root) = beside {
            // The workspace's own build must stay as it is.
            env.push(("CARGO_TARGET_DIR".into(), Some(root.join("target").into())));
        }
        let timeout = Duration::from_millis(self.order.timeout_ms);
        let processes = Processes {
            root: beside.map_or_else(|| context.processes.root.clone(), Path::to_owned),
            ..context.processes.clone()
        };
        let job = Job {
            argv,
            env,
            stdin: Stdin::Empty,
            timeout,
            idle: None,
            purpose: format!("{}:verify", self.order.task.id),
        };
        let mut output = TestOutput {
            log: &mut self.log,
            all: Excerpt::new(COMPARED_BYTES),
            scanner: Scanner::new(Source::Command).with_own_rules(context.own_rules.clone()),
        };
        let ended = processes.run(job, &mut output)?;
        if ended.reason == EndReason::Cancelled {
            return Err(why_cancelled(&processes.stop, output.log));
        }
        let (ending, code) = (ending_of(&ended, timeout), ended.exit.shell_code());
        output.log.write(format!("[exit code {code}]\n").as_bytes());
        let is_whole = !ending.timed_out && !output.all.is_cut();
        let read = self.command.results(&output.all.text());
        // A program that fails without naming a test failed for another reason.
        let agrees = (code == 0) == read.failed.is_empty();
        let command = Some(shown);
        let evidence = evidence_of(output.scanner.finish(), Source::Command, command, ending);
        let printed = output.all.end(QUOTED_BYTES);
        let masked = |names: BTreeSet<String>| context.masked(&names);
        let silent = printed.trim().is_empty().then(|| SilentCheck {
            exit_code: code,
            line: evidence
                .command
                .as_deref()
                .and_then(|text| text.lines().next()),
            finding: None,
        });
        Ok(TestRun {
            results: TestResults {
                failed: masked(read.failed),
                passed: masked(read.passed),
                is_complete: read.is_complete && is_whole && agrees,
                passed_count: read.passed_count,
            },
            diagnosis: check_failure(&evidence, silent).map(Box::new),
            printed,
        })
    }
}

struct TestOutput<'l> {
    log: &'l mut LogFile,
    all: Excerpt,
    scanner: Scanner,
}

impl Sink for TestOutput<'_> {
    fn take(&mut self, _stream: Stream, bytes: &[u8]) -> bool {
        self.all.push(bytes);
        self.scanner.feed(bytes);
        self.log.write(bytes)
    }
}
