//! How fast output is scanned: a mixed log in which one line in a hundred says something,
//! and how long the first answer takes.
#![expect(clippy::print_stdout, reason = "an example prints")]
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    clippy::disallowed_types,
    reason = "an example is an edge"
)]

use std::time::Instant;

use regreen_diagnosis::{Scanner, evidence_of, rank, scan};
use regreen_model::{Ending, Source};

const QUIET: [&str; 12] = [
    "2026-01-02T03:04:05.678Z DEBUG pool-3 served GET /items/97b7509 with status 200 in 49 ms",
    "   Compiling itoa v1.0.18",
    "[bundler] transforming 812/9000 ./src/widgets/panel.tsx  (cache hit)",
    "-rw-r--r-- 1 dev dev 18231 Jan  2 03:04 src/components/button.tsx",
    "\u{1b}[32m✓\u{1b}[0m parses nested lists (3 ms)",
    "Downloading https://files.example/packages/a1/b2/numpy-2.1.0-cp312-manylinux.whl (16.3 MB)",
    "{\"level\":\"info\",\"ts\":1735786245.123,\"msg\":\"cache warmed\",\"entries\":18231,\"took_ms\":12}",
    "  adding: assets/img/logo.svg (deflated 61%)",
    "batch 1823111 copied",
    "test parser::tests::keeps_trailing_spaces ... ok",
    "Jan 02 03:04:05 host1 systemd[1]: Started Session 42 of user dev.",
    "                 at ./src/scheduler/queue.rs:118:9",
];
const LOUD: [&str; 5] = [
    "ModuleNotFoundError: No module named 'pandas'",
    "src/a.ts(1,14): error TS2322: Type 'string' is not assignable to type 'number'.",
    "curl: (6) Could not resolve host: registry.example",
    "error[E0425]: cannot find value `total` in this scope",
    "bash: line 5: kubectl: command not found",
];

fn mixed_log(bytes: usize) -> Vec<u8> {
    let mut log = Vec::with_capacity(bytes + 200);
    let mut n = 0_usize;
    while log.len() < bytes {
        let line = if n % 100 == 99 {
            LOUD[n / 100 % LOUD.len()]
        } else {
            QUIET[n % QUIET.len()]
        };
        log.extend_from_slice(line.as_bytes());
        log.push(b'\n');
        n += 1;
    }
    log
}

fn main() {
    let start = Instant::now();
    let small = mixed_log(100 * 1024);
    let evidence = evidence_of(
        scan(&small, Source::Command),
        Source::Command,
        None,
        Ending::default(),
    );
    let kind = rank(&evidence).map(|failure| failure.kind.name());
    println!(
        "first answer, 100 KB: {:.1} ms ({kind:?})",
        start.elapsed().as_secs_f64() * 1000.0
    );
    let log = mixed_log(64 * 1024 * 1024);
    for _ in 0..5 {
        let start = Instant::now();
        let mut scanner = Scanner::new(Source::Command);
        for chunk in log.chunks(64 * 1024) {
            scanner.feed(chunk);
        }
        let output = scanner.finish();
        let seconds = start.elapsed().as_secs_f64();
        let megabytes = log.len() as f64 / 1e6;
        println!(
            "{:.0} MB/s, {} findings",
            megabytes / seconds,
            output.findings.len()
        );
    }
}
