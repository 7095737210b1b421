//! Words of a project's own scripts: the manifests decide whether they name something to install.

use regreen_model::{Failure, FailureKind, Inspection, RepairAction};

use crate::test_workspace::{TestWorkspace, Tools, failure};

fn said(line: &str) -> Failure {
    failure(FailureKind::RuntimeException, line, None)
}

fn with_venv(files: &[(&str, &str)]) -> TestWorkspace {
    let workspace = TestWorkspace::with(files);
    workspace.write(".venv/pyvenv.cfg", "home = /usr/bin\n");
    workspace.write_program(".venv/bin/python", "#!/bin/sh\n");
    workspace
}

/// Applies the repair that a line leads to; returns the calls of tools.
fn healed(workspace: &TestWorkspace, line: &str) -> Vec<String> {
    healed_from(workspace, &said(line))
}

fn healed_from(workspace: &TestWorkspace, failure: &Failure) -> Vec<String> {
    let mut calls = Vec::new();
    let mut tools = Tools(|call: &regreen_repairs::ToolCall| {
        let words = call.argv.iter().map(|word| word.to_string_lossy());
        calls.push(words.collect::<Vec<_>>().join(" "));
        workspace.write("node_modules/widget-kit/package.json", "{}");
        Some(0)
    });
    workspace.heal(failure, &mut tools);
    calls
}

#[test]
fn a_declared_python_package_is_installed_in_whatever_words_it_is_missing() {
    for line in [
        "needs widgetlib, which is not there",
        "check: widgetlib is not installed",
        "cannot find 'widgetlib'",
        "this build depends on widgetlib (missing)",
    ] {
        let workspace = with_venv(&[("requirements.txt", "widgetlib\n")]).begin();
        let calls = healed(&workspace, line);
        assert!(
            calls[0].ends_with("-r requirements.txt"),
            "{line}: {calls:?}"
        );
    }
}

#[test]
fn words_about_a_python_package_need_no_name_that_a_tool_printed() {
    let workspace = with_venv(&[("requirements.txt", "widgetlib\n")]).begin();
    let line = "plugins: the Python package widgetlib is missing here";
    let calls = healed_from(
        &workspace,
        &failure(FailureKind::MissingPythonModule, line, None),
    );
    assert!(calls[0].ends_with("-r requirements.txt"), "{calls:?}");
}

#[test]
fn the_script_whose_line_ends_are_named_is_converted_and_not_the_one_that_complains() {
    let workspace = TestWorkspace::new();
    workspace.write_program("run.sh", "#!/bin/sh\n");
    workspace.write_program("tools/gen.sh", "#!/bin/sh\r\n");
    let workspace = workspace.begin();
    let path = "run.sh".to_owned();
    let line = "check: tools/gen.sh was saved with DOS line breaks";
    let suggested = Some(RepairAction::CrlfToLf { path });
    healed_from(
        &workspace,
        &failure(FailureKind::CrlfScript, line, suggested),
    );
    assert_eq!(workspace.read("tools/gen.sh"), "#!/bin/sh\n");
}

#[test]
fn a_declared_node_package_is_installed_in_whatever_words_it_is_missing() {
    let workspace = TestWorkspace::with(&[(
        "package.json",
        r#"{"dependencies": {"widget-kit": "^1.0.0"}}"#,
    )])
    .with_tools(&["npm"])
    .begin();
    let calls = healed(
        &workspace,
        "render.js needs widget-kit, and it is not there",
    );
    assert!(calls[0].contains("npm install"), "{calls:?}");
}

#[test]
fn a_package_that_no_manifest_names_is_not_installed() {
    let workspace = with_venv(&[("requirements.txt", "gadgetlib\n")]).begin();
    workspace.attack(&said("needs widgetlib, which is not there"));
}

#[test]
fn words_that_only_happen_to_be_names_install_nothing() {
    let lock = r#"{"lockfileVersion": 3, "packages": {"": {}, "node_modules/which": {"version": "4.0.0"}}}"#;
    let workspace = with_venv(&[
        ("requirements.txt", "requests\n"),
        ("package.json", "{}"),
        ("package-lock.json", lock),
        (
            ".venv/lib/python3.11/site-packages/requests/__init__.py",
            "",
        ),
    ]);
    let bin = workspace.root().join(".venv/bin");
    let workspace = workspace.begin();
    assert!(bin.is_dir());
    for line in [
        "needs a key, which is not there",
        "3 of 9 requests were refused",
    ] {
        let found = workspace.inspect(&said(line));
        assert_eq!(found, Inspection::Nothing, "{line}");
    }
}

#[test]
fn a_target_is_run_because_it_is_declared_not_because_a_line_names_it() {
    let makefile =
        "gen: gen/all.txt\ngen/all.txt:\n\tmkdir -p gen; echo 1 > $@\nclean:\n\trm -rf data\n";
    let workspace = TestWorkspace::with(&[("Makefile", makefile)]).begin();
    let line = "nothing to show, run make gen first";
    workspace.heal(&said(line), &mut workspace.real_tools());
    assert_eq!(workspace.read("gen/all.txt"), "1\n");
    // It makes nothing that is missing.
    for line in ["run make clean first", "run make deploy first", line] {
        assert_eq!(
            workspace.inspect(&said(line)),
            Inspection::Nothing,
            "{line}"
        );
    }
}

#[test]
fn another_program_whose_name_ends_alike_names_no_target() {
    let makefile = "gen: gen/all.txt\ngen/all.txt:\n\tmkdir -p gen; echo 1 > $@\n";
    let workspace = TestWorkspace::with(&[("Makefile", makefile)]).begin();
    let found = workspace.inspect(&said("the cmake gen step was left out"));
    assert_eq!(found, Inspection::Nothing);
}

#[test]
fn a_module_of_the_workspace_and_a_package_of_a_lock_are_not_installed() {
    let lock = "[[package]]\nname = \"build\"\nversion = \"1.0\"\n";
    let project = "[project]\nname = \"shop\"\nversion = \"1\"\ndependencies = [\"widgetlib\"]\n";
    let workspace = with_venv(&[
        ("poetry.lock", lock),
        ("pyproject.toml", project),
        ("widgetlib/__init__.py", ""),
    ])
    .begin();
    for line in ["the build is missing", "widgetlib is not installed"] {
        let found = workspace.inspect(&said(line));
        assert_eq!(found, Inspection::Nothing, "{line}");
    }
}

#[test]
fn a_database_that_only_has_a_local_name_is_asked_about() {
    let makefile = "migrate:\n\tcp schema.txt app.db\n";
    let files = [("Makefile", makefile), ("schema.txt", "users\n")];
    let workspace = TestWorkspace::with(&files).begin();
    for line in [
        "relation \"users\" does not exist on prod.db",
        "postgres://h/shop.db has no users table",
    ] {
        let missing = failure(FailureKind::DatabaseSchemaMissing, line, None);
        workspace.asked_about(&missing);
    }
    workspace.write("app.db", "");
    let missing = "app.db: the users table does not exist";
    workspace.allowed(&failure(FailureKind::DatabaseSchemaMissing, missing, None));
}

#[test]
fn a_bare_word_names_no_cache() {
    let tag = "Signature: 8a477f597d28d172789f06886806bc55\n";
    let workspace = TestWorkspace::with(&[("target/CACHEDIR.TAG", tag)]).begin();
    let line = "cache: checksum mismatch for target x";
    let found = workspace.inspect(&failure(FailureKind::DataCorrupt, line, None));
    assert_eq!(found, Inspection::Nothing);
    let line = "the cache target/ is corrupt";
    workspace.allowed(&failure(FailureKind::DataCorrupt, line, None));
}

#[test]
fn what_the_workspace_proves_is_repaired_in_whatever_words_it_is_told() {
    let tag = "Signature: 8a477f597d28d172789f06886806bc55\n";
    for (files, line) in [
        (
            [(".env.example", "SHOP_API_URL=http://localhost:8080\n")],
            "shop: I do not know which API to talk to (SHOP_API_URL is blank)",
        ),
        ([(".env.example", "MODE=test\n")], "server: no .env here"),
        (
            [(".cache/CACHEDIR.TAG", tag)],
            "indexer: cached index in .cache is from another release, cannot use it",
        ),
    ] {
        let workspace = TestWorkspace::with(&files).begin();
        workspace.allowed(&said(line));
    }
}

#[test]
fn a_lock_whose_owner_is_dead_is_set_aside_in_whatever_words_it_is_told() {
    let mut owner = std::process::Command::new("true").spawn().unwrap();
    owner.wait().unwrap();
    let owner = owner.id().to_string();
    let workspace = TestWorkspace::with(&[("var/worker.pid", &owner)]).begin();
    workspace.allowed(&said(
        "worker: var/worker.pid says that a worker is at it; refusing to start",
    ));
}

#[test]
fn a_line_that_names_nothing_in_the_workspace_leads_to_no_repair() {
    let files = [
        (".env.example", "SHOP_MODE=test\n"),
        ("cache/notes.txt", "my only copy\n"),
    ];
    let workspace = TestWorkspace::with(&files).begin();
    for line in [
        "shop: PAYMENT_KEY is blank",
        "the cache folder cache/ is from another release, cannot use it",
        "worker: var/worker.pid says that a worker is at it",
        "the prices of the HTTP API are from another release",
    ] {
        let found = workspace.inspect(&said(line));
        assert!(
            !matches!(found, Inspection::Allowed(_)),
            "{line}: {found:?}"
        );
    }
}

#[test]
fn a_script_that_a_line_names_is_run_if_it_writes_the_missing_file() {
    let package = r#"{"scripts": {"codegen": "node gen.js", "other": "node other.js"}}"#;
    let files = [
        ("package.json", package),
        ("gen.js", "write('gen/api.js')\n"),
        ("other.js", "write('gen/other.js')\n"),
    ];
    let workspace = TestWorkspace::with(&files).with_tools(&["npm"]).begin();
    workspace.allowed(&said(
        "app: gen/api.js is absent. Did you forget `npm run codegen`?",
    ));
    let other = said("app: gen/api.js is absent. Did you forget `npm run other`?");
    let found = workspace.inspect(&other);
    assert!(!matches!(found, Inspection::Allowed(_)), "{found:?}");
}
