//! The parts of a run's result that must not depend on interruptions.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::time::Duration;

use regex::{Captures, Regex};
use regreen_store::Store;

use crate::fix_records;
use crate::project::{Finished, Project, SPEC};

/// Fields of the summary that an interruption changes.
const CHANGING: [&str; 4] = ["run", "attempts", "time_ms", "warnings"];

#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) duration: Duration,
    pub(crate) lines: usize,
    /// The facts that must be the same, by name.
    facts: BTreeMap<&'static str, String>,
    happened: String,
    attempts: Vec<Attempt>,
    /// Inconsistencies between rows, fixes and their records.
    pub(crate) fix_records: Vec<String>,
}

/// An attempt in the history: its task and its result.
#[derive(Debug)]
struct Attempt {
    task: String,
    outcome: Option<String>,
}

impl Outcome {
    pub(crate) fn of(project: &Project, run: &Finished, duration: Duration) -> Self {
        let read = |path: &str| fs::read_to_string(project.path(path)).unwrap_or_default();
        let (tasks, state) = (read("specs/k/tasks.md"), read("specs/k/.ralph-state.json"));
        let progress = read("specs/k/.progress.md");
        let fix_records = fix_records::complaints(&tasks, &state, &progress);
        let mut facts = BTreeMap::from([
            ("exit code", format!("{:?}", run.status.code())),
            ("stderr", run.stderr.clone()),
            ("tasks.md", tasks),
            ("state", without_runs(&state)),
            (".progress.md", with_subjects(project, &progress)),
            ("summary", summary(&run.stdout)),
            ("files", files(&project.root())),
            ("spec files", listing(&project.path(SPEC))),
        ]);
        if project.path(".git").exists() {
            facts.insert(
                "git log",
                project.git(&["log", "--format=%s", "--name-status"]),
            );
            facts.insert("git status", project.git(&["status", "--short"]));
            facts.insert("git folder", listing(&project.path(".git")));
        }
        let (runs, attempts) = history(&project.path(".regreen/regreen.db"));
        facts.insert("runs", runs);
        Self {
            duration,
            lines: run.stdout.lines().count(),
            facts,
            happened: project.notes.happened(),
            attempts,
            fix_records,
        }
    }

    /// Returns how often the scripts wrote this note.
    pub(crate) fn count(&self, word: &str) -> usize {
        let lines = self.happened.lines();
        lines
            .filter(|line| line.split(' ').next() == Some(word))
            .count()
    }

    /// Returns the differences from an undisturbed run, after a single interruption.
    pub(crate) fn complaints(&self, uninterrupted: &Self) -> Vec<String> {
        let facts = uninterrupted.facts.iter().filter_map(|(what, expected)| {
            let found = &self.facts[what];
            (found != expected)
                .then(|| format!("{what} is\n{found}\nand without a kill it was\n{expected}"))
        });
        let mut complaints: Vec<String> = facts.collect();
        complaints.extend(self.fix_records.iter().cloned());
        complaints.extend(self.work_done_twice(uninterrupted));
        complaints.extend(self.odd_history());
        complaints
    }

    /// The agent may run once more for the interrupted task, but for no other.
    fn work_done_twice(&self, uninterrupted: &Self) -> Option<String> {
        let ended: BTreeSet<&str> = self
            .happened
            .lines()
            .filter(|line| line.starts_with("ended "))
            .collect();
        let surplus: Vec<&str> = ended
            .into_iter()
            .filter(|done| self.times(done) > uninterrupted.times(done))
            .collect();
        let most = |line: &&str| self.times(line) - uninterrupted.times(line);
        let is_right = surplus.len() <= 1 && surplus.iter().map(most).sum::<usize>() <= 1;
        (!is_right).then(|| format!("worked on more than once: {surplus:?}"))
    }

    fn times(&self, noted: &str) -> usize {
        self.happened.lines().filter(|line| *line == noted).count()
    }

    /// Every attempt has an end, and at most one was interrupted.
    fn odd_history(&self) -> Option<String> {
        let has = |outcome: &str| {
            let is_it = |attempt: &&Attempt| attempt.outcome.as_deref() == Some(outcome);
            self.attempts.iter().filter(is_it).count()
        };
        let open: Vec<&str> = self
            .attempts
            .iter()
            .filter(|attempt| attempt.outcome.is_none())
            .map(|attempt| attempt.task.as_str())
            .collect();
        (!open.is_empty() || has("interrupted") > 1)
            .then(|| format!("attempts in the history: {:?}", self.attempts))
    }

    pub(crate) fn interruptions(&self) -> usize {
        let is_it = |attempt: &&Attempt| attempt.outcome.as_deref() == Some("interrupted");
        self.attempts.iter().filter(is_it).count()
    }
}

/// Returns the progress file with commit subjects in place of their hashes.
fn with_subjects(project: &Project, progress: &str) -> String {
    let hash = Regex::new("(?m) - ([0-9a-f]{7,40})$").unwrap();
    let subject = |found: &Captures<'_>| {
        let subject = project.git(&["log", "-1", "--format=%s", &found[1]]);
        format!(" - commit {}", subject.trim_end())
    };
    hash.replace_all(progress, subject).into_owned()
}

/// Removes run ids: requests are named after the attempt that made them.
fn without_runs(state: &str) -> String {
    let request = Regex::new(r"\d{8}-\d{6}(-\d+)?/\d+").unwrap();
    request.replace_all(state, "REQUEST").into_owned()
}

/// Returns the summary in the last event, without the fields that an interruption changes.
fn summary(stdout: &str) -> String {
    let last = stdout.lines().last().unwrap_or_default();
    let mut event: serde_json::Value = serde_json::from_str(last).unwrap_or_default();
    if let Some(summary) = event["summary"].as_object_mut() {
        summary.retain(|field, _| !CHANGING.contains(&field.as_str()));
    }
    event["summary"].to_string()
}

fn listing(folder: &Path) -> String {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names.join("\n")
}

/// Returns every file that is neither git's nor regreen's, with its content, except the spec's own,
/// which contain hashes.
fn files(root: &Path) -> String {
    let work = root.join("work");
    let names = listing(&work);
    let said = names.lines().map(|name| {
        let text = fs::read_to_string(work.join(name)).unwrap();
        format!("{name}: {text}")
    });
    let beside = listing(root);
    format!("{beside}\n{}", said.collect::<String>())
}

/// Returns how every run with attempts ended, and the attempts. (A run that was killed after its
/// end was stored has ended; the next one has nothing to do.)
fn history(path: &Path) -> (String, Vec<Attempt>) {
    let store = Store::open(path, 0).unwrap();
    store.check().unwrap();
    let (mut ends, mut all) = (String::new(), Vec::new());
    for run in store.runs(10).unwrap() {
        let attempts = store.attempts_in_run(&run.id).unwrap();
        if !attempts.is_empty() {
            let outcome = run.end.map(|end| end.outcome);
            let _ = writeln!(ends, "{outcome:?}");
        }
        all.extend(attempts.into_iter().map(|attempt| Attempt {
            task: format!("{} {}", attempt.key.task.id, attempt.key.number),
            outcome: attempt.outcome,
        }));
    }
    (ends, all)
}
