//! The costs for the design page. Measured on demand: no test promises numbers.

use std::fs::{self, File};
use std::io::Write;
use std::time::{Duration, Instant};

use regreen_store::{StepNo, Store};

use crate::fixture::{Folder, NOON, begin, step};

/// Prints the 10th, 50th and 99th percentile. On a busy machine, the first is closest to the real
/// cost.
fn report(what: &str, mut times: Vec<Duration>) {
    times.sort();
    let [low, middle, high] = [10, 50, 99].map(|percent| times[times.len() * percent / 100]);
    println!("{what}: p10 {low:?}, median {middle:?}, p99 {high:?}");
}

fn timed(count: usize, mut act: impl FnMut()) -> Vec<Duration> {
    let measure = |_| {
        let begun = Instant::now();
        act();
        begun.elapsed()
    };
    (0..count).map(measure).collect()
}

/// Returns the processor time of this thread so far.
fn cpu_time() -> Duration {
    let text = fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    let first = text.split(' ').next().unwrap();
    Duration::from_nanos(first.parse().unwrap())
}

#[test]
#[ignore = "a measurement"]
fn costs() {
    let folder = Folder::on_disk();
    report("open new", timed(1, || folder.open().close().unwrap()));
    let mut store = folder.open();
    let run = begin(&mut store, "login");
    let mut n = 0;
    let mut append = || {
        n += 1;
        store.append(&run, &step(n), &[]).unwrap();
    };
    let before = cpu_time();
    report("append", timed(5000, &mut append));
    println!("append: CPU {:?} each", (cpu_time() - before) / 5000);
    let mut bare = File::create(folder.path("bare")).unwrap();
    let mut write = || {
        bare.write_all(&[1; 16_384]).unwrap();
        bare.sync_data().unwrap();
    };
    report("bare write of 16 KB and sync", timed(1000, &mut write));
    let begun = Instant::now();
    assert_eq!(store.events(&run, StepNo::NONE).unwrap().count(), 10_000);
    println!("events of 5000 steps: {:?}", begun.elapsed());
    report("outstanding", timed(100, || drop(store.outstanding(&run))));
    report("check", timed(3, || store.check().unwrap()));
    store.close().unwrap();
    let size = fs::metadata(folder.file()).unwrap().len();
    println!("file: {size} bytes");
    let open = || {
        let store = Store::open(&folder.file(), NOON).unwrap();
        store.unfinished_run("login").unwrap().unwrap();
    };
    let before = cpu_time();
    report("open existing, find run, close", timed(200, open));
    println!("open existing: CPU {:?} each", (cpu_time() - before) / 200);
}
