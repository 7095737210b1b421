//! Pieces of real outputs, messages and reports, cut and joined at random. The properties are those
//! in `fuzz/`, checked briefly in every test run.

use std::sync::LazyLock;

use proptest::prelude::*;
use regreen_diagnosis::{ChildFailure, Report, Scanner, evidence_of, rank, scan};
use regreen_model::{Ending, Failure, Output, Source};

const TABLES: [&str; 2] = [
    include_str!("command_outputs.toml"),
    include_str!("agent_messages.toml"),
];

/// The texts of the tables, as bytes to cut anywhere.
static TEXTS: LazyLock<Vec<Vec<u8>>> =
    LazyLock::new(|| TABLES.into_iter().flat_map(texts).collect());

fn texts(table: &str) -> Vec<Vec<u8>> {
    let table: toml::Table = toml::from_str(table).unwrap_or_default();
    let rows = table.values().filter_map(toml::Value::as_array).flatten();
    let texts = rows.filter_map(|row| row.get("text")?.as_str());
    texts.map(|text| text.as_bytes().to_vec()).collect()
}

fn mutated() -> impl Strategy<Value = Vec<u8>> {
    let cut = (
        any::<prop::sample::Index>(),
        any::<prop::sample::Index>(),
        0..400_usize,
    );
    let piece = cut.prop_map(|(text, start, length)| {
        let text = text.get(&TEXTS);
        let start = start.index(text.len());
        text[start..(start + length).min(text.len())].to_vec()
    });
    let noise = prop::collection::vec(any::<u8>(), 0..12);
    prop::collection::vec(prop_oneof![4 => piece, 1 => noise], 0..12)
        .prop_map(|pieces| pieces.concat())
}

fn diagnosed(output: Output, source: Source, code: i32, timed_out: bool) -> Option<Failure> {
    let ending = Ending {
        exit_code: Some(code),
        timed_out,
        ..Ending::default()
    };
    rank(&evidence_of(output, source, None, ending))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn the_size_of_chunks_does_not_matter(bytes in mutated(), size in 1..200_usize) {
        for source in [Source::Agent, Source::Command] {
            let whole = scan(&bytes, source);
            prop_assert!(whole.findings.len() <= 64);
            let mut scanner = Scanner::new(source);
            for piece in bytes.chunks(size) {
                scanner.feed(piece);
            }
            prop_assert_eq!(scanner.finish(), whole);
        }
    }

    #[test]
    fn a_quote_is_one_short_line_and_can_be_reported(
        bytes in mutated(),
        code in 0..3_i32,
        timed_out in prop::bool::weighted(0.1),
    ) {
        for source in [Source::Agent, Source::Command] {
            let output = scan(&bytes, source);
            let failure = diagnosed(output.clone(), source, code, timed_out);
            prop_assert_eq!(&diagnosed(output, source, code, timed_out), &failure);
            let Some(failure) = failure else { continue };
            let quoted = failure.blocked_on.as_deref().unwrap_or_default();
            prop_assert!(!quoted.contains(['\n', '\r']));
            prop_assert!(quoted.chars().count() <= 300);
            let report = Report::new(ChildFailure::of(&failure, "s", 1000));
            prop_assert_eq!(Report::parse(&report.render()), Ok(report));
        }
    }

    #[test]
    fn a_damaged_report_is_refused_or_reads_back_as_it_was(
        bytes in mutated(),
        at in any::<prop::sample::Index>(),
        put in "[0-9a-z.:<>•\n ]{0,6}",
    ) {
        let output = scan(&bytes, Source::Command);
        let Some(failure) = diagnosed(output, Source::Command, 1, false) else {
            return Ok(());
        };
        let mut text = Report::new(ChildFailure::of(&failure, "s", 1000)).render();
        let at = text.floor_char_boundary(at.index(text.len()));
        text.insert_str(at, &put);
        let Ok(report) = Report::parse(&text) else {
            return Ok(());
        };
        let again = Report::new(report.into_failure());
        prop_assert_eq!(Report::parse(&again.render()), Ok(again));
    }
}
