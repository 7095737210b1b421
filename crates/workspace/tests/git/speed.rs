//! The costs of snapshots and commits. Run by hand: `cargo nextest run --release -p
//! regreen-workspace --run-ignored all --no-capture -E 'test(costs)'`.

use std::time::{Duration, Instant};

use crate::commits::{made, request};
use crate::repo::{Repo, attempt, moment};

const ROUNDS: u32 = 40;

/// Returns the processor time of all ended children, in milliseconds.
fn children_cpu() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let after_name = stat.rsplit(')').next().unwrap();
    let fields: Vec<&str> = after_name.split_whitespace().collect();
    // `cutime` and `cstime`, in hundredths of a second.
    let ticks = |at: usize| fields.get(at).unwrap().parse::<f64>().unwrap();
    (ticks(13) + ticks(14)) * 10.0
}

/// Prints the median and minimum time, and git's processor time per round.
fn measure(what: &str, mut action: impl FnMut(u32)) {
    let cpu = children_cpu();
    let mut times: Vec<Duration> = (0..ROUNDS)
        .map(|round| {
            let start = Instant::now();
            action(round);
            start.elapsed()
        })
        .collect();
    let cpu = (children_cpu() - cpu) / f64::from(ROUNDS);
    times.sort_unstable();
    let at = |place: usize| times.get(place).unwrap().as_secs_f64() * 1000.0;
    let (median, least) = (at(times.len() / 2), at(0));
    println!("{what}: median {median:.1} ms, least {least:.1} ms, git's CPU {cpu:.1} ms");
}

fn repo_of(files: u32) -> Repo {
    let repo = Repo::unborn();
    for n in 0..files {
        repo.write(&format!("d{}/f{n}", n / 50), &format!("content of {n}\n"));
    }
    repo.commit_all("base");
    // Newer files would be read again, and that would be measured too.
    std::thread::sleep(Duration::from_millis(1100));
    repo.git(&["status"]);
    repo
}

#[test]
#[ignore = "a measurement"]
fn costs() {
    for files in [100, 1000, 10_000] {
        println!("{files} files");
        let repo = repo_of(files);
        let git = repo.open();
        let mut snapshots = repo.snapshots();
        let edit = |round: u32| {
            for n in 0..5 {
                repo.write(&format!("d0/f{n}"), &format!("{round} {n}"));
            }
        };
        measure("snapshot, nothing changed", |round| {
            snapshots.take_before(&attempt(round), moment()).unwrap();
        });
        measure("snapshot, five files changed", |round| {
            edit(round);
            snapshots.take_before(&attempt(round), moment()).unwrap();
        });
        let mut asked = request(&repo, &["d0/f0", "d0/f1", "d0/f2", "d0/f3", "d0/f4"]);
        measure("commit of five files", |round| {
            edit(round + 1000);
            asked.key = format!("k{round}");
            let done = git.commit(&asked, &repo.scratch()).unwrap();
            asked.parent = Some(made(&done).oid.clone());
        });
        measure("git commit --only alone", |round| {
            edit(round + 2000);
            repo.git(&["commit", "-q", "-m", "x", "--", "d0"]);
        });
        measure("what is dirty", |_| drop(git.dirty_paths().unwrap()));
        measure("one call of git", |_| drop(git.head().unwrap()));
    }
}
