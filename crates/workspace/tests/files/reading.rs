use std::fs;
use std::os::unix::fs::symlink;

use regreen_workspace::{ReadError, RealDisk, read_file, read_text};

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
    assert!(
        error
            .to_string()
            .ends_with("pipe is a named pipe, not a file"),
        "{error}"
    );
}

#[test]
fn sockets_and_devices_are_named() {
    let folder = Folder::new();
    let _listener = std::os::unix::net::UnixListener::bind(folder.path("socket")).unwrap();
    symlink("/dev/zero", folder.path("zero")).unwrap();
    symlink("/dev/tty", folder.path("tty")).unwrap();
    for (name, sort) in [
        ("socket", "a socket"),
        ("zero", "a device"),
        ("tty", "a device"),
    ] {
        let path = folder.path(name);
        let error = read_text(&RealDisk, &path).unwrap_err();
        let ReadError::NotAFile { found, .. } = &error else {
            panic!("{error:?}");
        };
        assert_eq!(found.sort, sort, "{name}");
        let source = read_file(&path, 10).unwrap_err();
        assert!(
            matches!(ReadError::new(&path, source), ReadError::NotAFile { .. }),
            "{name}"
        );
    }
}

#[test]
fn a_file_that_would_fill_the_memory_is_refused() {
    let folder = Folder::new();
    let file = fs::File::create(folder.tasks()).unwrap();
    file.set_len(1 << 30).unwrap();
    let error = read_text(&RealDisk, &folder.tasks()).unwrap_err();
    assert!(matches!(error, ReadError::TooLarge { .. }), "{error}");
    assert!(
        error.to_string().ends_with("is larger than 32 MB"),
        "{error}"
    );
    fs::write(folder.tasks(), "12345").unwrap();
    assert_eq!(read_file(&folder.tasks(), 5).unwrap(), b"12345");
    let error = read_file(&folder.tasks(), 4).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::FileTooLarge);
}
