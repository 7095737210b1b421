//! Runs whose journal loses its end: nothing is lost without being named.

use std::fs;
use std::path::PathBuf;

use regreen_documents::TaskFile;

use crate::kill_point::{KillPoint, Moment, Rng};
use crate::project::{Case, Kind, PlanKind, Project};

/// The damage to the database.
#[derive(Clone, Copy, Debug)]
enum Damage {
    /// The end of the write-ahead log is missing.
    CutLog,
    NoLog,
    Emptied,
    Deleted,
    /// The end of the database itself is missing.
    CutDatabase,
    /// Some bytes of the database are overwritten.
    Overwritten,
}

const DAMAGES: [Damage; 6] = [
    Damage::CutLog,
    Damage::NoLog,
    Damage::Emptied,
    Damage::Deleted,
    Damage::CutDatabase,
    Damage::Overwritten,
];

/// For each number, kills a run, damages its journal and runs to the end.
pub(crate) fn sweep(runs: u64, seed: u64) -> Vec<String> {
    let mut rng = Rng::new(seed);
    let mut complaints = Vec::new();
    for n in 0..runs {
        let damage = DAMAGES[usize::try_from(n).unwrap() % DAMAGES.len()];
        complaints.extend(damage_one(damage, &mut rng));
    }
    complaints
}

fn damage_one(damage: Damage, rng: &mut Rng) -> Vec<String> {
    let case = Case {
        work: PlanKind::Twenty,
        kind: Kind::Git,
    };
    let project = Project::new(case);
    let words = ["ended", "verifying", "committing"];
    let word = words[usize::try_from(rng.below(3)).unwrap()];
    let point = KillPoint {
        at: Moment::Noted(word, 2 + usize::try_from(rng.below(8)).unwrap()),
        delay: std::time::Duration::from_millis(rng.below(60)),
        hurry: false,
    };
    let run = project.start(&[]);
    crate::kill(&project, run, point);
    std::thread::sleep(crate::AFTERLIFE);
    inflict(&project, damage, rng);
    let mut said = String::new();
    let mut code = run_to_the_end(&project, &mut said);
    if code == Some(78) && said.contains("regreen.db") {
        // The damage was reported; people then delete the file.
        inflict(&project, Damage::Deleted, rng);
        code = run_to_the_end(&project, &mut said);
    }
    // Without a journal nothing proves that git's lock is from the killed run.
    let locks = [".git/HEAD.lock", ".git/index.lock"].map(|lock| project.path(lock));
    let is_named = |lock: &&PathBuf| said.contains(&format!("delete it: `rm {}`", lock.display()));
    if let Some(lock) = locks.iter().find(is_named).filter(|_| code == Some(78)) {
        fs::remove_file(lock).unwrap();
        code = run_to_the_end(&project, &mut said);
    }
    let at = format!("{damage:?}, {point}");
    if code != Some(0) {
        return vec![format!("{at}: {code:?}\n{said}")];
    }
    let found = losses(&project, &said);
    let complaint = |what| format!("{at}: {what}\n{said}");
    found.into_iter().map(complaint).collect()
}

/// Adds everything the run prints to `said`, and returns its exit code.
fn run_to_the_end(project: &Project, said: &mut String) -> Option<i32> {
    let finished = project.start(&[]).finish();
    said.push_str(&finished.stdout);
    said.push_str(&finished.stderr);
    finished.status.code()
}

fn inflict(project: &Project, damage: Damage, rng: &mut Rng) {
    let database = project.path(".regreen/regreen.db");
    let log = PathBuf::from(format!("{}-wal", database.display()));
    let shared = PathBuf::from(format!("{}-shm", database.display()));
    let remove = |path: &PathBuf| drop(fs::remove_file(path));
    remove(&shared);
    match damage {
        Damage::CutLog => {
            if let Ok(bytes) = fs::read(&log) {
                let len = usize::try_from(rng.below(bytes.len() as u64)).unwrap();
                fs::write(&log, &bytes[..len]).unwrap();
            }
        }
        Damage::NoLog => remove(&log),
        Damage::Emptied => {
            remove(&log);
            fs::write(&database, "").unwrap();
        }
        Damage::Deleted => {
            remove(&log);
            remove(&database);
        }
        Damage::CutDatabase => {
            let bytes = fs::read(&database).unwrap();
            let len = usize::try_from(rng.below(bytes.len() as u64)).unwrap();
            fs::write(&database, &bytes[..len]).unwrap();
        }
        Damage::Overwritten => {
            let mut bytes = fs::read(&database).unwrap();
            for _ in 0..64 {
                let at = usize::try_from(rng.below(bytes.len().max(1) as u64)).unwrap();
                if let Some(byte) = bytes.get_mut(at) {
                    *byte = !*byte;
                }
            }
            fs::write(&database, bytes).unwrap();
        }
    }
}

/// Returns the tasks without a line in the progress file or without their commit that were not
/// named.
fn losses(project: &Project, said: &str) -> Vec<String> {
    let read = |path: &str| fs::read_to_string(project.path(path)).unwrap_or_default();
    let progress = read("specs/k/.progress.md");
    let subjects = project.git(&["log", "--format=%s"]);
    let mut losses = Vec::new();
    for task in TaskFile::read(read("specs/k/tasks.md")).tasks() {
        let id = task.id.as_ref().unwrap().to_string();
        let is_named = said.contains(&format!("task {id} is ticked"));
        let lines = progress
            .lines()
            .filter(|line| line.starts_with(&format!("- [x] {id} ")))
            .count();
        if !task.done {
            losses.push(format!("{id} is open"));
        }
        if lines > 1 || (lines == 0 && !is_named) {
            losses.push(format!("{id} is recorded {lines} times:\n{progress}"));
        }
        let Some(commit) = task.fields.commit.as_deref() else {
            continue;
        };
        let commit = commit.trim_matches('`');
        let made = subjects
            .lines()
            .filter(|subject| *subject == commit)
            .count();
        if made > 1 || (made == 0 && !is_named) {
            losses.push(format!("`{commit}` was made {made} times:\n{subjects}"));
        }
    }
    losses
}
