use std::ffi::OsStr;
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A path inside the workspace, as bytes.
///
/// File names need not be text: they may contain line breaks, quotes, a leading dash or invalid
/// UTF-8. As text (in the journal and in messages), such a path is quoted and its odd bytes
/// escaped, so that parsing the text returns the same bytes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct RelPath(Vec<u8>);

/// The error for a path that isn't inside the workspace.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a path inside the workspace")]
pub struct RelPathError(String);

impl RelPath {
    /// Checks and wraps a path.
    ///
    /// # Errors
    /// Returns an error if the path is absolute, contains `..`, or is empty.
    pub fn new(bytes: impl Into<Vec<u8>>) -> Result<Self, RelPathError> {
        let bytes = bytes.into();
        if is_inside(&bytes) {
            Ok(Self(bytes))
        } else {
            Err(RelPathError(bytes.escape_ascii().to_string()))
        }
    }

    /// Makes `path` relative to `root`.
    ///
    /// # Errors
    /// Returns an error if it isn't inside.
    pub fn inside(root: &Path, path: &Path) -> Result<Self, RelPathError> {
        let inner = path.strip_prefix(root).unwrap_or(path);
        let plain: PathBuf = inner
            .components()
            .filter(|part| *part != Component::CurDir)
            .collect();
        Self::new(plain.as_os_str().as_bytes())
    }

    /// Returns the bytes of the path.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Returns the path, relative to the workspace.
    #[must_use]
    pub fn as_path(&self) -> &Path {
        Path::new(OsStr::from_bytes(&self.0))
    }

    /// Returns the full path.
    #[must_use]
    pub fn under(&self, root: &Path) -> PathBuf {
        root.join(self.as_path())
    }

    /// Returns whether this is `folder` or below it.
    #[must_use]
    pub fn is_within(&self, folder: &str) -> bool {
        self.as_path().starts_with(folder)
    }

    /// Returns the parent folders, nearest first, without the workspace itself.
    pub fn folders(&self) -> impl Iterator<Item = &Path> {
        let above = self.as_path().ancestors().skip(1);
        above.take_while(|folder| !folder.as_os_str().is_empty())
    }
}

fn is_inside(bytes: &[u8]) -> bool {
    !bytes.contains(&0)
        && bytes
            .split(|byte| *byte == b'/')
            .all(|part| !matches!(part, b"" | b"." | b".."))
}

impl fmt::Display for RelPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match std::str::from_utf8(&self.0) {
            Ok(text) if !needs_quotes(text) => f.write_str(text),
            _ => write!(f, "\"{}\"", self.0.escape_ascii()),
        }
    }
}

fn needs_quotes(text: &str) -> bool {
    text.starts_with('"') || text.chars().any(char::is_control)
}

impl FromStr for RelPath {
    type Err = RelPathError;

    fn from_str(text: &str) -> Result<Self, RelPathError> {
        let no_path = || RelPathError(text.to_owned());
        let quoted = text
            .strip_prefix('"')
            .map(|rest| rest.strip_suffix('"').and_then(unescaped));
        match quoted {
            None => Self::new(text),
            Some(bytes) => Self::new(bytes.ok_or_else(no_path)?),
        }
    }
}

/// Undoes `escape_ascii`.
fn unescaped(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'\\' => escaped_byte(&mut rest)?,
            plain => plain,
        });
    }
    Some(bytes)
}

fn escaped_byte(rest: &mut impl Iterator<Item = u8>) -> Option<u8> {
    Some(match rest.next()? {
        b't' => b'\t',
        b'n' => b'\n',
        b'r' => b'\r',
        b'x' => hex_digit(rest.next()?)? * 16 + hex_digit(rest.next()?)?,
        literal @ (b'\\' | b'"' | b'\'') => literal,
        _ => return None,
    })
}

fn hex_digit(byte: u8) -> Option<u8> {
    char::from(byte)
        .to_digit(16)
        .and_then(|digit| u8::try_from(digit).ok())
}

impl From<RelPath> for String {
    fn from(path: RelPath) -> Self {
        path.to_string()
    }
}

impl TryFrom<String> for RelPath {
    type Error = RelPathError;

    fn try_from(text: String) -> Result<Self, RelPathError> {
        text.parse()
    }
}

/// One path that differs between two snapshots.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Change {
    /// The path.
    pub path: RelPath,
    /// How it differs.
    pub kind: ChangeKind,
}

/// How a path changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ChangeKind {
    /// It is new.
    Added,
    /// Its content or its executable bit changed.
    Modified,
    /// It is gone.
    Deleted,
    /// A file became a link or a nested repository, or the other way round.
    TypeChanged,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(bytes: &[u8], text: &str) {
        assert_eq!(RelPath::new(bytes).unwrap().to_string(), text);
    }

    #[test]
    fn ordinary_names_are_shown_as_they_are() {
        check(b"src/main.rs", "src/main.rs");
        check("grün/日本.txt".as_bytes(), "grün/日本.txt");
        check(b"-rf a'b \\", "-rf a'b \\");
    }

    #[test]
    fn odd_names_are_shown_in_quotes() {
        check(b"a\nb", r#""a\nb""#);
        check(b"\xff\x1b", r#""\xff\x1b""#);
        check(br#""q""#, r#""\"q\"""#);
    }

    #[test]
    fn nothing_outside_the_workspace_is_a_path() {
        for bytes in [
            &b""[..],
            b"/etc/passwd",
            b"..",
            b"a/../b",
            b"./a",
            b"a/",
            b"a//b",
            b"a\0b",
        ] {
            assert!(RelPath::new(bytes).is_err(), "{}", bytes.escape_ascii());
        }
        let root = Path::new("/w");
        assert!(RelPath::inside(root, Path::new("/v/a")).is_err());
        let inside = RelPath::inside(root, Path::new("/w/./a/b")).unwrap();
        assert_eq!(inside.as_bytes(), b"a/b");
    }

    proptest! {
        #[test]
        fn text_round_trips_to_bytes(bytes in proptest::collection::vec(any::<u8>(), 1..20)) {
            if let Ok(path) = RelPath::new(bytes) {
                prop_assert_eq!(path.to_string().parse::<RelPath>().unwrap(), path.clone());
                prop_assert!(!path.to_string().contains(char::is_control));
            }
        }
    }
}
