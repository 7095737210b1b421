//! What snapshots and commits cost. Run by hand:
//! `cargo nextest run --release -p regreen-workspace --run-ignored all --no-capture -E 'test(what_it_costs)'`.

use std::time::{Duration, Instant};

use crate::commits::{commit, made, request};
use crate::repo::{Repo, attempt, moment};

const ROUNDS: u32 = 40;

fn median(mut times: Vec<Duration>) -> f64 {
    times.sort_unstable();
    times.get(times.len() / 2).unwrap().as_secs_f64() * 1000.0
}

fn timed(mut deed: impl FnMut(u32)) -> f64 {
    let once = |round| {
        let start = Instant::now();
        deed(round);
        start.elapsed()
    };
    median((0..ROUNDS).map(once).collect())
}

fn repo_of(files: u32) -> Repo {
    let repo = Repo::unborn();
    for n in 0..files {
        repo.write(&format!("d{}/f{n}", n / 50), &format!("content of {n}\n"));
    }
    repo.commit_all("base");
    // Younger files are read again, which would be measured too.
    std::thread::sleep(Duration::from_millis(1100));
    repo.git(&["status"]);
    repo
}

#[test]
#[ignore = "a measurement"]
fn what_it_costs() {
    for files in [100, 1000, 10_000] {
        let repo = repo_of(files);
        let mut snapshots = repo.snapshots();
        let start = Instant::now();
        snapshots.take_before(&attempt(0), moment()).unwrap();
        println!("{files} files: first snapshot {:?}", start.elapsed());
        let same = timed(|round| drop(snapshots.take_before(&attempt(round), moment())));
        println!("{files} files: snapshot, nothing changed {same:.1} ms");
        let changed = timed(|round| {
            for n in 0..5 {
                repo.write(&format!("d0/f{n}"), &format!("{round} {n}"));
            }
            snapshots.take_before(&attempt(round), moment()).unwrap();
        });
        println!("{files} files: snapshot, five files changed {changed:.1} ms");
        let ours = timed(|round| {
            repo.write("d0/f1", &format!("commit {round}"));
            let mut asked = request(&repo, &["d0/f1"]);
            asked.key = format!("k{round}");
            made(&commit(&repo, &asked));
        });
        println!("{files} files: commit {ours:.1} ms (with one more look at HEAD)");
        let bare = timed(|round| {
            repo.write("d0/f1", &format!("bare {round}"));
            repo.git(&["commit", "-q", "-m", "x", "--", "d0/f1"]);
        });
        println!("{files} files: git commit alone {bare:.1} ms");
        let dirty = timed(|_| drop(repo.open().dirty_paths().unwrap()));
        println!("{files} files: open and list what is dirty {dirty:.1} ms");
    }
}
