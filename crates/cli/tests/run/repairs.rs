//! Repairs that regreen carries out itself, as whole runs without an agent.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;

use snapbox::str;

use crate::scene::{Scene, wait_until};

const TASKS: &str = "\
- [ ] 1.1 Make a report
  - **Do**: `./report.sh`
  - **Verify**: `test -s out/report.txt`
  - **Commit**: `feat: report`
";
const SCRIPT: &str = "#!/bin/sh\ncp report.sh out/report.txt\n";
const HEAL: [&str; 4] = ["--agent", "shell", "--recovery-mode", "--no-input"];

fn scene() -> Scene {
    let scene = Scene::in_git(TASKS).file("report.sh", SCRIPT);
    fs::set_permissions(scene.path("report.sh"), Permissions::from_mode(0o644)).unwrap();
    scene.committed("before")
}

fn heal(scene: &Scene, more: &[&str]) -> crate::scene::Told {
    scene.run(&[&HEAL[..], more].concat())
}

#[test]
fn what_is_wrong_with_the_environment_is_repaired_without_an_agent() {
    let scene = scene();
    heal(&scene, &[]).and_plan(&scene).shows(str![[]]);
    assert_eq!(scene.git(&["ls-files", "-s", "report.sh"]).get(..6), Some("100755"));
}

#[test]
fn what_was_repaired_has_its_story_and_its_log() {
    let scene = scene();
    heal(&scene, &[]);
    scene.regreen(&["why", "1.1.1"]).shows(str![[]]);
    scene.regreen(&["log", "1.1.1", "1"]).shows(str![[]]);
}

#[test]
fn without_repairs_nothing_is_repaired() {
    let scene = scene();
    heal(&scene, &["--repairs", "off"]).and_plan(&scene).shows(str![[]]);
    assert!(!scene.has("out"));
}

#[test]
fn who_is_to_be_asked_and_is_not_there_is_told_what_may_be_needed() {
    let scene = scene();
    heal(&scene, &["--repairs", "ask"]).and_plan(&scene).shows(str![[]]);
    assert!(!scene.has("out"));
}

#[test]
fn a_repository_does_not_say_what_is_repaired() {
    let scene = scene().file("regreen.toml", "repairs = 'safe'\n");
    heal(&scene, &[]).shows(str![[]]);
}

#[test]
fn a_repair_that_was_killed_is_done_again() {
    const MADE: &str = "\
- [ ] 1.1 Show the version
  - **Do**: `cat gen/version.txt`
  - **Verify**: `grep -qx whole gen/version.txt`
";
    const MAKEFILE: &str = "gen/version.txt: version.sh\n\tmkdir -p gen\n\tsh version.sh\n";
    let script = |scene: &Scene| {
        let note = scene.outside().join("begun");
        format!(
            "echo half > gen/version.txt\nif [ ! -e '{0}' ]; then touch '{0}'; sleep 60; fi\necho whole > gen/version.txt\n",
            note.display()
        )
    };
    let scene = Scene::in_git(MADE).file("Makefile", MAKEFILE);
    let text = script(&scene);
    let scene = scene.file("version.sh", text).committed("before");
    let started = scene.start(&HEAL, "begun");
    wait_until(|| scene.has("gen/version.txt"));
    started.signal("KILL");
    started.ended();
    heal(&scene, &[]).and_plan(&scene).shows(str![[]]);
}
