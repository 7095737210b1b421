//! What an edit preserves, and which way of writing it chooses.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

use regreen_workspace::{
    Call, CallOutcome, EditFileError, FaultyDisk, InPlaceReason, Operation, ReadError, RealDisk,
    WriteMethod, edit_file,
};
use rustix::fs::XattrFlags;
use rustix::io::Errno;

use crate::folder::{DONE, Folder, tick};

#[test]
fn an_ordinary_file_is_written_by_exchange() {
    let folder = Folder::new();
    let edited = folder.tick(&RealDisk).unwrap();
    assert_eq!(edited.written, WriteMethod::ByExchange);
    assert_eq!(folder.text(), DONE);
    assert_eq!(folder.names(), ["tasks.md"]);
}

#[test]
fn an_edit_with_nothing_to_do_touches_nothing() {
    let folder = Folder::with(DONE);
    let before = fs::metadata(folder.tasks()).unwrap();
    assert_eq!(
        folder.tick(&RealDisk).unwrap().written,
        WriteMethod::Nothing
    );
    let same = edit_file(&RealDisk, &folder.tasks(), |text| {
        Ok::<_, std::io::Error>(Some(text.to_owned()))
    });
    assert_eq!(same.unwrap().written, WriteMethod::Nothing);
    let after = fs::metadata(folder.tasks()).unwrap();
    assert_eq!(
        (before.ino(), before.mtime_nsec()),
        (after.ino(), after.mtime_nsec())
    );
}

#[test]
fn a_failing_edit_leaves_the_file_alone() {
    let folder = Folder::with(DONE);
    let result = edit_file(&RealDisk, &folder.tasks(), |_| {
        Err(std::io::Error::other("no such row"))
    });
    let error = result.unwrap_err();
    assert!(matches!(error, EditFileError::Edit(_)));
    assert_eq!(error.to_string(), "no such row");
    assert_eq!(folder.text(), DONE);
}

#[test]
fn bytes_outside_the_edit_are_preserved() {
    let text = "\u{feff}# Plan\r\n\t- [ ] 1.1 Build it  \r\nno end";
    let folder = Folder::with(text);
    drop(folder.tick(&RealDisk).unwrap());
    assert_eq!(
        folder.text(),
        "\u{feff}# Plan\r\n\t- [x] 1.1 Build it  \r\nno end"
    );
}

#[test]
fn mode_and_extended_attributes_are_preserved() {
    let folder = Folder::new();
    let path = folder.tasks();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    let noted = rustix::fs::setxattr(&path, c"user.note", b"mine", XattrFlags::empty());
    assert_eq!(
        folder.tick(&RealDisk).unwrap().written,
        WriteMethod::ByExchange
    );
    assert_eq!(fs::metadata(&path).unwrap().mode() & 0o7777, 0o640);
    if noted.is_ok() {
        let mut value = [0; 8];
        let size = rustix::fs::getxattr(&path, c"user.note", &mut value).unwrap();
        assert_eq!(&value[..size], b"mine");
    }
}

#[test]
fn an_edit_follows_links_and_keeps_them() {
    let folder = Folder::new();
    fs::create_dir(folder.path("real")).unwrap();
    fs::rename(folder.tasks(), folder.path("real/plan.md")).unwrap();
    symlink("real/plan.md", folder.path("middle")).unwrap();
    symlink("middle", folder.tasks()).unwrap();
    assert_eq!(
        folder.tick(&RealDisk).unwrap().written,
        WriteMethod::ByExchange
    );
    assert!(fs::symlink_metadata(folder.tasks()).unwrap().is_symlink());
    assert!(
        fs::symlink_metadata(folder.path("middle"))
            .unwrap()
            .is_symlink()
    );
    assert_eq!(
        fs::read_to_string(folder.path("real/plan.md")).unwrap(),
        DONE
    );
}

#[test]
fn a_dangling_link_is_an_error_and_stays() {
    let folder = Folder::new();
    let link = folder.path("link.md");
    symlink("gone.md", &link).unwrap();
    let error = tick(&RealDisk, &link).unwrap_err();
    assert!(
        matches!(error, EditFileError::Read(ReadError::NotFound { .. })),
        "{error}"
    );
    assert_eq!(folder.names(), ["link.md", "tasks.md"]);
}

#[test]
fn a_hard_link_is_preserved() {
    let folder = Folder::new();
    fs::hard_link(folder.tasks(), folder.path("same.md")).unwrap();
    let edited = folder.tick(&RealDisk).unwrap();
    assert_eq!(
        edited.written,
        WriteMethod::InPlace(InPlaceReason::OtherNames)
    );
    assert_eq!(fs::read_to_string(folder.path("same.md")).unwrap(), DONE);
}

#[test]
fn a_shorter_text_in_place_leaves_no_tail() {
    let folder = Folder::new();
    fs::hard_link(folder.tasks(), folder.path("same.md")).unwrap();
    let edited = edit_file(&RealDisk, &folder.tasks(), |_| {
        Ok::<_, std::io::Error>(Some("short".to_owned()))
    });
    assert_eq!(
        edited.unwrap().written,
        WriteMethod::InPlace(InPlaceReason::OtherNames)
    );
    assert_eq!(folder.text(), "short");
}

/// Makes every call of one operation fail, like a file system that doesn't support it.
fn without(operation: Operation, errno: Errno) -> impl Fn(Call) -> CallOutcome {
    move |call| {
        if call.operation == operation {
            CallOutcome::Fail(errno.into())
        } else {
            CallOutcome::Pass
        }
    }
}

#[test]
fn where_exchange_is_impossible_the_file_is_written_in_place() {
    let exchange = InPlaceReason::ExchangeNotPossible;
    let cases = [
        (Operation::Exchange, Errno::BUSY, exchange),
        (Operation::Exchange, Errno::XDEV, exchange),
        (Operation::Exchange, Errno::INVAL, exchange),
        (Operation::Exchange, Errno::NOSYS, exchange),
        (Operation::Exchange, Errno::NOTSUP, exchange),
        (Operation::Exchange, Errno::PERM, exchange),
        (Operation::RenameNew, Errno::INVAL, exchange),
        (
            Operation::CreateNew,
            Errno::ACCESS,
            InPlaceReason::FolderNotWritable,
        ),
        (
            Operation::CreateNew,
            Errno::PERM,
            InPlaceReason::FolderNotWritable,
        ),
        (
            Operation::CreateNew,
            Errno::ROFS,
            InPlaceReason::FolderNotWritable,
        ),
        (
            Operation::CreateNew,
            Errno::NAMETOOLONG,
            InPlaceReason::FolderNotWritable,
        ),
        (
            Operation::KeepAttributes,
            Errno::PERM,
            InPlaceReason::AttributesCannotBeKept,
        ),
    ];
    for (operation, errno, why) in cases {
        let folder = Folder::new();
        let disk = FaultyDisk::new(RealDisk, without(operation, errno));
        let edited = folder.tick(&disk).unwrap();
        assert_eq!(
            edited.written,
            WriteMethod::InPlace(why),
            "{operation:?} {errno}"
        );
        assert_eq!(folder.text(), DONE);
        assert_eq!(folder.names(), ["tasks.md"]);
    }
}

#[test]
fn a_full_disk_is_an_error_and_never_a_reason_to_write_in_place() {
    for operation in [Operation::CreateNew, Operation::Write, Operation::SyncFile] {
        let folder = Folder::new();
        let before = folder.text();
        let disk = FaultyDisk::new(RealDisk, without(operation, Errno::NOSPC));
        let error = folder.tick(&disk).unwrap_err();
        assert!(matches!(error, EditFileError::Step(_)), "{error}");
        assert_eq!(folder.text(), before);
        assert_eq!(folder.names(), ["tasks.md"]);
    }
}

#[test]
fn a_failed_write_in_place_restores_the_old_text() {
    for operation in [Operation::Truncate, Operation::SyncFile] {
        let folder = Folder::new();
        fs::hard_link(folder.tasks(), folder.path("same.md")).unwrap();
        let before = folder.text();
        let failed = std::cell::Cell::new(false);
        let disk = FaultyDisk::new(RealDisk, |call: Call| {
            if call.operation == operation && !failed.replace(true) {
                return CallOutcome::Fail(Errno::NOSPC.into());
            }
            CallOutcome::Pass
        });
        assert!(folder.tick(&disk).is_err());
        assert_eq!(folder.text(), before, "{operation:?}");
    }
}

#[test]
fn folders_that_cannot_be_synced_are_tolerated() {
    let folder = Folder::new();
    let disk = FaultyDisk::new(RealDisk, without(Operation::SyncFolder, Errno::INVAL));
    assert_eq!(folder.tick(&disk).unwrap().written, WriteMethod::ByExchange);
}

#[test]
fn concurrent_edits_are_both_made() {
    let folder = Folder::with("");
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let path = folder.tasks();
            scope.spawn(move || {
                for line in 0..10 {
                    let line = format!("line {line} of {writer}\n");
                    let edited = edit_file(&RealDisk, &path, |text| {
                        Ok::<_, std::io::Error>(Some(format!("{text}{line}")))
                    });
                    assert_eq!(edited.unwrap().refusals, 0);
                }
            });
        }
    });
    assert_eq!(folder.text().lines().count(), 40);
}
