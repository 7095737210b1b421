use std::ffi::{OsStr, OsString};
use std::io;

use regreen_workspace::RelPath;

use crate::folder::Folder;
use crate::scene::Scene;

/// Where things go that were in the way: nothing is deleted.
const ASIDE: &str = "removed";
/// More things of one name are not kept.
const MAX_KEPT: u32 = 10_000;

/// Moves something out of the way, into `.regreen/removed/<n>/`. What was moved is looked at
/// afterwards: if it is not what was meant, it goes back.
pub(super) fn carry_out(scene: &Scene<'_>, path: &RelPath) -> Result<(), String> {
    set_aside(scene, path).map_err(|error| format!("{path} cannot be set aside: {error}"))
}

pub(crate) fn set_aside(scene: &Scene<'_>, path: &RelPath) -> io::Result<()> {
    let (folder, name) = Folder::of(scene.root, path)?;
    let before = folder.stat(&name)?;
    let kept = free_place(scene)?;
    folder.rename(&name, &kept, &name)?;
    let after = kept.stat(&name)?;
    if (before.st_dev, before.st_ino) == (after.st_dev, after.st_ino) {
        return Ok(());
    }
    kept.rename(&name, &folder, &name)?;
    Err(io::Error::other("something else was put in its place"))
}

fn free_place(scene: &Scene<'_>) -> io::Result<Folder> {
    let root = Folder::open(scene.root)?;
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

    use super::*;
    use crate::scene::tests::with_scene;

    #[test]
    fn what_is_set_aside_is_kept() {
        with_scene(|scene| {
            for content in ["one", "two"] {
                fs::create_dir(scene.root.join("cache")).unwrap();
                fs::write(scene.root.join("cache/x"), content).unwrap();
                carry_out(scene, &RelPath::new("cache").unwrap()).unwrap();
                assert!(!scene.root.join("cache").exists());
            }
            let kept = |n: u32| {
                fs::read_to_string(scene.root.join(format!(".regreen/removed/{n}/cache/x")))
                    .unwrap()
            };
            assert_eq!((kept(1).as_str(), kept(2).as_str()), ("one", "two"));
        });
    }
}
