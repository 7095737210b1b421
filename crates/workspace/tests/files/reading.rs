use std::fs;
use std::os::unix::fs::symlink;

use regreen_workspace::{ReadError, RealDisk, read_text};

use crate::folder::Folder;

#[test]
fn text_is_read_unchanged() {
    let text = "\u{feff}# Plan\r\n\tlast line without end  ";
    let folder = Folder::with(text);
    assert_eq!(read_text(&RealDisk, &folder.tasks()).unwrap().text, text);
}

#[test]
fn reading_through_a_link_returns_the_real_path() {
    let folder = Folder::new();
    symlink("tasks.md", folder.path("link.md")).unwrap();
    let read = read_text(&RealDisk, &folder.path("link.md")).unwrap();
    assert_eq!(read.path, fs::canonicalize(folder.tasks()).unwrap());
}

#[test]
fn a_missing_file_is_reported() {
    let folder = Folder::new();
    let path = folder.path("gone.md");
    let error = read_text(&RealDisk, &path).unwrap_err();
    assert!(matches!(&error, ReadError::NotFound { path: named } if *named == path));
    assert!(error.to_string().contains("gone.md"));
}

#[test]
fn a_folder_is_reported() {
    let folder = Folder::new();
    fs::create_dir(folder.path("specs")).unwrap();
    let error = read_text(&RealDisk, &folder.path("specs")).unwrap_err();
    assert!(matches!(error, ReadError::IsDirectory { .. }), "{error}");
}

#[test]
fn the_first_invalid_utf8_byte_is_reported() {
    let folder = Folder::new();
    fs::write(folder.tasks(), b"one\ntwo\nth\xffree\n").unwrap();
    let error = read_text(&RealDisk, &folder.tasks()).unwrap_err();
    assert!(
        matches!(
            error,
            ReadError::NotUtf8 {
                offset: 10,
                line: 3,
                ..
            }
        ),
        "{error}"
    );
}

#[test]
fn a_pipe_is_refused_without_waiting() {
    let folder = Folder::new();
    let pipe = folder.path("pipe");
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RUSR).unwrap();
    let error = read_text(&RealDisk, &pipe).unwrap_err();
    assert!(matches!(error, ReadError::Io { .. }), "{error}");
}
