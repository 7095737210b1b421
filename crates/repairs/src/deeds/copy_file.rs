use std::io::{self, Read, Write};

use regreen_workspace::RelPath;

use crate::folder::Folder;
use crate::scene::Scene;

/// Longer files are no examples.
const MAX_SIZE: u64 = 1024 * 1024;

/// Copies a file to where nothing is. Settings often come to hold secrets: the copy is for its
/// owner alone.
pub(super) fn carry_out(scene: &Scene<'_>, from: &RelPath, to: &RelPath) -> Result<(), String> {
    let bytes = read(scene, from).map_err(|error| format!("{from} cannot be read: {error}"))?;
    write(scene, to, &bytes).map_err(|error| format!("{to} cannot be written: {error}"))
}

fn read(scene: &Scene<'_>, from: &RelPath) -> io::Result<Vec<u8>> {
    let (folder, name) = Folder::of(scene.root, from)?;
    let file = folder.file(&name)?;
    if !file.metadata()?.is_file() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let mut bytes = Vec::new();
    file.take(MAX_SIZE).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn write(scene: &Scene<'_>, to: &RelPath, bytes: &[u8]) -> io::Result<()> {
    let (folder, name) = Folder::of(scene.root, to)?;
    let mut file = folder.new_file(&name, 0o600)?;
    let written = file.write_all(bytes).and_then(|()| file.sync_all());
    if written.is_err() {
        let _ = folder.remove_file(&name);
    }
    written
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::scene::tests::with_scene;

    #[test]
    fn a_copy_never_replaces_anything() {
        with_scene(|scene| {
            let (from, to) = (
                RelPath::new(".env.example").unwrap(),
                RelPath::new(".env").unwrap(),
            );
            fs::write(from.under(scene.root), "A=1\n").unwrap();
            carry_out(scene, &from, &to).unwrap();
            assert_eq!(fs::read_to_string(to.under(scene.root)).unwrap(), "A=1\n");
            fs::write(to.under(scene.root), "A=mine\n").unwrap();
            assert!(carry_out(scene, &from, &to).is_err());
            assert_eq!(
                fs::read_to_string(to.under(scene.root)).unwrap(),
                "A=mine\n"
            );
        });
    }
}
