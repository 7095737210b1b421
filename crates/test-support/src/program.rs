use std::path::PathBuf;

/// Returns the path of the `regreen` binary that Cargo built for the running test.
///
/// Only the tests of the `regreen` package can use it: Cargo builds a package's binaries
/// before its integration tests, and puts them into the folder above the tests' own.
pub fn regreen() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let program = test.ancestors().nth(2).unwrap().join("regreen");
    assert!(program.exists(), "{} isn't built", program.display());
    program
}
