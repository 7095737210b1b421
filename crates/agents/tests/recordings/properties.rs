//! However a stream arrives, and wherever it ends, it is understood in the same way.

use std::sync::LazyLock;

use proptest::prelude::*;
use regreen_agents::{Lines, Stream};
use regreen_model::{AgentEvent, Ending};

use crate::recording::{Recording, all};

static RECORDINGS: LazyLock<Vec<Recording>> = LazyLock::new(all);

fn recording(at: usize) -> &'static Recording {
    &RECORDINGS[at % RECORDINGS.len()]
}

/// Both streams as they come through pipes, cut into pieces of at most these sizes.
fn pieces(recording: &Recording, sizes: &[usize]) -> Vec<(Stream, Vec<u8>)> {
    let mut sizes = sizes.iter().cycle();
    let mut pieces = Vec::new();
    for (stream, line) in &recording.lines {
        let bytes = format!("{line}\n").into_bytes();
        let mut rest = bytes.as_slice();
        while !rest.is_empty() {
            let size = sizes
                .next()
                .map_or(rest.len(), |size| (*size).min(rest.len()));
            pieces.push((*stream, rest[..size].to_vec()));
            rest = &rest[size..];
        }
    }
    pieces
}

/// Returns the events understood from each stream by itself, and at the end.
fn understood(
    recording: &Recording,
    pieces: &[(Stream, Vec<u8>)],
    ending: &Ending,
) -> (Vec<AgentEvent>, Vec<AgentEvent>) {
    let mut decoder = recording.decoder();
    let _ = decoder.on_start();
    let mut lines = [Lines::default(), Lines::default()];
    let mut from_out = Vec::new();
    let mut hear = |stream: Stream, line: &[u8]| {
        let events = decoder.on_line(stream, line).events;
        if stream == Stream::Out {
            from_out.extend(events);
        }
    };
    for (stream, bytes) in pieces {
        lines[*stream as usize].feed(bytes, |line| hear(*stream, line));
    }
    for stream in [Stream::Out, Stream::Err] {
        lines[stream as usize].finish(|line| hear(stream, line));
    }
    let at_end = decoder.on_end(ending);
    (from_out, at_end)
}

fn is_success(events: &[AgentEvent]) -> bool {
    let ok = AgentEvent::Terminal { ok: true };
    events.contains(&ok)
}

const EXITED: Ending = Ending {
    exit_code: Some(0),
    signal: None,
    timed_out: false,
    limit_ms: None,
    duration_ms: 0,
};

proptest! {
    #[test]
    fn any_cut_into_chunks_gives_the_same_events(
        at in any::<usize>(),
        sizes in prop::collection::vec(1_usize..200, 1..20),
    ) {
        let recording = recording(at);
        let whole = understood(recording, &pieces(recording, &[usize::MAX]), &recording.ending);
        let cut = understood(recording, &pieces(recording, &sizes), &recording.ending);
        prop_assert_eq!(cut, whole);
    }

    #[test]
    fn truncated_output_gives_the_same_events_and_no_false_success(
        at in any::<usize>(),
        kept in 0.0..1.0_f64,
    ) {
        let recording = recording(at);
        let all = pieces(recording, &[1]);
        #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a part of it")]
        let kept = &all[..(all.len() as f64 * kept) as usize];
        let (whole, at_end) = understood(recording, &all, &recording.ending);
        // Even if it seems to have ended well.
        let (part, part_at_end) = understood(recording, kept, &EXITED);
        prop_assert!(whole.starts_with(&part));
        let success = is_success(&part) || is_success(&part_at_end);
        let whole_success = is_success(&whole) || is_success(&at_end);
        prop_assert!(!success || (whole_success && part == whole));
    }

    #[test]
    fn it_does_not_matter_when_the_other_stream_arrives(
        at in any::<usize>(),
        order in prop::collection::vec(any::<bool>(), 1..40),
    ) {
        let recording = recording(at);
        let whole = pieces(recording, &[usize::MAX]);
        let of = |stream: Stream| {
            let found = whole.iter().filter(|(from, _)| *from == stream).cloned();
            found.collect::<std::collections::VecDeque<_>>()
        };
        let (mut out, mut err) = (of(Stream::Out), of(Stream::Err));
        let mut order = order.iter().cycle();
        let mut mixed = Vec::new();
        while !out.is_empty() || !err.is_empty() {
            let first = *order.next().unwrap();
            let next = if first { out.pop_front() } else { err.pop_front() };
            mixed.extend(next);
            if out.is_empty() {
                mixed.extend(err.drain(..));
            } else if err.is_empty() {
                mixed.extend(out.drain(..));
            }
        }
        let expected = understood(recording, &whole, &recording.ending);
        prop_assert_eq!(understood(recording, &mixed, &recording.ending), expected);
    }
}
