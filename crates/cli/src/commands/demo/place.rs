//! A folder that belongs to no existing project.

use std::fs::Permissions;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use super::project::ProjectError;

/// Files that mark the top of a project.
const SIGNS: [&str; 2] = ["regreen.toml", "specs"];
const PREFIX: &str = "regreen-demo-";

/// Creates an empty folder in the first candidate outside any project: neither the project around
/// `here`, nor any git repository.
pub fn make_folder(candidates: &[PathBuf], here: &Path) -> Result<PathBuf, ProjectError> {
    let mut refusals = Vec::new();
    for folder in candidates {
        match make_in(folder, here) {
            Ok(made) => return Ok(made),
            Err(error) => refusals.push(format!("{}: {error}", folder.display())),
        }
    }
    Err(ProjectError::NoPlace { refusals })
}

/// Returns the temporary folder, and those that systems usually have.
pub fn usual_places() -> Vec<PathBuf> {
    let mut places = vec![std::env::temp_dir(), "/tmp".into(), "/var/tmp".into()];
    places.dedup();
    places
}

fn make_in(folder: &Path, here: &Path) -> io::Result<PathBuf> {
    let folder = folder.canonicalize()?;
    if let Some(project) = folder.ancestors().find(|above| is_project(above, here)) {
        let project = project.display();
        return Err(io::Error::other(format!("inside the project {project}")));
    }
    // Other users of the temporary folder must not have access.
    let made = tempfile::Builder::new()
        .prefix(PREFIX)
        .permissions(Permissions::from_mode(0o700))
        .tempdir_in(folder)?;
    Ok(made.keep())
}

fn is_project(folder: &Path, here: &Path) -> bool {
    let has = |sign: &str| folder.join(sign).symlink_metadata().is_ok();
    has(".git") || (folder == here && SIGNS.into_iter().any(has))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn it_is_made_outside_of_projects() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let (in_git, here) = (root.join("in-git"), root.join("here"));
        for inner in ["in-git/tmp", "here/tmp", "here/specs", "free"] {
            fs::create_dir_all(root.join(inner)).unwrap();
        }
        fs::write(in_git.join(".git"), "gitdir: elsewhere").unwrap();
        let projects = [in_git.join("tmp"), here.join("tmp"), root.join("missing")];
        let error = make_folder(&projects, &here).unwrap_err().to_string();
        assert!(error.contains("in-git/tmp: inside the project"), "{error}");
        assert!(error.contains("here/tmp: inside the project"), "{error}");
        assert!(error.contains("missing: No such file"), "{error}");
        for inside in ["in-git/tmp", "here/tmp"] {
            assert_eq!(fs::read_dir(root.join(inside)).unwrap().count(), 0);
        }
        let free = root.join("free");
        let places = [projects.as_slice(), std::slice::from_ref(&free)].concat();
        let made = make_folder(&places, &here).unwrap();
        assert_eq!(made.parent(), Some(free.as_path()));
        assert_ne!(make_folder(&places, &here).unwrap(), made);
    }
}
