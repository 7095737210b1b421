use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::RelPath;

use super::invocation::Invocation;
use super::plain_runner::PlainRunner;
use super::repository;

/// What git thinks of a path of the workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It, or something in it, is in the index.
    Tracked,
    /// It would never be committed by mistake.
    Ignored,
    /// Neither: the next commit of everything would take it.
    Committable,
    /// There is no repository around the workspace.
    NoRepository,
    /// Git is missing, or refuses to say.
    Unknown,
}

/// Asks git about a path, which need not exist. The workspace may be any folder of a work tree.
#[must_use]
pub fn standing(root: &Path, path: &RelPath) -> Standing {
    if !root.ancestors().any(is_repository) {
        return Standing::NoRepository;
    }
    let name = OsStr::from_bytes(path.as_bytes());
    let listed = Invocation::reading("ls-files").args(["-z", "--cached", "--"]);
    let Ok(listed) = repository::ask(&PlainRunner::default(), root, listed.arg(name)) else {
        return Standing::Unknown;
    };
    if !listed.is_empty() {
        return Standing::Tracked;
    }
    let reply = repository::run(&PlainRunner::default(), root, is_ignored(path));
    match reply.ok().and_then(|reply| reply.exit) {
        Some(0) => Standing::Ignored,
        Some(1) => Standing::Committable,
        _ => Standing::Unknown,
    }
}

/// This one refuses to take paths literally, but expands none; `./` keeps a colon from
/// meaning something.
fn is_ignored(path: &RelPath) -> Invocation {
    let name = [b"./", path.as_bytes()].concat();
    Invocation::with_hooks("check-ignore")
        .config("core.hooksPath=/dev/null")
        .env("GIT_OPTIONAL_LOCKS", "0")
        .args(["--quiet", "--"])
        .arg(OsStr::from_bytes(&name))
}

fn is_repository(folder: &Path) -> bool {
    folder.join(".git").symlink_metadata().is_ok()
}
