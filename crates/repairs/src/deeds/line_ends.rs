use std::ffi::{OsStr, OsString};
use std::io::{self, Write};

use regreen_workspace::RelPath;

use crate::folder::Folder;
use crate::looks::crlf_script;
use crate::scene::Scene;

/// Writes a script anew beside itself and exchanges the two: a crash leaves one or the other.
pub(super) fn carry_out(scene: &Scene<'_>, path: &RelPath) -> Result<(), String> {
    let bytes = crlf_script(scene, path).map_err(|why| format!("{path} {why}"))?;
    let cannot = |error: io::Error| format!("{path} cannot be written: {error}");
    let (folder, name) = Folder::of(scene.root, path).map_err(cannot)?;
    let draft = draft_name(&name);
    let written = write(&folder, &name, &draft, &unix(&bytes));
    if written.is_err() {
        let _ = folder.remove_file(&draft);
    }
    written.map_err(cannot)
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

fn draft_name(name: &OsStr) -> OsString {
    let mut draft = OsString::from(".regreen-");
    draft.push(name);
    draft
}

fn write(folder: &Folder, name: &OsStr, draft: &OsStr, bytes: &[u8]) -> io::Result<()> {
    let stat = folder.stat(name)?;
    let mut file = folder.new_file(draft, 0o600)?;
    file.write_all(bytes)?;
    rustix::fs::fchmod(&file, rustix::fs::Mode::from_raw_mode(stat.st_mode & 0o777))?;
    file.sync_all()?;
    folder.rename(draft, folder, name)
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
