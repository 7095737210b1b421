//! Reads and writes references as files, in repositories that store them so.
//!
//! Every function returns `None` if git must be asked: another format (reftable), a symbolic
//! reference below `refs/`, a HEAD that isn't a plain file.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::files::{MAX_FILE, read_file};

use super::repository::Oid;

/// The location of a repository's references.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReferenceFiles<'a> {
    /// The git directory of the work tree, with HEAD.
    dir: &'a Path,
    /// The git directory shared by all work trees, with everything below `refs/`.
    common: &'a Path,
}

/// The contents of HEAD.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum HeadFile {
    Branch(String),
    Detached(Oid),
}

impl<'a> ReferenceFiles<'a> {
    /// Returns `None` if the repository stores its references in another way. A repository can be
    /// converted at any time, so this is determined anew each time.
    pub(super) fn of(dir: &'a Path, common: &'a Path) -> Option<Self> {
        let is_reftable = common.join("reftable").symlink_metadata().is_ok();
        (!is_reftable).then_some(Self { dir, common })
    }

    pub(super) fn head(self) -> Option<HeadFile> {
        let path = self.dir.join("HEAD");
        // Very old repositories have a symbolic link here.
        if !path.symlink_metadata().ok()?.is_file() {
            return None;
        }
        let text = read_line(&path)?;
        match text.strip_prefix("ref:") {
            Some(branch) => {
                let branch = branch.trim_start();
                branch
                    .starts_with("refs/heads/")
                    .then(|| HeadFile::Branch(branch.to_owned()))
            }
            None => Oid::parse(&text).map(HeadFile::Detached),
        }
    }

    /// Returns the object that a full reference points to.
    pub(super) fn value(self, reference: &str) -> Option<Oid> {
        if !reference.starts_with("refs/heads/") || reference.contains("..") {
            return None;
        }
        let path = self.common.join(reference);
        match path.symlink_metadata() {
            Ok(found) if found.is_file() => Oid::parse(&read_line(&path)?),
            Ok(_) => None,
            Err(error) if error.kind() == io::ErrorKind::NotFound => self.packed(reference),
            Err(_) => None,
        }
    }

    /// Returns the references with these names or below them, each with its object.
    pub(super) fn all(self, names: &[&str]) -> Option<BTreeMap<String, Oid>> {
        let mut found = self.all_packed(names)?;
        for name in names {
            self.add_files(name, &mut found)?;
        }
        Some(found)
    }

    fn all_packed(self, names: &[&str]) -> Option<BTreeMap<String, Oid>> {
        let bytes = match read_file(&self.common.join("packed-refs"), MAX_FILE) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(_) => return None,
        };
        let text = String::from_utf8(bytes).ok()?;
        let is_wanted = |reference: &str| {
            names.iter().any(|name| {
                let rest = reference.strip_prefix(name);
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            })
        };
        let lines = text.lines().filter_map(|line| line.split_once(' '));
        let values = lines.filter_map(|(value, reference)| {
            let value = Oid::parse(value).filter(|_| is_wanted(reference))?;
            Some((reference.to_owned(), value))
        });
        Some(values.collect())
    }

    /// Adds references stored as files, which take precedence over packed ones.
    fn add_files(self, name: &str, found: &mut BTreeMap<String, Oid>) -> Option<()> {
        let path = self.common.join(name);
        let there = match path.symlink_metadata() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Some(()),
            there => there.ok()?,
        };
        if there.is_dir() {
            for entry in fs::read_dir(&path).ok()? {
                let entry = entry.ok()?.file_name().into_string().ok()?;
                if !entry.ends_with(".lock") {
                    self.add_files(&format!("{name}/{entry}"), found)?;
                }
            }
            return Some(());
        }
        let value = there.is_file().then(|| read_line(&path))??;
        found.insert(name.to_owned(), Oid::parse(&value)?);
        Some(())
    }

    fn packed(self, reference: &str) -> Option<Oid> {
        let bytes = read_file(&self.common.join("packed-refs"), MAX_FILE).ok()?;
        let lines = bytes.split(|byte| *byte == b'\n');
        let mut values = lines.filter_map(|line| {
            let value = line
                .strip_suffix(reference.as_bytes())?
                .strip_suffix(b" ")?;
            Oid::parse(std::str::from_utf8(value).ok()?)
        });
        values.next()
    }

    /// Sets one of regreen's own references, which nothing else writes.
    pub(super) fn set_own(self, reference: &str, value: &Oid) -> io::Result<()> {
        let path = self.common.join(reference);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        let lock = lock_of(&path);
        let _left_by_a_killed_process = fs::remove_file(&lock);
        let mut file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(&lock)?;
        file.write_all(format!("{value}\n").as_bytes())?;
        fs::rename(&lock, &path)
    }
}

fn lock_of(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".lock");
    PathBuf::from(name)
}

fn read_line(path: &Path) -> Option<String> {
    let text = String::from_utf8(read_file(path, MAX_FILE).ok()?).ok()?;
    Some(text.trim_end().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: &str = "1111111111111111111111111111111111111111";
    const TWO: &str = "2222222222222222222222222222222222222222";

    #[test]
    fn a_file_takes_precedence_over_packed_references() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        fs::write(path.join("HEAD"), "ref: refs/heads/a/b\n").unwrap();
        let packed = format!(
            "# pack-refs with: peeled\n{TWO} refs/heads/x/a/b\n{ONE} refs/heads/a/b\n^{TWO}\n"
        );
        fs::write(path.join("packed-refs"), packed).unwrap();
        let references = ReferenceFiles::of(path, path).unwrap();
        let branch = "refs/heads/a/b";
        assert_eq!(references.head(), Some(HeadFile::Branch(branch.to_owned())));
        assert_eq!(references.value(branch), Oid::parse(ONE));
        fs::create_dir_all(path.join("refs/heads/a")).unwrap();
        fs::write(path.join(branch), format!("{TWO}\n")).unwrap();
        assert_eq!(references.value(branch), Oid::parse(TWO));
    }

    #[test]
    fn all_references_below_a_name_are_found() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        let packed = format!(
            "# pack-refs with: peeled\n{ONE} refs/heads/a\n{ONE} refs/heads/b\n{ONE} refs/remotes/o/a\n{ONE} refs/tags/v1\n^{TWO}\n{ONE} refs/headsman\n"
        );
        fs::write(path.join("packed-refs"), packed).unwrap();
        fs::create_dir_all(path.join("refs/heads/x")).unwrap();
        fs::write(path.join("refs/heads/b"), format!("{TWO}\n")).unwrap();
        fs::write(path.join("refs/heads/x/y"), format!("{TWO}\n")).unwrap();
        fs::write(path.join("refs/heads/x/y.lock"), "").unwrap();
        fs::write(path.join("refs/stash"), format!("{ONE}\n")).unwrap();
        let references = ReferenceFiles::of(path, path).unwrap();
        let names = ["refs/heads", "refs/tags", "refs/stash"];
        let all = references.all(&names).unwrap();
        let found: Vec<_> = all
            .iter()
            .map(|(name, oid)| (name.as_str(), oid.as_str()))
            .collect();
        assert_eq!(
            found,
            [
                ("refs/heads/a", ONE),
                ("refs/heads/b", TWO),
                ("refs/heads/x/y", TWO),
                ("refs/stash", ONE),
                ("refs/tags/v1", ONE),
            ]
        );
        fs::write(path.join("refs/heads/odd"), "ref: refs/heads/a\n").unwrap();
        assert_eq!(references.all(&names), None);
    }

    #[test]
    fn everything_unusual_is_left_to_git() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        let references = ReferenceFiles::of(path, path).unwrap();
        for text in ["ref: refs/remotes/x/y\n", "hello\n", "ref: x\n"] {
            fs::write(path.join("HEAD"), text).unwrap();
            assert_eq!(references.head(), None, "{text}");
        }
        fs::create_dir_all(path.join("refs/heads")).unwrap();
        fs::write(path.join("refs/heads/a"), "ref: refs/heads/b\n").unwrap();
        for name in [
            "refs/heads/a",
            "refs/heads/none",
            "refs/heads/../../HEAD",
            "HEAD",
        ] {
            assert_eq!(references.value(name), None, "{name}");
        }
        fs::create_dir(path.join("reftable")).unwrap();
        assert!(ReferenceFiles::of(path, path).is_none());
    }
}
