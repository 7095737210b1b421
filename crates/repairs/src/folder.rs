use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use regreen_workspace::RelPath;
use rustix::fs::{AtFlags, Mode, OFlags, Stat};

/// An open folder of the workspace. Operations apply to this folder even if someone replaces it
/// with a link.
#[derive(Debug)]
pub(crate) struct Folder(OwnedFd);

const HOLD: OFlags = OFlags::DIRECTORY
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC)
    .union(OFlags::RDONLY);

impl Folder {
    pub(crate) fn open(root: &Path) -> io::Result<Self> {
        Ok(Self(rustix::fs::open(root, HOLD, Mode::empty())?))
    }

    /// Opens the parent folder of `path` without following links. Returns it with the file's
    /// name.
    pub(crate) fn of(root: &Path, path: &RelPath) -> io::Result<(Self, OsString)> {
        let mut folder = Self::open(root)?;
        let mut parts = path.as_path().components().peekable();
        while let Some(part) = parts.next() {
            if parts.peek().is_none() {
                return Ok((folder, part.as_os_str().to_owned()));
            }
            folder = folder.enter(part.as_os_str())?;
        }
        Err(io::ErrorKind::InvalidInput.into())
    }

    pub(crate) fn enter(&self, name: &OsStr) -> io::Result<Self> {
        Ok(Self(rustix::fs::openat(
            &self.0,
            name,
            HOLD,
            Mode::empty(),
        )?))
    }

    /// Enters a folder, and creates it if necessary.
    pub(crate) fn enter_or_make(&self, name: &OsStr) -> io::Result<Self> {
        match self.make_folder(name) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
            _ => self.enter(name),
        }
    }

    pub(crate) fn make_folder(&self, name: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::mkdirat(
            &self.0,
            name,
            Mode::from_raw_mode(0o777),
        )?)
    }

    pub(crate) fn remove_folder(&self, name: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(&self.0, name, AtFlags::REMOVEDIR)?)
    }

    pub(crate) fn remove_file(&self, name: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(&self.0, name, AtFlags::empty())?)
    }

    /// Describes the file itself, without following a symbolic link.
    pub(crate) fn stat(&self, name: &OsStr) -> io::Result<Stat> {
        Ok(rustix::fs::statat(
            &self.0,
            name,
            AtFlags::SYMLINK_NOFOLLOW,
        )?)
    }

    /// Opens a file for reading, without blocking on a pipe.
    pub(crate) fn file(&self, name: &OsStr) -> io::Result<File> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
        Ok(rustix::fs::openat(&self.0, name, flags, Mode::empty())?.into())
    }

    /// Creates a file; fails if anything has that name.
    pub(crate) fn new_file(&self, name: &OsStr, mode: u32) -> io::Result<File> {
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mode = Mode::from_raw_mode(mode);
        Ok(rustix::fs::openat(&self.0, name, flags, mode)?.into())
    }

    /// Replaces a file by rename, so that a crash leaves either the old one or the new one. The
    /// draft has a unique name, and only the draft is ever removed.
    pub(crate) fn replace(&self, name: &OsStr, bytes: &[u8], mode: u32) -> io::Result<()> {
        let draft = draft_name(name);
        let file = self.new_file(&draft, 0o600)?;
        let written = write_draft(file, bytes, mode);
        let placed = written.and_then(|()| self.rename(&draft, self, name));
        if placed.is_err() {
            let _ = self.remove_file(&draft);
        }
        placed
    }

    pub(crate) fn rename(&self, name: &OsStr, to: &Self, new: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::renameat(&self.0, name, &to.0, new)?)
    }
}

fn write_draft(mut file: File, bytes: &[u8], mode: u32) -> io::Result<()> {
    file.write_all(bytes)?;
    rustix::fs::fchmod(&file, Mode::from_raw_mode(mode & 0o777))?;
    file.sync_all()
}

const DRAFT: &str = ".regreen-repair-";

/// Returns a unique name for a draft.
fn draft_name(name: &OsStr) -> OsString {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let mut draft = OsString::from(format!("{DRAFT}{}-{count}-", std::process::id()));
    draft.push(name);
    draft
}

/// Returns whether a file is a draft of another.
pub(crate) fn is_draft_of(draft: &OsStr, name: &OsStr) -> bool {
    let (Some(draft), Some(name)) = (draft.to_str(), name.to_str()) else {
        return false;
    };
    let middle = draft
        .strip_prefix(DRAFT)
        .and_then(|rest| rest.strip_suffix(name))
        .and_then(|rest| rest.strip_suffix('-'));
    middle.is_some_and(|middle| middle.chars().all(|c| c.is_ascii_digit() || c == '-'))
}

/// Checks that every existing part of a path is a folder of the workspace and not a link.
pub(crate) fn is_in_place(root: &Path, folder: &Path) -> io::Result<()> {
    let mut at = Folder::open(root)?;
    for part in folder.components() {
        let Component::Normal(name) = part else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        at = match at.enter(name) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            inner => inner?,
        };
    }
    Ok(())
}

/// Longer texts aren't paths.
const MAX_PATH: usize = 1024;

/// Returns the path in the workspace that a text refers to, with all links resolved; it need not
/// exist. `None` if it is outside, leads through a file, or is the workspace itself.
pub(crate) fn locate(root: &Path, text: &str) -> Option<RelPath> {
    if text.len() > MAX_PATH
        || text.is_empty()
        || text.chars().any(char::is_control)
        || text.starts_with('~')
    {
        return None;
    }
    let full = root.join(text);
    let real = full.canonicalize().ok().or_else(|| resolve_new(&full))?;
    let path = real.strip_prefix(root).ok()?;
    RelPath::new(path.as_os_str().as_bytes()).ok()
}

/// Resolves the existing part of a path; the rest must be plain names.
fn resolve_new(path: &Path) -> Option<PathBuf> {
    // A dangling link exists too.
    if path.symlink_metadata().is_ok() {
        return None;
    }
    let is_plain = |part: Component<'_>| matches!(part, Component::Normal(_));
    let last = path
        .components()
        .next_back()
        .filter(|part| is_plain(*part))?;
    let parent = path.parent()?;
    let real = parent.canonicalize().ok().or_else(|| resolve_new(parent))?;
    Some(real.join(last.as_os_str()))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn paths_outside_the_workspace_are_not_located() {
        let outer = tempfile::tempdir().unwrap();
        let outer = outer.path().canonicalize().unwrap();
        let root = outer.join("w");
        fs::create_dir_all(root.join("a")).unwrap();
        fs::write(outer.join("secret"), "").unwrap();
        symlink("../secret", root.join("out")).unwrap();
        symlink("..", root.join("up")).unwrap();
        symlink("a", root.join("in")).unwrap();
        symlink("/nowhere/x", root.join("broken")).unwrap();
        let at = |text: &str| locate(&root, text).map(|path| path.to_string());
        assert_eq!(at("a/b/c").as_deref(), Some("a/b/c"));
        assert_eq!(at("./a/../a/b").as_deref(), Some("a/b"));
        assert_eq!(at("in/b").as_deref(), Some("a/b"));
        assert_eq!(at(root.join("a").to_str().unwrap()).as_deref(), Some("a"));
        for bad in [
            "",
            ".",
            "..",
            "../w2/x",
            "/etc/passwd",
            "out",
            "up/secret",
            "up/new",
            "broken",
            "~/x",
            "no/../../x",
            "a\nb",
            "broken/x",
        ] {
            assert_eq!(at(bad), None, "{bad}");
        }
    }

    #[test]
    fn replacing_a_file_removes_nothing_else() {
        let root = tempfile::tempdir().unwrap();
        let folder = Folder::open(root.path()).unwrap();
        fs::write(root.path().join(".regreen-a"), "mine").unwrap();
        fs::create_dir(root.path().join("a")).unwrap();
        fs::write(root.path().join("a/x"), "mine").unwrap();
        assert!(folder.replace(OsStr::new("a"), b"new", 0o644).is_err());
        let left = fs::read_to_string(root.path().join(".regreen-a")).unwrap();
        assert_eq!(
            (left.as_str(), root.path().read_dir().unwrap().count()),
            ("mine", 2)
        );
        assert!(is_draft_of(&draft_name(OsStr::new("a")), OsStr::new("a")));
        assert!(!is_draft_of(
            OsStr::new(".regreen-repair-x-a"),
            OsStr::new("a")
        ));
    }

    #[test]
    fn a_folder_that_became_a_link_is_not_entered() {
        let root = tempfile::tempdir().unwrap();
        let path = RelPath::new("a/b").unwrap();
        symlink("/tmp", root.path().join("a")).unwrap();
        assert!(Folder::of(root.path(), &path).is_err());
    }
}
