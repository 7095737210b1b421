//! `regreen ci` against a fake of GitHub: from a push to green, or to the person who has to decide.
//!
//! The fake speaks GitHub's REST API. Here, a stand-in for gh speaks to it; `cargo xtask sweep ci` runs
//! the same tests with the real gh.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod conflict;
mod ending;
mod github;
mod green;
mod hostile;
mod permission;
mod person;
mod project;
mod resuming;

#[test]
fn the_real_gh_is_there_if_it_was_asked_for() {
    if github::is_real() {
        let version = std::process::Command::new("gh").arg("--version").output();
        let version = version.expect("gh is not installed: apt-get install gh");
        println!("{}", String::from_utf8_lossy(&version.stdout));
    }
}
