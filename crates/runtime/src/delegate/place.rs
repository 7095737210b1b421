use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use regreen_model::Timestamp;

use crate::places::own_folder;

/// Where a delegation keeps its files, and its name.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) id: String,
    pub(super) folder: PathBuf,
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
                Ok(()) => return Ok(Self { id, folder }),
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
}
