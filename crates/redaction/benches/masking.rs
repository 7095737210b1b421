//! Measures the throughput of masking: `cargo bench -p regreen-redaction`.

use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use regreen_redaction::Masks;

const SIZE: usize = 8 * 1024 * 1024;
const CHUNK: usize = 64 * 1024;

fn main() {
    divan::main();
}

const CARGO_LOG: &str = "\
   Compiling serde_json v1.0.154 (/srv/project/crates/api)
warning: unused variable: `task_id` in src/handlers/login.rs:42:9
test auth::session::tests::a_session_ends_with_its_token ... ok
error[E0308]: mismatched types, expected `&str`, found `String`
";
const AGENT_LOG: &str = r#"{"type":"assistant","message":{"id":"msg_01","content":[{"type":"tool_use","name":"Bash","input":{"command":"cargo test -p api -- --nocapture\n"}}],"usage":{"input_tokens":1234}},"session_id":"6f1d2c3b-0a9e-4c55-9a70-1b2c3d4e5f60"}
"#;
const LOCK_FILE: &str = r#"    "node_modules/ansi-styles": { "version": "6.2.1", "resolved": "https://registry.example.org/ansi-styles/-/ansi-styles-6.2.1.tgz",
      "integrity": "sha512-bN798gFfQX+viw3R7yrGWRqnrN2oRkEkUjjl4JNn4E8GxxbjtG3FbrEIIY3l8/hrwUwIeCZvi4QuOTP4MErVug==" },
"#;

#[divan::bench(args = ["build log", "agent's JSON", "lock file"])]
fn stream(bencher: Bencher<'_, '_>, kind: &str) {
    let lines = match kind {
        "build log" => CARGO_LOG,
        "lock file" => LOCK_FILE,
        _ => AGENT_LOG,
    };
    let text = lines.repeat(SIZE / lines.len());
    let masks = Masks::new(["correct-horse-battery", "staple-staple-staple"]);
    bencher.counter(BytesCount::of_str(&text)).bench_local(|| {
        let (mut filter, mut out) = (masks.filter(), Vec::with_capacity(2 * CHUNK));
        for chunk in text.as_bytes().chunks(CHUNK) {
            out.clear();
            filter.feed(chunk, &mut out);
            black_box(&out);
        }
    });
}

#[divan::bench]
fn compile() -> Masks {
    Masks::new(["correct-horse-battery"])
}
