use std::os::unix::fs::PermissionsExt;

use regreen_workspace::RelPath;
use rustix::fs::{Mode, fchmod};

use crate::folder::Folder;
use crate::looks::why_not_executable;
use crate::scene::Scene;

/// Who may read it may run it from now on. The file is held open from the last look on: what
/// is changed is what was looked at.
pub(super) fn carry_out(scene: &Scene<'_>, path: &RelPath) -> Result<(), String> {
    let cannot = |error: std::io::Error| format!("{path} cannot be made executable: {error}");
    let (folder, name) = Folder::of(scene.root, path).map_err(cannot)?;
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
            "{path} did not become executable: this file system may not allow it"
        )),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::scene::tests::with_scene;

    #[test]
    fn who_may_read_it_may_run_it() {
        with_scene(|scene| {
            let path = scene.root.join("run.sh");
            fs::write(&path, "#!/bin/sh\n").unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
            let place = RelPath::new("run.sh").unwrap();
            carry_out(scene, &place).unwrap();
            assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o750);
            assert!(carry_out(scene, &place).is_err());
        });
    }
}
