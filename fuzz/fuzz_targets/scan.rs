//! Any output is scanned, in pieces of any size with the same result, and little is kept.
#![no_main]

use libfuzzer_sys::fuzz_target;
use regreen_diagnosis::{Scanner, scan};
use regreen_model::Source;

fuzz_target!(|input: (u8, &[u8])| {
    let (size, bytes) = input;
    for source in [Source::Agent, Source::Command] {
        let whole = scan(bytes, source);
        assert!(whole.findings.len() <= 64);
        assert_eq!(whole.bytes, bytes.len() as u64);
        let mut scanner = Scanner::new(source);
        for piece in bytes.chunks(usize::from(size).max(1)) {
            scanner.feed(piece);
        }
        assert_eq!(scanner.finish(), whole, "pieces of {size}");
    }
});
