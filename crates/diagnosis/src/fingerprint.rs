//! A name for a blocker that stays the same when the same thing stands in the way again.

use std::sync::LazyLock;

use regex::{Captures, Regex};
use regreen_model::FailureKind;

/// Everything that differs from run to run: folders, addresses, ids, times, numbers. The
/// last part of a path stays, since which file is missing matters.
const VARYING: &str = r"(?x)
    (?:[A-Za-z]:)?(?:[\w.~@+-]*[/\\])+   # folders
  | \b0x[0-9a-fA-F]+\b
  | \b[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b
  | \b[0-9a-fA-F]*[0-9][0-9a-fA-F]*[a-fA-F][0-9a-fA-F]{5,}\b
  | \d+(?:[.,:]\d+)*";

static VARIES: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(VARYING).ok());

/// 64 bits as 16 digits.
pub(crate) fn fingerprint(kind: FailureKind, blocker: &str) -> String {
    let text = format!("{}\0{}", kind.name(), essence(blocker));
    format!("{:016x}", fnv1a(text.as_bytes()))
}

/// What stays of a blocker from run to run.
fn essence(blocker: &str) -> String {
    let same = match VARIES.as_ref() {
        Some(varies) => varies.replace_all(blocker, |found: &Captures<'_>| {
            let is_folder = found[0].ends_with(['/', '\\']);
            if is_folder { "" } else { "#" }
        }),
        None => blocker.into(),
    };
    let mut text = String::new();
    for c in same.to_lowercase().chars() {
        let c = if c.is_whitespace() { ' ' } else { c };
        let repeats = matches!(c, ' ' | '#') && text.ends_with(c);
        if !repeats {
            text.push(c);
        }
    }
    text.trim().to_owned()
}

/// FNV-1a: short, and the same on every machine for ever.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(blocker: &str) -> String {
        fingerprint(FailureKind::MissingFile, blocker)
    }

    #[test]
    fn the_same_blocker_in_another_run_is_the_same() {
        for (a, b) in [
            ("open /tmp/a1/x.json: no", "open /srv/x.json: no"),
            ("main.rs:3:5: bad", "src/main.rs:14:9: bad"),
            ("at 0x7ffe115db180", "at 0x602000000014"),
            ("2026-01-02 03:04:05 boom", "2026-11-16 23:59:59 boom"),
            ("took 12ms", "took 7ms"),
            (
                "job 6f0c1a2b-1111-2222-3333-444455556666",
                "job 00000000-1111-2222-3333-444455556666",
            ),
        ] {
            assert_eq!(of(a), of(b), "{a} / {b}");
        }
    }

    #[test]
    fn another_blocker_is_another() {
        assert_ne!(of("no module named 'a'"), of("no module named 'b'"));
        assert_ne!(of("open /tmp/x.json"), of("open /tmp/y.json"));
        let other = fingerprint(FailureKind::RuntimeException, "boom");
        assert_ne!(of("boom"), other);
    }

    #[test]
    fn it_never_changes_between_versions() {
        assert_eq!(of("boom"), of("boom"));
        assert_eq!(of("boom").len(), 16);
        assert_eq!(fnv1a(b"a"), 0xaf63_dc4c_8601_ec8c);
    }

    proptest! {
        #[test]
        fn numbers_do_not_matter(a in 0_u64.., b in 0_u64..) {
            prop_assert_eq!(of(&format!("line {a} failed")), of(&format!("line {b} failed")));
        }

        #[test]
        fn folders_do_not_matter(a in "(/[a-z0-9_.-]{1,8}){1,5}", b in "(/[a-z0-9_.-]{1,8}){1,5}") {
            prop_assert_eq!(of(&format!("open {a}/x.toml")), of(&format!("open {b}/x.toml")));
        }
    }
}
