use std::ffi::OsStr;
use std::io;

use regreen_workspace::RelPath;

use crate::folder::Folder;
use crate::scene::Scene;

/// Makes a folder and those above it. Fails, and takes back what it made, where a part is
/// anything but a folder of the workspace.
pub(super) fn carry_out(scene: &Scene<'_>, path: &RelPath) -> Result<(), String> {
    let mut made = Vec::new();
    let result = make(scene, path, &mut made);
    if result.is_err() {
        for (folder, name) in made.iter().rev() {
            // Somebody may have put something there already: then it stays.
            let _ = folder.remove_folder(name);
        }
    }
    result.map_err(|error| format!("{path} cannot be made: {error}"))
}

fn make<'p>(
    scene: &Scene<'_>,
    path: &'p RelPath,
    made: &mut Vec<(Folder, &'p OsStr)>,
) -> io::Result<()> {
    let mut folder = Folder::open(scene.root)?;
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

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::scene::tests::with_scene;

    #[test]
    fn a_folder_is_made_with_those_above_it() {
        with_scene(|scene| {
            carry_out(scene, &RelPath::new("build/report").unwrap()).unwrap();
            assert!(scene.root.join("build/report").is_dir());
        });
    }

    #[test]
    fn a_link_on_the_way_ends_it_and_nothing_is_left() {
        with_scene(|scene| {
            let outside = tempfile::tempdir().unwrap();
            symlink(outside.path(), scene.root.join("link")).unwrap();
            assert!(carry_out(scene, &RelPath::new("link/x").unwrap()).is_err());
            fs::write(scene.root.join("file"), "").unwrap();
            assert!(carry_out(scene, &RelPath::new("file/x").unwrap()).is_err());
            assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0);
        });
    }
}
