//! Whatever was printed and however it ended, there is an answer, the same each time, and
//! what it quotes is one line.
#![no_main]

use libfuzzer_sys::fuzz_target;
use regreen_diagnosis::{ChildFailure, Report, evidence_of, rank, scan};
use regreen_model::{Ending, Source};

fuzz_target!(|input: (i32, bool, bool, &[u8])| {
    let (code, timed_out, is_agent, bytes) = input;
    let source = if is_agent { Source::Agent } else { Source::Command };
    let ending = Ending {
        exit_code: Some(code),
        timed_out,
        ..Ending::default()
    };
    let evidence = evidence_of(scan(bytes, source), source, None, ending);
    let Some(failure) = rank(&evidence) else {
        return;
    };
    assert_eq!(rank(&evidence).as_ref(), Some(&failure));
    let quoted = failure.blocked_on.as_deref().unwrap_or_default();
    assert!(!quoted.contains(['\n', '\r']));
    assert!(quoted.chars().count() <= 300);
    let report = Report::new(ChildFailure::of(&failure, "s", 1000));
    assert_eq!(Report::parse(&report.render()), Ok(report));
});
