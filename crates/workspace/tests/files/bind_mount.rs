//! A single file mounted over another, as in containers: it can't be renamed.

use std::env;
use std::fs;
use std::path::Path;
use std::process::Command;

use regreen_workspace::{InPlaceReason, RealDisk, WriteMethod};

use crate::folder::{DONE, Folder, OPEN, tick};

const PLACE: &str = "REGREEN_TEST_MOUNTED_FILE";

#[test]
fn a_file_that_is_a_mount_point_is_written_in_place() {
    let folder = Folder::new();
    fs::write(folder.path("outside.md"), OPEN).unwrap();
    let script = r#"mount --bind "$1" "$2" || exit 77
        exec "$0" --exact bind_mount::inside_the_mount_namespace --ignored"#;
    let output = Command::new("unshare")
        .args(["--mount", "sh", "-c", script])
        .arg(env::current_exe().unwrap())
        .arg(folder.path("outside.md"))
        .arg(folder.tasks())
        .env(PLACE, folder.tasks())
        .output();
    match output {
        Err(error) => println!("skipped: no unshare: {error}"),
        Ok(output) if !output.status.success() && !ran(&output.stdout) => {
            println!("skipped: {}", String::from_utf8_lossy(&output.stderr));
        }
        Ok(output) => {
            assert!(output.status.success(), "{output:?}");
            let outside = fs::read_to_string(folder.path("outside.md")).unwrap();
            assert_eq!(outside, DONE);
            assert_eq!(folder.text(), OPEN, "the file below the mount is untouched");
            assert_eq!(folder.names(), ["outside.md", "tasks.md"]);
        }
    }
}

fn ran(stdout: &[u8]) -> bool {
    String::from_utf8_lossy(stdout).contains("running 1 test")
}

#[test]
#[ignore = "the inner half of the test above"]
fn inside_the_mount_namespace() {
    let Some(place) = env::var_os(PLACE) else {
        println!("skipped: not started by the outer half");
        return;
    };
    let edited = tick(&RealDisk, Path::new(&place)).unwrap();
    assert_eq!(
        edited.written,
        WriteMethod::InPlace(InPlaceReason::ExchangeNotPossible)
    );
}
