use crate::{Change, ChangeKind, RelPath};

use super::repository::Oid;

/// An entry of a tree or an index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) mode: Mode,
    pub(super) oid: Oid,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    File,
    Executable,
    Link,
    /// A commit in another repository.
    Repository,
}

impl Mode {
    pub(super) fn parse(digits: &str) -> Option<Self> {
        match digits {
            // Very old trees also contain group-writable files.
            "100644" | "100664" => Some(Self::File),
            "100755" => Some(Self::Executable),
            "120000" => Some(Self::Link),
            "160000" => Some(Self::Repository),
            _ => None,
        }
    }

    pub(super) fn digits(self) -> &'static str {
        match self {
            Self::File => "100644",
            Self::Executable => "100755",
            Self::Link => "120000",
            Self::Repository => "160000",
        }
    }
}

/// One record of `--raw -z`: a path with its old and new entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RawChange {
    pub(super) path: RelPath,
    pub(super) old: Option<Entry>,
    pub(super) new: Option<Entry>,
    /// Whether the path has unresolved conflicts.
    pub(super) unmerged: bool,
}

impl RawChange {
    pub(super) fn into_change(self) -> Option<Change> {
        let kind = match (&self.old, &self.new) {
            (None, Some(_)) => ChangeKind::Added,
            (Some(_), None) => ChangeKind::Deleted,
            (Some(old), Some(new)) if is_file(old) == is_file(new) && same_type(old, new) => {
                ChangeKind::Modified
            }
            (Some(_), Some(_)) => ChangeKind::TypeChanged,
            (None, None) => return None,
        };
        Some(Change {
            path: self.path,
            kind,
        })
    }
}

fn is_file(entry: &Entry) -> bool {
    matches!(entry.mode, Mode::File | Mode::Executable)
}

fn same_type(old: &Entry, new: &Entry) -> bool {
    is_file(old) || old.mode == new.mode
}

/// Parses `:100644 100755 <oid> <oid> M\0path\0…`; returns `None` for anything else.
pub(super) fn parse_raw(output: &[u8]) -> Option<Vec<RawChange>> {
    let mut fields = output.split(|byte| *byte == 0);
    let mut changes = Vec::new();
    while let Some(head) = fields.next().filter(|head| !head.is_empty()) {
        changes.push(parse_record(head, fields.next()?)?);
    }
    Some(changes)
}

fn parse_record(head: &[u8], path: &[u8]) -> Option<RawChange> {
    let head = std::str::from_utf8(head).ok()?.strip_prefix(':')?;
    let mut words = head.split(' ');
    let (old_mode, new_mode) = (words.next()?, words.next()?);
    let (old_oid, new_oid) = (words.next()?, words.next()?);
    Some(RawChange {
        path: RelPath::new(path).ok()?,
        old: parse_entry(old_mode, old_oid)?,
        new: parse_entry(new_mode, new_oid)?,
        unmerged: words.next()?.starts_with('U'),
    })
}

/// Parses one side; `Some(None)` if the path doesn't exist there.
fn parse_entry(mode: &str, oid: &str) -> Option<Option<Entry>> {
    if mode == "000000" {
        return Some(None);
    }
    let (mode, oid) = (Mode::parse(mode)?, Oid::parse(oid)?);
    Some(Some(Entry { mode, oid }))
}

/// Returns input for `update-index -z --index-info` that sets `entries`; `None` removes the
/// path.
pub(super) fn index_info<'a>(
    entries: impl IntoIterator<Item = (&'a RelPath, Option<&'a Entry>)>,
    null: &Oid,
) -> Vec<u8> {
    let mut lines = Vec::new();
    for (path, entry) in entries {
        let (mode, oid) = entry.map_or(("0", null), |entry| (entry.mode.digits(), &entry.oid));
        lines.extend_from_slice(format!("{mode} {oid}\t").as_bytes());
        lines.extend_from_slice(path.as_bytes());
        lines.push(0);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: &str = "1111111111111111111111111111111111111111";
    const TWO: &str = "2222222222222222222222222222222222222222";
    const NULL: &str = "0000000000000000000000000000000000000000";

    fn kinds(records: &[(&str, &str, &str)]) -> Vec<(String, ChangeKind)> {
        let mut raw = String::new();
        for (old, new, path) in records {
            let oid = |mode: &str, oid: &'static str| if mode == "000000" { NULL } else { oid };
            raw += &format!(
                ":{old} {new} {} {} X\0{path}\0",
                oid(old, ONE),
                oid(new, TWO)
            );
        }
        let changes = parse_raw(raw.as_bytes()).unwrap().into_iter();
        changes
            .filter_map(RawChange::into_change)
            .map(|change| (change.path.to_string(), change.kind))
            .collect()
    }

    #[test]
    fn modes_determine_the_kind_of_change() {
        let found = kinds(&[
            ("000000", "100644", "new\nline"),
            ("100644", "000000", "gone"),
            ("100644", "100755", "run"),
            ("100644", "120000", "link"),
            ("160000", "100644", "repo"),
            ("120000", "120000", "moved link"),
            ("160000", "160000", "other commit"),
        ]);
        let kinds: Vec<ChangeKind> = found.iter().map(|(_, kind)| *kind).collect();
        use ChangeKind::{Added, Deleted, Modified, TypeChanged};
        assert_eq!(
            kinds,
            [
                Added,
                Deleted,
                Modified,
                TypeChanged,
                TypeChanged,
                Modified,
                Modified
            ]
        );
        assert_eq!(found.first().unwrap().0, "\"new\\nline\"");
    }

    #[test]
    fn invalid_raw_diffs_are_refused() {
        for bad in [
            "hello".to_owned(),
            format!(":100644 100644 {ONE} {TWO} M\0"),
            format!(":100644 100644 {ONE} {TWO} M\0../x\0"),
            format!(":999999 100644 {ONE} {TWO} M\0x\0"),
        ] {
            assert_eq!(parse_raw(bad.as_bytes()), None, "{bad:?}");
        }
        assert_eq!(parse_raw(b""), Some(Vec::new()));
    }

    #[test]
    fn entries_are_set_or_removed() {
        let null = Oid::parse(NULL).unwrap();
        let entry = Entry {
            mode: Mode::Executable,
            oid: Oid::parse(ONE).unwrap(),
        };
        let (a, b) = (RelPath::new(*b"a").unwrap(), RelPath::new(*b"-b").unwrap());
        let lines = index_info([(&a, Some(&entry)), (&b, None)], &null);
        assert_eq!(
            String::from_utf8(lines).unwrap(),
            format!("100755 {ONE}\ta\x000 {NULL}\t-b\0")
        );
    }
}
