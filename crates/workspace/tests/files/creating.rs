use std::fs;
use std::os::unix::fs::symlink;

use regreen_workspace::{
    Call, CallOutcome, CreateFileError, FaultyDisk, MoveAsideError, Operation, RealDisk,
    create_dir_all, create_file, move_aside,
};
use rustix::io::Errno;

use crate::folder::{Folder, OPEN};

#[test]
fn a_new_file_is_complete_and_leaves_nothing_beside_it() {
    let folder = Folder::new();
    let recovered = create_file(&RealDisk, &folder.path("new.md"), "text").unwrap();
    assert!(recovered.is_empty());
    assert_eq!(fs::read_to_string(folder.path("new.md")).unwrap(), "text");
    assert_eq!(folder.names(), ["new.md", "tasks.md"]);
}

#[test]
fn creating_never_replaces_anything() {
    let folder = Folder::new();
    symlink("nowhere", folder.path("link.md")).unwrap();
    for taken in [folder.tasks(), folder.path("link.md")] {
        let error = create_file(&RealDisk, &taken, "text").unwrap_err();
        assert!(
            matches!(&error, CreateFileError::AlreadyExists { path } if *path == taken),
            "{error}"
        );
    }
    assert_eq!(folder.text(), OPEN);
    assert_eq!(folder.names(), ["link.md", "tasks.md"]);
}

#[test]
fn a_file_created_by_someone_else_at_the_last_moment_stays() {
    let folder = Folder::new();
    let path = folder.path("new.md");
    let disk = FaultyDisk::new(RealDisk, |call: Call| {
        if call.operation == Operation::RenameNew {
            fs::write(&path, "theirs").unwrap();
        }
        CallOutcome::Pass
    });
    let error = create_file(&disk, &path, "ours").unwrap_err();
    assert!(matches!(error, CreateFileError::AlreadyExists { .. }));
    assert_eq!(fs::read_to_string(&path).unwrap(), "theirs");
    assert_eq!(folder.names(), ["new.md", "tasks.md"]);
}

#[test]
fn folders_are_created_recursively_and_may_exist() {
    let folder = Folder::new();
    let deep = folder.path("a/b/c");
    create_dir_all(&RealDisk, &deep).unwrap();
    create_dir_all(&RealDisk, &deep).unwrap();
    assert!(deep.is_dir());
    let error = create_dir_all(&RealDisk, &folder.path("tasks.md/x")).unwrap_err();
    assert!(error.to_string().contains("tasks.md"), "{error}");
    assert!(create_dir_all(&RealDisk, &folder.tasks()).is_err());
}

#[test]
fn files_moved_aside_are_numbered_and_never_replaced() {
    let folder = Folder::new();
    fs::write(folder.path("tasks.md.corrupt-2"), "older").unwrap();
    let first = move_aside(&RealDisk, &folder.tasks()).unwrap();
    fs::write(folder.tasks(), "second").unwrap();
    let second = move_aside(&RealDisk, &folder.tasks()).unwrap();
    assert!(first.ends_with("tasks.md.corrupt-1"));
    assert!(second.ends_with("tasks.md.corrupt-3"));
    assert_eq!(fs::read_to_string(first).unwrap(), OPEN);
    assert_eq!(fs::read_to_string(second).unwrap(), "second");
    let gone = move_aside(&RealDisk, &folder.tasks()).unwrap_err();
    assert!(matches!(gone, MoveAsideError::NotFound { .. }), "{gone}");
}

/// NFS has no rename flags; shared folders of virtual machines have no hard links either.
#[test]
fn limited_file_systems_never_replace_a_file_either() {
    for links in [true, false] {
        let folder = Folder::new();
        let disk = FaultyDisk::new(RealDisk, |call: Call| match call.operation {
            Operation::RenameNew => CallOutcome::Fail(Errno::INVAL.into()),
            Operation::Link if !links => CallOutcome::Fail(Errno::PERM.into()),
            _ => CallOutcome::Pass,
        });
        create_file(&disk, &folder.path("new.md"), "text").unwrap();
        fs::write(folder.path("new.md.corrupt-1"), "older").unwrap();
        let aside = move_aside(&disk, &folder.path("new.md")).unwrap();
        assert!(aside.ends_with("new.md.corrupt-2"));
        assert_eq!(fs::read_to_string(aside).unwrap(), "text");
        let names = ["new.md.corrupt-1", "new.md.corrupt-2", "tasks.md"];
        assert_eq!(folder.names(), names, "links: {links}");
    }
}
