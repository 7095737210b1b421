//! Any text is read as a report or refused; what was read is written and read again alike.
#![no_main]

use libfuzzer_sys::fuzz_target;
use regreen_diagnosis::Report;

fuzz_target!(|text: &str| {
    let Ok(report) = Report::parse(text) else {
        return;
    };
    let again = Report::new(report.into_failure());
    assert_eq!(Report::parse(&again.render()), Ok(again));
});
