use std::ffi::{OsStr, OsString};
use std::io::{self, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use regreen_workspace::RelPath;
use rustix::fs::{Mode, fchmod};

use crate::context::RepairContext;
use crate::folder::Folder;
use crate::inspections::{crlf_script, why_not_executable};

/// Larger files aren't examples.
const MAX_SIZE: u64 = 1024 * 1024;

/// Copies a file to a path that doesn't exist. Only the owner can read the copy, because settings
/// files often hold secrets.
pub(super) fn copy_file(
    context: &RepairContext<'_>,
    from: &RelPath,
    to: &RelPath,
) -> Result<(), String> {
    let bytes = read(context, from).map_err(|error| format!("cannot read {from}: {error}"))?;
    write(context, to, &bytes).map_err(|error| format!("cannot write {to}: {error}"))
}

fn read(context: &RepairContext<'_>, from: &RelPath) -> io::Result<Vec<u8>> {
    let (folder, name) = Folder::of(context.root, from)?;
    let file = folder.file(&name)?;
    if !file.metadata()?.is_file() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let mut bytes = Vec::new();
    file.take(MAX_SIZE).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn write(context: &RepairContext<'_>, to: &RelPath, bytes: &[u8]) -> io::Result<()> {
    let (folder, name) = Folder::of(context.root, to)?;
    let mut file = folder.new_file(&name, 0o600)?;
    let written = file.write_all(bytes).and_then(|()| file.sync_all());
    if written.is_err() {
        let _ = folder.remove_file(&name);
    }
    written
}

/// Creates a folder and its parents. If part of the path is anything but a folder of the workspace,
/// fails and removes whatever it created.
pub(super) fn make_folder(context: &RepairContext<'_>, path: &RelPath) -> Result<(), String> {
    let mut made = Vec::new();
    let result = make(context, path, &mut made);
    if result.is_err() {
        for (folder, name) in made.iter().rev() {
            // This fails, and the folder stays, if someone has already put something into it.
            let _ = folder.remove_folder(name);
        }
    }
    result.map_err(|error| format!("cannot create {path}: {error}"))
}

fn make<'p>(
    context: &RepairContext<'_>,
    path: &'p RelPath,
    made: &mut Vec<(Folder, &'p OsStr)>,
) -> io::Result<()> {
    let mut folder = Folder::open(context.root)?;
    for name in path.as_path() {
        let is_new = match folder.make_folder(name) {
            Ok(()) => true,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => false,
            Err(error) => return Err(error),
        };
        let inner = folder.enter(name)?;
        if is_new {
            made.push((folder, name));
        }
        folder = inner;
    }
    Ok(())
}

/// Converts the line endings of a script to LF; keeps its mode.
pub(super) fn line_ends(context: &RepairContext<'_>, path: &RelPath) -> Result<(), String> {
    let bytes = crlf_script(context, path).map_err(|why| format!("{path} {why}"))?;
    let cannot = |error: io::Error| format!("cannot write {path}: {error}");
    let (folder, name) = Folder::of(context.root, path).map_err(cannot)?;
    let mode = folder.stat(&name).map_err(cannot)?.st_mode;
    folder.replace(&name, &unix(&bytes), mode).map_err(cannot)
}

fn unix(bytes: &[u8]) -> Vec<u8> {
    let mut lines: Vec<u8> = Vec::with_capacity(bytes.len());
    for byte in bytes {
        if *byte == b'\n' && lines.last() == Some(&b'\r') {
            lines.pop();
        }
        lines.push(*byte);
    }
    lines
}

/// Makes a file executable for everyone who may read it. Keeps the file open between the check and
/// the change, so that both apply to the same file.
pub(super) fn make_executable(context: &RepairContext<'_>, path: &RelPath) -> Result<(), String> {
    let cannot = |error: io::Error| format!("cannot make {path} executable: {error}");
    let (folder, name) = Folder::of(context.root, path).map_err(cannot)?;
    let file = folder.file(&name).map_err(cannot)?;
    if let Some(why) = why_not_executable(path, &file) {
        return Err(format!("{path} {why}"));
    }
    let mode = file.metadata().map_err(cannot)?.permissions().mode() & 0o777;
    fchmod(&file, Mode::from_raw_mode(mode | ((mode & 0o444) >> 2)))
        .map_err(|error| cannot(error.into()))?;
    let now = file.metadata().map_err(cannot)?.permissions().mode();
    match now & 0o100 {
        0 => Err(format!(
            "{path} did not become executable; the file system may not allow it"
        )),
        _ => Ok(()),
    }
}

/// The folder for files that are set aside, because nothing is ever deleted.
const ASIDE: &str = "removed";
/// How many files are kept there.
const MAX_KEPT: u32 = 10_000;

/// Moves a file or folder to `.regreen/removed/<n>/`. Checks afterwards that it moved the right
/// one, and otherwise moves it back.
pub(super) fn move_aside(context: &RepairContext<'_>, path: &RelPath) -> Result<(), String> {
    set_aside(context, path).map_err(|error| format!("cannot move {path} aside: {error}"))
}

pub(crate) fn set_aside(context: &RepairContext<'_>, path: &RelPath) -> io::Result<()> {
    set_aside_in(context.root, path)
}

/// Moves a file of this workspace to `.regreen/removed/`.
pub(crate) fn set_aside_in(root: &Path, path: &RelPath) -> io::Result<()> {
    let (folder, name) = Folder::of(root, path)?;
    let before = folder.stat(&name)?;
    let kept = free_place(root)?;
    folder.rename(&name, &kept, &name)?;
    let after = kept.stat(&name)?;
    if (before.st_dev, before.st_ino) == (after.st_dev, after.st_ino) {
        return Ok(());
    }
    kept.rename(&name, &folder, &name)?;
    Err(io::Error::other("something else was put in its place"))
}

fn free_place(root: &Path) -> io::Result<Folder> {
    let root = Folder::open(root)?;
    let removed = root
        .enter_or_make(OsStr::new(".regreen"))?
        .enter_or_make(OsStr::new(ASIDE))?;
    for number in 1..MAX_KEPT {
        let name = OsString::from(number.to_string());
        match removed.make_folder(&name) {
            Ok(()) => return removed.enter(&name),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::other("`.regreen/removed` is full"))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use crate::context::tests::with_context;

    use super::*;

    #[test]
    fn a_copy_never_replaces_anything() {
        with_context(|context| {
            let (from, to) = (
                RelPath::new(".env.example").unwrap(),
                RelPath::new(".env").unwrap(),
            );
            fs::write(from.under(context.root), "A=1\n").unwrap();
            copy_file(context, &from, &to).unwrap();
            assert_eq!(fs::read_to_string(to.under(context.root)).unwrap(), "A=1\n");
            fs::write(to.under(context.root), "A=mine\n").unwrap();
            assert!(copy_file(context, &from, &to).is_err());
            assert_eq!(
                fs::read_to_string(to.under(context.root)).unwrap(),
                "A=mine\n"
            );
        });
    }

    #[test]
    fn a_folder_is_created_with_its_parents() {
        with_context(|context| {
            make_folder(context, &RelPath::new("build/report").unwrap()).unwrap();
            assert!(context.root.join("build/report").is_dir());
        });
    }

    #[test]
    fn a_link_in_the_path_fails_and_leaves_nothing_behind() {
        with_context(|context| {
            let outside = tempfile::tempdir().unwrap();
            symlink(outside.path(), context.root.join("link")).unwrap();
            assert!(make_folder(context, &RelPath::new("link/x").unwrap()).is_err());
            fs::write(context.root.join("file"), "").unwrap();
            assert!(make_folder(context, &RelPath::new("file/x").unwrap()).is_err());
            assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0);
        });
    }

    #[test]
    fn only_line_endings_of_a_script_change() {
        with_context(|context| {
            let path = context.root.join("a.sh");
            fs::write(&path, "#!/bin/sh\r\necho 'a\rb'\r\n").unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
            line_ends(context, &RelPath::new("a.sh").unwrap()).unwrap();
            assert_eq!(fs::read(&path).unwrap(), b"#!/bin/sh\necho 'a\rb'\n");
            assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o755);
            assert_eq!(fs::read_dir(context.root).unwrap().count(), 1);
        });
    }

    #[test]
    fn everyone_who_may_read_a_script_may_run_it() {
        with_context(|context| {
            let path = context.root.join("run.sh");
            fs::write(&path, "#!/bin/sh\n").unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
            let place = RelPath::new("run.sh").unwrap();
            make_executable(context, &place).unwrap();
            assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o750);
            assert!(make_executable(context, &place).is_err());
        });
    }

    #[test]
    fn files_set_aside_are_kept() {
        with_context(|context| {
            for content in ["one", "two"] {
                fs::create_dir(context.root.join("cache")).unwrap();
                fs::write(context.root.join("cache/x"), content).unwrap();
                move_aside(context, &RelPath::new("cache").unwrap()).unwrap();
                assert!(!context.root.join("cache").exists());
            }
            let kept = |n: u32| {
                fs::read_to_string(context.root.join(format!(".regreen/removed/{n}/cache/x")))
                    .unwrap()
            };
            assert_eq!((kept(1).as_str(), kept(2).as_str()), ("one", "two"));
        });
    }
}
