//! Output of any size and shape is read in bounded memory and linear time.

use proptest::prelude::*;
use regreen_diagnosis::{Scanner, evidence_of, rank, scan};
use regreen_model::{Ending, Evidence, Output, Source};

const MEGABYTE: usize = 1024 * 1024;
const SOURCES: [Source; 2] = [Source::Agent, Source::Command];

fn evidence(output: Output, source: Source) -> Evidence {
    let ending = Ending {
        exit_code: Some(1),
        ..Ending::default()
    };
    evidence_of(output, source, None, ending)
}

fn scanned(bytes: &[u8], source: Source, chunk: usize) -> Output {
    let mut scanner = Scanner::new(source);
    for part in bytes.chunks(chunk) {
        scanner.feed(part);
    }
    scanner.finish()
}

#[test]
fn one_line_of_five_megabytes_is_read() {
    for unit in [
        "a",
        "error: ",
        "\0",
        "[",
        "((((",
        "\u{1b}[",
        "\r",
        "No module named 'x' ",
        "✓ ",
        "\u{202e}",
    ] {
        let text = unit.repeat(5 * MEGABYTE / unit.len());
        let output = scan(text.as_bytes(), Source::Command);
        assert!(output.findings.len() <= 64);
        assert_eq!(output.bytes, text.len() as u64);
        assert!(rank(&evidence(output, Source::Command)).is_some());
    }
}

/// Returns the CPU time of this thread in milliseconds, which other load on the machine doesn't
/// affect; `None` if the system doesn't report it.
#[expect(clippy::disallowed_methods, reason = "a test that measures itself")]
fn worked() -> Option<f64> {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(told.split(' ').next()?.parse::<f64>().ok()? / 1e6)
}

fn work_for(text: &str) -> Option<f64> {
    let start = worked()?;
    let output = scanned(text.as_bytes(), Source::Command, 8192);
    let _ = rank(&evidence(output, Source::Command));
    Some(worked()? - start)
}

#[test]
fn four_times_the_size_is_about_four_times_the_work() {
    for unit in ["a", "[", "\0", "error: ", "No module named 'x' "] {
        let small = unit.repeat(MEGABYTE / 8 / unit.len());
        let (Some(little), Some(much)) = (work_for(&small), work_for(&small.repeat(4))) else {
            return;
        };
        // Quadratic work would be sixteen times as much; the system counts in milliseconds.
        let allowed = little * 10.0 + 40.0;
        assert!(much < allowed, "{unit:?}: {much} ms, allowed {allowed} ms");
    }
}

#[test]
fn many_matching_lines_are_read() {
    let unit =
        "Traceback (most recent call last):\nValueError: x\nerror: y\nbash: z: command not found\n";
    let text = unit.repeat(MEGABYTE / unit.len());
    let output = scan(text.as_bytes(), Source::Command);
    assert!(output.findings.len() <= 64);
    assert_eq!(output.lines, 4 * (text.len() / unit.len()) as u64);
    let size = serde_json::to_vec(&output).unwrap().len();
    assert!(size < 64 * 1024, "{size}");
}

#[test]
fn a_long_message_of_an_agent_is_read() {
    for unit in [
        "I could not ",
        "but ",
        "(",
        "? ",
        "implemented ",
        "\n> ",
        "```\n",
    ] {
        let text = unit.repeat(MEGABYTE / 4 / unit.len());
        let output = scanned(text.as_bytes(), Source::Agent, 4096);
        let _ = rank(&evidence(output, Source::Agent));
    }
}

#[test]
fn the_cause_is_found_in_the_middle_of_noise_with_its_line() {
    let quiet = "2026-01-02T03:04:05Z INFO pool served a page in 12 ms\n".repeat(30_000);
    let text = format!("{quiet}ModuleNotFoundError: No module named 'boto3'\n{quiet}");
    let output = scanned(text.as_bytes(), Source::Command, 1000);
    let failure = rank(&evidence(output, Source::Command)).unwrap();
    assert_eq!(failure.line, Some(30_001));
    assert_eq!(
        failure.blocked_on.as_deref(),
        Some("ModuleNotFoundError: No module named 'boto3'")
    );
}

#[test]
fn colours_and_progress_bars_hide_nothing() {
    let text = b"  10%\r  90%\r\x1b[31merror\x1b[0m\x1b[1m[E0308]\x1b[0m: mismatched types\r\n";
    let output = scan(text, Source::Command);
    let failure = rank(&evidence(output, Source::Command)).unwrap();
    assert_eq!(
        failure.blocked_on.as_deref(),
        Some("error[E0308]: mismatched types")
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_bytes_are_read(bytes in proptest::collection::vec(any::<u8>(), 0..2000)) {
        for source in SOURCES {
            let _ = rank(&evidence(scan(&bytes, source), source));
        }
    }

    #[test]
    fn the_size_of_chunks_does_not_matter(
        lines in proptest::collection::vec("(?:error: x|ModuleNotFoundError: No module named 'y'|[ -~]{0,30}|\\x1b\\[31mbash: z: command not found)", 0..40),
        chunk in 1_usize..50,
    ) {
        let text = lines.join("\n");
        prop_assert_eq!(scanned(text.as_bytes(), Source::Command, chunk), scan(text.as_bytes(), Source::Command));
    }
}
