//! Lock files and settings that lead to a source other than the user's registry. They were there
//! when the run started and haven't changed, but are still not trusted.

use super::missing_node;
use crate::test_workspace::{REGISTRY, TestWorkspace, failure, missing_module};
use regreen_model::{Failure, FailureKind, Inspection, RepairAction};

const PACKAGE_JSON: &str = r#"{"dependencies":{"ms":"2.1.3"}}"#;

fn run_of(program: &str) -> Failure {
    let args = vec![program.to_owned(), "install".to_owned()];
    failure(
        FailureKind::CompileError,
        "",
        Some(RepairAction::Run { args }),
    )
}

/// Checks files that must be asked about, and files of the user's registry, which must not be.
#[track_caller]
fn check(files: &[(&str, &str)], failure: &Failure, commands: &[&str], is_allowed: bool) {
    let tools = "npm yarn pnpm bun cargo go bundle composer poetry pipenv pdm uv python3 gem";
    let tools: Vec<&str> = tools.split(' ').collect();
    let mut workspace = TestWorkspace::with(files).begin().with_tools(&tools);
    workspace.commands = commands
        .iter()
        .map(|command| (*command).to_owned())
        .collect();
    if is_allowed {
        workspace.allowed(failure);
    } else {
        workspace.asked_about(failure);
    }
}

/// Addresses that no lock file may lead to without asking.
const STRANGE: [&str; 9] = [
    "https://evil.example/ms-2.1.3.tgz",
    "http://registry.example/ms-2.1.3.tgz",
    "https://registry.example:8443/ms-2.1.3.tgz",
    "https://registry.example.evil.example/ms-2.1.3.tgz",
    "https://registry.example@evil.example/ms-2.1.3.tgz",
    "https://evil.example\\@registry.example/ms-2.1.3.tgz",
    "git+https://registry.example/ms.git#abc",
    "git+ssh://git@registry.example/ms.git#abc",
    "file:ms-2.1.3.tgz",
];

fn of_registry() -> String {
    format!("{REGISTRY}/ms/-/ms-2.1.3.tgz")
}

#[track_caller]
fn check_addresses(lock: &str, text: impl Fn(&str) -> String) {
    let one = |address: &str, is_allowed| {
        let files = [("package.json", PACKAGE_JSON), (lock, &text(address))];
        check(&files, &missing_node("ms"), &[], is_allowed);
    };
    STRANGE.iter().for_each(|address| one(address, false));
    one(&of_registry(), true);
}

#[test]
fn an_npm_lock_file_that_leads_elsewhere() {
    let json = |address: &str| address.replace('\\', "\\\\");
    for name in ["package-lock.json", "npm-shrinkwrap.json"] {
        check_addresses(name, |address| {
            let address = json(address);
            format!(
                r#"{{"lockfileVersion":3,"packages":{{"node_modules/ms":{{"version":"2.1.3","resolved":"{address}"}}}}}}"#
            )
        });
    }
    // In a package's package, or in the first version of the format.
    check_addresses("package-lock.json", |address| {
        let address = json(address);
        format!(
            r#"{{"packages":{{"node_modules/ms":{{"version":"2.1.3"}},"node_modules/ms/node_modules/x":{{"version":"1","resolved":"{address}"}}}}}}"#
        )
    });
    let version_1 = |address: &str| {
        let address = json(address);
        format!(
            r#"{{"packages":{{"node_modules/ms":{{"version":"2.1.3"}}}},"dependencies":{{"a":{{"version":"1","dependencies":{{"b":{{"version":"{address}"}}}}}}}}}}"#
        )
    };
    check_addresses("package-lock.json", version_1);
    let link = r#"{"packages":{"node_modules/ms":{"resolved":"packages/ms","link":true}}}"#;
    for lock in [link, "{ cut off"] {
        let files = [("package.json", PACKAGE_JSON), ("package-lock.json", lock)];
        check(&files, &missing_node("ms"), &[], false);
    }
}

#[test]
fn a_lock_file_of_yarn_that_leads_elsewhere() {
    check_addresses("yarn.lock", |address| {
        format!("ms@2.1.3:\n  version \"2.1.3\"\n  resolved \"{address}\"\n")
    });
    let locks = [
        "\"ms@file:./ms\":\n  version \"2.1.3\"\n",
        "\"ms@npm:2.1.3\":\n  resolution: \"ms@npm:2.1.3::__archiveUrl=https%3A%2F%2Fevil.example%2Fms.tgz\"\n",
        "\"ms@npm:2.1.3\":\n  resolution: \"ms@https://evil.example/ms.git#commit=abc\"\n",
        "\"ms@portal:../ms\":\n  resolution: \"ms@portal:../ms\"\n",
    ];
    for lock in locks {
        let files = [("package.json", PACKAGE_JSON), ("yarn.lock", lock)];
        check(&files, &missing_node("ms"), &[], false);
    }
}

#[test]
fn a_lock_file_of_pnpm_or_bun_that_leads_elsewhere() {
    check_addresses("pnpm-lock.yaml", |address| {
        format!("packages:\n  ms@2.1.3:\n    resolution: {{tarball: {address}}}\n")
    });
    check_addresses("bun.lock", |address| {
        format!(
            "{{\n  \"packages\": {{\n    \"ms\": [\"ms@2.1.3\", \"{address}\", {{}}, \"sha512-a\"],\n  }}\n}}\n"
        )
    });
    for (lock, text) in [
        (
            "pnpm-lock.yaml",
            "packages:\n  ms@2.1.3:\n    resolution: {directory: vendor/ms, type: directory}\n",
        ),
        (
            "pnpm-lock.yaml",
            "packages:\n  ms@2.1.3:\n    resolution: {commit: abc, repo: x, type: git}\n",
        ),
        (
            "pnpm-lock.yaml",
            "dependencies:\n  ms:\n    version: link:../ms\n",
        ),
        (
            "bun.lock",
            "{\"packages\": {\"ms\": [\"ms@github:evil/ms#abc\"]}}\n",
        ),
        (
            "bun.lockb",
            "#!/usr/bin/env bun\nbun-lockfile-format-v0\n\0\0",
        ),
    ] {
        let files = [("package.json", PACKAGE_JSON), (lock, text)];
        check(&files, &missing_node("ms"), &[], false);
    }
}

#[test]
fn node_settings_that_lead_elsewhere() {
    for (settings, text) in [
        (".npmrc", "registry=https://evil.example\n"),
        (".npmrc", "@scope:registry=https://evil.example\n"),
        (".npmrc", "https-proxy=http://evil.example\n"),
        (".yarnrc", "registry \"https://evil.example\"\n"),
        (
            ".yarnrc.yml",
            "npmRegistryServer: \"https://evil.example\"\n",
        ),
        (".yarnrc.yml", "plugins:\n  - ./evil.cjs\n"),
        (
            "bunfig.toml",
            "[install]\nregistry = \"https://evil.example\"\n",
        ),
    ] {
        let files = [
            ("package.json", PACKAGE_JSON),
            ("yarn.lock", ""),
            (settings, text),
        ];
        check(&files, &missing_node("ms"), &[], false);
    }
}

#[test]
fn requirements_that_lead_elsewhere() {
    for line in [
        "--index-url https://evil.example/simple",
        "--index-url=https://evil.example/simple",
        "-i https://evil.example/simple",
        "--extra-index-url https://evil.example/simple",
        "--find-links https://evil.example/wheels",
        "-f ./wheels",
        "zqlib @ https://evil.example/zqlib.whl",
        "zqlib @ file:///tmp/zqlib.whl",
        "-e git+https://evil.example/zqlib.git#egg=zqlib",
        "git+ssh://git@evil.example/zqlib.git",
        "--trusted-host evil.example",
    ] {
        let text = format!("requests==2.31.0 --hash=sha256:aa\n{line}\n");
        let missing = missing_module("requests", "requests");
        check(&[("requirements.txt", &text)], &missing, &[], false);
    }
}

/// Python lock files, each with the task command that makes its manager install them.
fn python_locks(address: &str) -> [(&'static str, &'static str, String); 5] {
    let uv = format!(
        "[[package]]\nname='requests'\nversion='1'\nsource={{registry='{address}'}}\nwheels=[{{url='{address}'}}]\n"
    );
    let poetry = format!(
        "[[package]]\nname='requests'\nversion='1'\n[package.source]\ntype='legacy'\nurl='{address}'\n"
    );
    let pdm = format!("[[package]]\nname='requests'\nversion='1'\nfiles=[{{url='{address}'}}]\n");
    let pylock = format!("[[packages]]\nname='requests'\nversion='1'\nindex='{address}'\n");
    let pipenv = format!(
        r#"{{"_meta":{{"sources":[{{"name":"x","url":"{address}"}}]}},"default":{{"requests":{{"version":"==1"}}}}}}"#
    );
    [
        ("uv.lock", "uv run pytest", uv),
        ("poetry.lock", "poetry run pytest", poetry),
        ("pdm.lock", "pdm run pytest", pdm),
        ("pylock.toml", "pytest", pylock),
        ("Pipfile.lock", "pipenv run pytest", pipenv),
    ]
}

#[test]
fn a_lock_file_of_python_that_leads_elsewhere() {
    let manifest = "[project]\nname='a'\ndependencies=['requests']\n";
    let missing = missing_module("requests", "requests");
    let one = |address: &str, is_allowed| {
        for (lock, command, text) in python_locks(address) {
            let files = [("pyproject.toml", manifest), (lock, text.as_str())];
            check(&files, &missing, &[command], is_allowed);
            check(&files, &missing, &[], is_allowed);
        }
    };
    for address in STRANGE.iter().filter(|address| !address.contains('\\')) {
        one(address, false);
    }
    one(&format!("{REGISTRY}/simple"), true);
    for lock in [
        "[[package]]\nname='requests'\nversion='1'\nsource={git='https://registry.example/x?rev=1'}\n",
        "[[package]]\nname='requests'\nversion='1'\nsource={editable='libs/requests'}\n",
        "[[package]]\nname='requests'\nversion='1'\n[package.source]\ntype='git'\nurl='https://registry.example/x'\n",
        "[[package]]\nname='requests'\nversion='1'\n[package.source]\ntype='directory'\nurl='libs/x'\n",
        "cut off [",
    ] {
        let files = [("pyproject.toml", manifest), ("uv.lock", lock)];
        check(&files, &missing, &["uv run pytest"], false);
        check(&files, &missing, &[], false);
    }
    let pipfile = "[[source]]\nurl='https://evil.example/simple'\n[packages]\nrequests='*'\n";
    check(&[("Pipfile", pipfile)], &missing, &[], false);
    let settings = [
        ("pyproject.toml", manifest),
        ("uv.lock", ""),
        ("uv.toml", "index-url = 'https://evil.example/simple'\n"),
    ];
    check(&settings, &missing, &["uv run pytest"], false);
}

#[test]
fn cargo_files_that_lead_elsewhere() {
    let manifest = "[package]\nname='a'\n[dependencies]\nzq='1'\n";
    let locked =
        |source: &str| format!("[[package]]\nname='zq'\nversion='1.0.0'\nsource='{source}'\n");
    let usual = locked("registry+https://registry.example/index");
    let args = vec!["zq".to_owned()];
    let missing = failure(
        FailureKind::MissingRustCrate,
        "no matching package named `zq` found",
        Some(RepairAction::CargoAdd { args }),
    );
    let files = [("Cargo.toml", manifest), ("Cargo.lock", &usual)];
    check(&files, &missing, &[], true);
    for source in [
        "registry+http://registry.example/index",
        "sparse+https://evil.example/index",
        "git+https://evil.example/zq?rev=1#1",
        "registry+file:///tmp/index",
    ] {
        let files = [("Cargo.toml", manifest), ("Cargo.lock", &locked(source))];
        check(&files, &missing, &[], false);
    }
    let two = usual.clone() + &locked("registry+https://evil.example/index");
    check(
        &[("Cargo.toml", manifest), ("Cargo.lock", &two)],
        &missing,
        &[],
        false,
    );
    for more in [
        "[dependencies.x]\ngit='https://evil.example/x'\n",
        "[dependencies.x]\nregistry='evil'\nversion='1'\n",
        "[target.'cfg(unix)'.dependencies.x]\nregistry-index='https://evil.example'\nversion='1'\n",
        "[patch.crates-io]\nzq={path='zq'}\n",
    ] {
        let manifest = format!("{manifest}{more}");
        let files = [("Cargo.toml", manifest.as_str()), ("Cargo.lock", &usual)];
        check(&files, &missing, &[], false);
    }
    for (settings, text) in [
        (".cargo/config.toml", "[source.x]\nreplace-with='evil'\n"),
        (
            ".cargo/config",
            "[registries.evil]\nindex='https://evil.example'\n",
        ),
        (".cargo/config.toml", "paths=['zq']\n"),
        ("rust-toolchain.toml", "[toolchain]\npath='toolchain'\n"),
    ] {
        let files = [
            ("Cargo.toml", manifest),
            ("Cargo.lock", &usual),
            (settings, text),
        ];
        check(&files, &missing, &[], false);
    }
}

#[test]
fn go_files_that_lead_elsewhere() {
    let module = "module a\n\nrequire zq.example/b v1.0.0\n";
    let args = vec!["zq.example/b".to_owned()];
    let missing = failure(
        FailureKind::CompileError,
        "",
        Some(RepairAction::GoGet { args }),
    );
    check(&[("go.mod", module), ("go.sum", "")], &missing, &[], true);
    for replace in [
        "replace zq.example/b => ../b\n",
        "replace zq.example/b => evil.example/b v1.0.0\n",
        "replace (\n\tzq.example/b => ./b\n)\n",
    ] {
        let changed = format!("{module}{replace}");
        check(
            &[("go.mod", &changed), ("go.sum", "")],
            &missing,
            &[],
            false,
        );
        check(
            &[("go.mod", module), ("go.sum", ""), ("go.work", replace)],
            &missing,
            &[],
            false,
        );
    }
}

#[test]
fn bundler_files_that_lead_elsewhere() {
    let gemfile = |source: &str| format!("source '{source}'\ngem 'rack'\n");
    let locked = |source: &str| format!("GEM\n  remote: {source}\n  specs:\n    rack (3.0.8)\n");
    let check = |gemfile: &str, lock: &str, more: &[(&str, &str)], is_allowed| {
        let files = [&[("Gemfile", gemfile), ("Gemfile.lock", lock)], more].concat();
        check(&files, &run_of("bundle"), &[], is_allowed);
    };
    let (usual, usual_lock) = (gemfile(REGISTRY), locked(REGISTRY));
    check(&usual, &usual_lock, &[], true);
    for source in ["https://evil.example", "http://registry.example"] {
        check(&gemfile(source), &usual_lock, &[], false);
        check(&usual, &locked(source), &[], false);
    }
    for section in ["GIT", "PATH", "PLUGIN SOURCE"] {
        let lock = format!("{section}\n  remote: {REGISTRY}\n  specs:\n    x (1)\n\n{usual_lock}");
        check(&usual, &lock, &[], false);
    }
    check(
        &format!("{usual}eval_gemfile 'x'\n"),
        &usual_lock,
        &[],
        false,
    );
    let mirror = [(
        ".bundle/config",
        "BUNDLE_MIRROR__ALL: \"https://evil.example\"\n",
    )];
    check(&usual, &usual_lock, &mirror, false);
}

#[test]
fn a_lock_file_of_composer_with_an_address_for_each_package() {
    let manifest = r#"{"require":{"monolog/monolog":"^3"}}"#;
    let lock = |url: &str| {
        format!(
            r#"{{"packages":[{{"name":"monolog/monolog","dist":{{"type":"zip","url":"{url}"}}}}]}}"#
        )
    };
    for url in [
        "https://evil.example/x.zip",
        "http://evil.example/x.zip",
        "../x",
        REGISTRY,
    ] {
        let files = [("composer.json", manifest), ("composer.lock", &lock(url))];
        check(&files, &run_of("composer"), &[], false);
    }
}

#[test]
fn a_manager_that_does_not_answer() {
    let lock = format!(
        r#"{{"packages":{{"node_modules/ms":{{"version":"2.1.3","resolved":"{}"}}}}}}"#,
        of_registry()
    );
    let files = [
        ("package.json", PACKAGE_JSON),
        ("package-lock.json", lock.as_str()),
    ];
    let mut workspace = TestWorkspace::with(&files).begin().with_tools(&["npm"]);
    assert!(matches!(
        workspace.inspect(&missing_node("ms")),
        Inspection::Allowed(_)
    ));
    workspace.registries_are_known = false;
    workspace.asked_about(&missing_node("ms"));
}
