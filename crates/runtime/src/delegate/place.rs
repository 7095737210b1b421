use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use regreen_model::Timestamp;

use crate::places::own_folder;

/// Locked as long as the delegation is at work.
const AT_WORK: &str = "at-work";

/// Where a delegation keeps its files, and its name.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) id: String,
    pub(super) folder: PathBuf,
    /// However regreen ends, the lock ends with it.
    _at_work: File,
}

/// Whether the delegation with this folder is still at work. Nobody knows of one whose folder
/// is gone: it counts as over.
#[must_use]
pub fn is_at_work(folder: &Path) -> bool {
    let lock = File::open(folder.join(AT_WORK));
    lock.is_ok_and(|lock| matches!(lock.try_lock_shared(), Err(TryLockError::WouldBlock)))
}

impl Place {
    /// A folder of its own: no two delegations share one, whoever else delegates meanwhile.
    pub(super) fn make(root: &Path, now: Timestamp) -> io::Result<Self> {
        let all = own_folder(root).join("delegations");
        fs::create_dir_all(&all)?;
        let second = format!("{}-{}", now.utc_date(), now.utc_time()).replace(':', "");
        let second = second.replacen('-', "", 2);
        let mut n = 1_u32;
        loop {
            let id = match n {
                1 => format!("child-{second}"),
                n => format!("child-{second}-{n:02}"),
            };
            let folder = all.join(&id);
            match fs::create_dir(&folder) {
                Ok(()) => {
                    let lock = File::create(folder.join(AT_WORK))?;
                    lock.lock()?;
                    return Ok(Self {
                        id,
                        folder,
                        _at_work: lock,
                    });
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => n += 1,
                Err(error) => return Err(error),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delegations_of_one_second_have_names_of_their_own() {
        let root = tempfile::tempdir().unwrap();
        let now = Timestamp::from_millis(1_794_804_300_123);
        let made = [1, 2].map(|_| Place::make(root.path(), now).unwrap());
        assert_eq!(made[0].id, "child-20261116-044500");
        assert_eq!(made[1].id, "child-20261116-044500-02");
        assert!(made.iter().all(|place| place.folder.is_dir()));
    }

    #[test]
    fn a_delegation_is_at_work_until_it_is_over() {
        let root = tempfile::tempdir().unwrap();
        let made = Place::make(root.path(), Timestamp::default()).unwrap();
        let folder = made.folder.clone();
        assert!(is_at_work(&folder));
        drop(made);
        assert!(!is_at_work(&folder));
    }
}
