use std::ffi::OsString;
use std::fs::{self, File, Metadata, OpenOptions, TryLockError};
use std::io::{self, Seek, SeekFrom, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{Access, AtFlags, CWD, Gid, Mode, OFlags, Uid, XattrFlags};
use rustix::io::Errno;

use super::bounded::{MAX_FILE, open_regular, read_bounded};
use super::disk::FolderLock;
use super::disk::{Disk, FileId, FileKind, FileStat, NewFileAccess};

/// How long to wait for another regreen, which needs a folder only for milliseconds. One that holds
/// it longer is stuck, and waiting longer would only hide that.
const LOCK_PATIENCE: Duration = Duration::from_secs(10);
const LOCK_PAUSE: Duration = Duration::from_millis(2);

/// The disk of this machine.
#[derive(Debug, Clone, Copy, Default)]
pub struct RealDisk;

impl Disk for RealDisk {
    fn resolve(&self, path: &Path) -> io::Result<PathBuf> {
        fs::canonicalize(path)
    }

    fn stat(&self, path: &Path) -> io::Result<FileStat> {
        fs::symlink_metadata(path).map(|metadata| stat_of(&metadata))
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let file = open_regular(OpenOptions::new().read(true), path, OFlags::NOFOLLOW)?;
        read_bounded(&file, MAX_FILE)
    }

    fn check_writable(&self, path: &Path) -> io::Result<()> {
        check_access(path, Access::WRITE_OK)
    }

    fn check_executable(&self, path: &Path) -> io::Result<()> {
        check_access(path, Access::EXEC_OK)
    }

    fn create_new(&self, path: &Path, access: NewFileAccess) -> io::Result<File> {
        OpenOptions::new()
            .read(true)
            .write(true)
            .create_new(true)
            .mode(match access {
                NewFileAccess::Usual => 0o666,
                NewFileAccess::OwnerOnly => 0o600,
            })
            .custom_flags(flags(OFlags::NOFOLLOW))
            .open(path)
    }

    fn keep_attributes(&self, file: &File, like: &Path) -> io::Result<()> {
        let model = open_regular(OpenOptions::new().read(true), like, OFlags::NOFOLLOW)?;
        let wanted = model.metadata()?;
        // Set the owner first: changing it may clear mode bits.
        keep_owner(file, &wanted)?;
        keep_extended_attributes(file, &model)?;
        let mode = Mode::from_raw_mode((wanted.mode() & 0o7777) as _);
        Ok(rustix::fs::fchmod(file, mode)?)
    }

    fn open_existing(&self, path: &Path) -> io::Result<File> {
        let mut options = OpenOptions::new();
        open_regular(options.read(true).write(true), path, OFlags::NOFOLLOW)
    }

    fn read_open(&self, mut file: &File) -> io::Result<Vec<u8>> {
        file.seek(SeekFrom::Start(0))?;
        read_bounded(file, MAX_FILE)
    }

    fn write(&self, mut file: &File, bytes: &[u8]) -> io::Result<()> {
        file.seek(SeekFrom::Start(0))?;
        file.write_all(bytes)
    }

    fn truncate(&self, file: &File, length: u64) -> io::Result<()> {
        file.set_len(length)
    }

    fn sync_file(&self, file: &File) -> io::Result<()> {
        file.sync_all()
    }

    fn exchange(&self, one: &Path, other: &Path) -> io::Result<()> {
        rename_with_flags(one, other, RenameKind::Exchange)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn rename_new(&self, from: &Path, to: &Path) -> io::Result<()> {
        rename_with_flags(from, to, RenameKind::NoReplace)
    }

    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::hard_link(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        File::open(folder)?.sync_all()
    }

    fn create_folder(&self, folder: &Path) -> io::Result<()> {
        fs::create_dir(folder)
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<OsString>> {
        fs::read_dir(folder)?
            .map(|entry| entry.map(|entry| entry.file_name()))
            .collect()
    }

    fn lock_folder(&self, folder: &Path) -> io::Result<FolderLock> {
        let Ok(handle) = File::open(folder) else {
            // This user may write to the folder but not list it, and so can't lock it.
            return Ok(FolderLock::unsupported());
        };
        wait_for_turn(handle, Instant::now() + LOCK_PATIENCE)
    }
}

fn wait_for_turn(folder: File, until: Instant) -> io::Result<FolderLock> {
    loop {
        match folder.try_lock() {
            Ok(()) => return Ok(FolderLock::held(folder)),
            Err(TryLockError::WouldBlock) if Instant::now() < until => thread::sleep(LOCK_PAUSE),
            Err(TryLockError::WouldBlock) => return Err(io::ErrorKind::WouldBlock.into()),
            // Network file systems often can't lock folders.
            Err(TryLockError::Error(_)) => return Ok(FolderLock::unsupported()),
        }
    }
}

#[expect(
    clippy::cast_possible_wrap,
    reason = "the flags are small numbers that the system call takes as a C int"
)]
fn flags(flags: OFlags) -> i32 {
    flags.bits() as i32
}

fn stat_of(metadata: &Metadata) -> FileStat {
    FileStat {
        id: FileId {
            device: metadata.dev(),
            inode: metadata.ino(),
        },
        kind: if metadata.is_file() {
            FileKind::Regular
        } else if metadata.is_dir() {
            FileKind::Folder
        } else {
            FileKind::Other
        },
        links: metadata.nlink(),
    }
}

/// Sets only what differs: on some file systems, ordinary users may not even set the owner to
/// themselves.
fn keep_owner(file: &File, wanted: &Metadata) -> io::Result<()> {
    let now = file.metadata()?;
    let owner = (now.uid() != wanted.uid()).then(|| Uid::from_raw(wanted.uid()));
    let group = (now.gid() != wanted.gid()).then(|| Gid::from_raw(wanted.gid()));
    if owner.is_none() && group.is_none() {
        return Ok(());
    }
    Ok(rustix::fs::fchown(file, owner, group)?)
}

/// Copies access control lists, security labels and other extended attributes.
fn keep_extended_attributes(file: &File, model: &File) -> io::Result<()> {
    for name in extended_attributes(model)? {
        let wanted = extended_attribute(model, &name)?;
        let same = extended_attribute(file, &name).is_ok_and(|now| now == wanted);
        if !same {
            rustix::fs::fsetxattr(file, name.as_slice(), &wanted, XattrFlags::empty())?;
        }
    }
    Ok(())
}

fn extended_attributes(file: &File) -> io::Result<Vec<Vec<u8>>> {
    let names = match rustix::fs::flistxattr_query(file) {
        Ok(size) => filled(size, |buffer| rustix::fs::flistxattr(file, buffer))?,
        Err(Errno::NOTSUP | Errno::NOSYS) => Vec::new(),
        Err(error) => return Err(error.into()),
    };
    Ok(names
        .split(|byte| *byte == 0)
        .filter(|name| !name.is_empty())
        .map(<[u8]>::to_vec)
        .collect())
}

fn extended_attribute(file: &File, name: &[u8]) -> io::Result<Vec<u8>> {
    let size = rustix::fs::fgetxattr_query(file, name)?;
    filled(size, |buffer| rustix::fs::fgetxattr(file, name, buffer))
}

fn filled(
    size: usize,
    fill: impl FnOnce(&mut [u8]) -> rustix::io::Result<usize>,
) -> io::Result<Vec<u8>> {
    if size == 0 {
        return Ok(Vec::new());
    }
    let mut buffer = vec![0; size];
    let used = fill(&mut buffer)?;
    buffer.truncate(used);
    Ok(buffer)
}

#[derive(Clone, Copy)]
enum RenameKind {
    Exchange,
    NoReplace,
}

#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
fn rename_with_flags(from: &Path, to: &Path, kind: RenameKind) -> io::Result<()> {
    use rustix::fs::{RenameFlags, renameat_with};
    let flags = match kind {
        RenameKind::Exchange => RenameFlags::EXCHANGE,
        RenameKind::NoReplace => RenameFlags::NOREPLACE,
    };
    Ok(renameat_with(CWD, from, CWD, to, flags)?)
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
fn rename_with_flags(_from: &Path, _to: &Path, _kind: RenameKind) -> io::Result<()> {
    Err(Errno::NOSYS.into())
}
fn check_access(path: &Path, access: Access) -> io::Result<()> {
    Ok(rustix::fs::accessat(CWD, path, access, AtFlags::EACCESS)?)
}
