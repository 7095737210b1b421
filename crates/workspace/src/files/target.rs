use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use super::disk::Disk;
use super::temp_name::TempName;

/// The file that is written: its real place, behind all links.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    pub(crate) folder: PathBuf,
    pub(crate) name: OsString,
    pub(crate) path: PathBuf,
}

impl Target {
    /// An existing file. A link stays a link: what it leads to is the target, and
    /// temporary files lie beside that.
    pub(crate) fn existing(disk: &dyn Disk, path: &Path) -> io::Result<Target> {
        let real = disk.resolve(path)?;
        let folder = real.parent().ok_or(io::ErrorKind::IsADirectory)?.to_owned();
        Target::named(folder, &real)
    }

    /// The name itself, whatever stands there, in the real folder.
    pub(crate) fn name_in_folder(disk: &dyn Disk, path: &Path) -> io::Result<Target> {
        let folder = match path.parent() {
            Some(parent) if parent != Path::new("") => disk.resolve(parent)?,
            _ => disk.resolve(Path::new("."))?,
        };
        Target::named(folder, path)
    }

    pub(crate) fn beside(&self, temp: TempName) -> PathBuf {
        self.folder.join(temp.beside(&self.name))
    }

    fn named(folder: PathBuf, path: &Path) -> io::Result<Target> {
        let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        Ok(Target {
            path: folder.join(name),
            name: name.to_owned(),
            folder,
        })
    }
}
