use std::io;

use regreen_workspace::RelPath;

use crate::folder::Folder;
use crate::looks::crlf_script;
use crate::scene::Scene;

/// Ends the lines of a script as on Unix; its mode stays.
pub(super) fn carry_out(scene: &Scene<'_>, path: &RelPath) -> Result<(), String> {
    let bytes = crlf_script(scene, path).map_err(|why| format!("{path} {why}"))?;
    let cannot = |error: io::Error| format!("{path} cannot be written: {error}");
    let (folder, name) = Folder::of(scene.root, path).map_err(cannot)?;
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

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::scene::tests::with_scene;

    #[test]
    fn a_script_keeps_its_mode_and_everything_but_its_line_ends() {
        with_scene(|scene| {
            let path = scene.root.join("a.sh");
            fs::write(&path, "#!/bin/sh\r\necho 'a\rb'\r\n").unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
            carry_out(scene, &RelPath::new("a.sh").unwrap()).unwrap();
            assert_eq!(fs::read(&path).unwrap(), b"#!/bin/sh\necho 'a\rb'\n");
            assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o755);
            assert_eq!(fs::read_dir(scene.root).unwrap().count(), 1);
        });
    }
}
