//! Targets of make, just and package.json.

use std::fs;

use crate::test_workspace::{TestWorkspace, failure, missing_module, pip};
use regreen_model::{FailureKind, Inspection, RepairResult};

#[test]
fn a_target_that_the_agent_wrote_or_that_does_more_than_create_files() {
    let workspace = TestWorkspace::with(&[(
        "Makefile",
        "gen/v.py:\n\techo x > $@\nup/w.py: wipe\n\techo x > $@\nwipe:\n\trm -rf data\n",
    )])
    .begin();
    let missing = |module: &str| {
        let line = format!("No module named '{module}'");
        failure(FailureKind::MissingPythonModule, &line, pip(module))
    };
    // The risk of a dependency counts as well.
    workspace.attack(&missing("w"));
    workspace.write("Makefile", "gen/v.py:\n\ttouch pwned\n");
    workspace.attack(&missing("v"));
}

#[test]
fn a_script_with_hooks_or_that_calls_others() {
    let package = |scripts: &str| {
        let workspace = TestWorkspace::with(&[
            ("package.json", &format!(r#"{{"scripts":{{{scripts}}}}}"#)),
            ("gen.js", ""),
        ]);
        workspace.begin()
    };
    let missing = failure(
        FailureKind::MissingFile,
        "Error: ENOENT: no such file or directory, open 'src/v.js'",
        None,
    );
    let harmless = r#""gen":"node gen.js > src/v.js""#;
    for more in [
        r#""pregen":"rm -rf data""#,
        r#""postgen":"find . -delete""#,
        r#""gen":"npm run clean && node gen.js > src/v.js""#,
    ] {
        package(&format!("{harmless},{more}")).attack(&missing);
    }
    let workspace = package(harmless);
    workspace.write("gen.js", "require('fs').rmSync('data')");
    workspace.attack(&missing);
    let workspace = package(harmless);
    workspace.write(".npmrc", "script-shell=./evil\n");
    workspace.attack(&missing);
    let workspace = package(harmless);
    workspace.write_program("node_modules/.bin/node", "#!/bin/sh\n");
    workspace.attack(&missing);
}

#[test]
fn a_makefile_that_takes_precedence_over_the_declared_one() {
    let workspace =
        TestWorkspace::with(&[("Makefile", "gen/v.py:\n\tmkdir -p gen; echo 1 > $@\n")]).begin();
    workspace.write("GNUmakefile", "gen/v.py:\n\ttouch pwned\n");
    workspace.write("Makefile.sh", "gen/v.py:\n\ttouch pwned\n");
    let line = "No module named 'v'";
    let missing = failure(FailureKind::MissingPythonModule, line, pip("v"));
    let planned = workspace.allowed(&missing);
    let result = workspace.apply(&missing, &planned, &mut workspace.real_tools());
    assert!(matches!(result, RepairResult::Done { .. }), "{result:?}");
    assert!(!workspace.exists("pwned"));
}

#[test]
fn a_generated_file_in_a_folder_that_leads_out() {
    let workspace =
        TestWorkspace::with(&[("Makefile", "gen/v.py:\n\tmkdir -p gen; echo 1 > $@\n")]).begin();
    workspace.link_out("gen", "");
    let line = "No module named 'v'";
    let missing = failure(FailureKind::MissingPythonModule, line, pip("v"));
    if let Inspection::Allowed(planned) = workspace.inspect(&missing) {
        let result = workspace.apply(&missing, &planned, &mut workspace.real_tools());
        assert!(matches!(result, RepairResult::Failed { .. }), "{result:?}");
    }
    assert_eq!(fs::read_dir(workspace.outside()).unwrap().count(), 0);
}

#[test]
fn a_script_that_an_unchanged_target_loads() {
    for (recipe, script, text, loaded) in [
        (
            "python3 gen.py > $@",
            "gen.py",
            "import helper\n",
            "helper.py",
        ),
        (
            "python3 gen.py > $@",
            "gen.py",
            "from lib import names\n",
            "lib/names.py",
        ),
        // A new file that shadows the library with the same name.
        ("python3 gen.py > $@", "gen.py", "import json\n", "json.py"),
        (
            "node gen.js > $@",
            "gen.js",
            "require('./lib/a')\n",
            "lib/a.js",
        ),
        ("sh gen.sh > $@", "gen.sh", ". ./env.sh\n", "env.sh"),
        (
            "sh gen.sh > $@",
            "gen.sh",
            "python3 tools/x.py\n",
            "tools/x.py",
        ),
    ] {
        let makefile = format!("gen/version.py:\n\t{recipe}\n");
        let workspace = TestWorkspace::with(&[("Makefile", makefile.as_str()), (script, text)]);
        if loaded != "json.py" {
            workspace.write(loaded, "");
        }
        let workspace = workspace.begin();
        let missing = missing_module("version", "version");
        workspace.allowed(&missing);
        workspace.write(loaded, "# changed\n");
        workspace.asked_about(&missing);
    }
}
