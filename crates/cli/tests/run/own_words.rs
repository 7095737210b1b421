//! Projects whose own scripts say in their own words what is missing. Evidence in the workspace
//! decides whether regreen repairs it or leaves it to a person.

use std::fs::{self, Permissions};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use regreen_test_support::{Workspace, files_below};

/// A project, the command that fails in it, and the repair that makes it pass.
struct Project {
    files: &'static [(&'static str, &'static str)],
    runs: &'static str,
    /// What regreen does about it; nothing if a person has to decide.
    repair: Option<&'static str>,
}

const HEALED: &[Project] = &[
    Project {
        files: &[
            (
                "check.sh",
                "test -x tools/lint.sh || { echo 'check: tools/lint.sh is not executable'; exit 1; }\n",
            ),
            ("tools/lint.sh", "#!/bin/sh\n"),
        ],
        runs: "sh check.sh",
        repair: Some("make tools/lint.sh executable"),
    },
    Project {
        files: &[
            (
                "Makefile",
                "check:\n\t@test -x hooks/pre || { echo 'hooks/pre lacks the executable bit, giving up'; exit 1; }\n",
            ),
            ("hooks/pre", "#!/bin/sh\n"),
        ],
        runs: "make -s check",
        repair: Some("make hooks/pre executable"),
    },
    Project {
        files: &[
            (
                "check.sh",
                "test -f conf/app.ini || { echo 'cannot find the settings file conf/app.ini (template: conf/app.ini.example)'; exit 1; }\n",
            ),
            ("conf/app.ini.example", "[app]\nport = 1\n"),
            (".gitignore", "/conf/app.ini\n"),
        ],
        runs: "sh check.sh",
        repair: Some("copy conf/app.ini.example to conf/app.ini"),
    },
    Project {
        files: &[
            (
                "start.py",
                "import os, sys\nif not os.path.exists('.env'):\n    sys.exit('start: APP_TOKEN is nowhere to be found')\n",
            ),
            (".env.example", "APP_TOKEN=for-development\n"),
            (".gitignore", ".env\n"),
        ],
        runs: "python3 start.py",
        repair: Some("copy .env.example to .env"),
    },
    Project {
        files: &[(
            "report.py",
            "import os, sys\nif not os.path.isdir('reports/daily'):\n    sys.exit('the output folder reports/daily is not there')\n",
        )],
        runs: "python3 report.py",
        repair: Some("create the folder reports/daily"),
    },
    Project {
        files: &[
            (
                "show.js",
                "if (!require('fs').existsSync('gen/version.json')) { console.log('gen/version.json has not been generated yet'); process.exit(1) }\n",
            ),
            (
                "Makefile",
                "gen/version.json: version.txt\n\tmkdir -p gen; cp version.txt $@\n",
            ),
            ("version.txt", "1\n"),
        ],
        runs: "node show.js",
        repair: Some("run `make gen/version.json` of Makefile to make gen/version.json"),
    },
    Project {
        files: &[
            (
                "show.sh",
                "test -f gen/all.txt || { echo 'nothing to show yet, run make gen first'; exit 1; }\n",
            ),
            (
                "Makefile",
                "gen: gen/all.txt\ngen/all.txt: version.txt\n\tmkdir -p gen; cp version.txt $@\n",
            ),
            ("version.txt", "1\n"),
        ],
        runs: "sh show.sh",
        repair: Some("run `make gen` of Makefile to make gen/all.txt"),
    },
    Project {
        files: &[
            (
                "check.sh",
                "grep -q \"$(printf '\\r')\" deploy.sh && { echo 'deploy.sh has Windows line endings'; exit 1; }\nexit 0\n",
            ),
            ("deploy.sh", "#!/bin/sh\r\necho deployed\r\n"),
        ],
        runs: "sh check.sh",
        repair: Some("convert deploy.sh to Unix line endings"),
    },
    Project {
        files: &[
            (
                "build.py",
                "import os, sys\nif os.path.exists('.cache/tool'):\n    sys.exit('the cache in .cache/tool is from another version')\n",
            ),
            (
                ".cache/tool/CACHEDIR.TAG",
                "Signature: 8a477f597d28d172789f06886806bc55\n",
            ),
            (".cache/tool/index", "v1\n"),
            (".gitignore", ".cache\n"),
        ],
        runs: "python3 build.py",
        repair: Some(".cache/tool"),
    },
    Project {
        files: &[
            (
                "check.sh",
                "command -v fmt-tool >/dev/null || { echo 'fmt-tool is not on the PATH'; exit 1; }\n",
            ),
            (".venv/pyvenv.cfg", "home = /usr/bin\n"),
            (".venv/bin/fmt-tool", "#!/bin/sh\n"),
            (".venv/bin/python", "#!/bin/sh\n"),
            (".gitignore", ".venv\n"),
        ],
        runs: "sh check.sh",
        repair: Some("put .venv/bin first in PATH"),
    },
    Project {
        files: &[
            (
                "query.sh",
                "test -s app.db || { echo 'app.db: the users table does not exist'; exit 1; }\n",
            ),
            ("app.db", ""),
            ("Makefile", "migrate:\n\tcp schema.txt app.db\n"),
            ("schema.txt", "users\n"),
            (".gitignore", "app.db\n"),
        ],
        runs: "sh query.sh",
        repair: Some("run `make migrate` of Makefile to migrate the database"),
    },
];

const ASKED: &[Project] = &[
    // The copy would be committed.
    Project {
        files: &[
            (
                "check.sh",
                "test -f conf/app.ini || { echo 'cannot find the settings file conf/app.ini (template: conf/app.ini.example)'; exit 1; }\n",
            ),
            ("conf/app.ini.example", "[app]\nport = 1\n"),
        ],
        runs: "sh check.sh",
        repair: None,
    },
    // A folder to read from would be empty.
    Project {
        files: &[(
            "load.sh",
            "echo 'the input folder data/in is not there'; exit 1\n",
        )],
        runs: "sh load.sh",
        repair: None,
    },
    // Nothing says that it may be deleted.
    Project {
        files: &[
            (
                "build.sh",
                "echo 'the cache in state/cache is from another version'; exit 1\n",
            ),
            ("state/cache/index", "mine\n"),
        ],
        runs: "sh build.sh",
        repair: None,
    },
    // The lock does not say whose it is.
    Project {
        files: &[
            (
                "build.sh",
                "echo 'another build is running: lock file var/build.lock'; exit 1\n",
            ),
            ("var/build.lock", ""),
            (".gitignore", "var\n"),
        ],
        runs: "sh build.sh",
        repair: None,
    },
    // Nothing declares the package.
    Project {
        files: &[
            (
                "check.sh",
                "echo 'needs widgetlib, which is not there'; exit 1\n",
            ),
            ("requirements.txt", "gadgetlib\n"),
        ],
        runs: "sh check.sh",
        repair: None,
    },
    // What a line suggests is not a reason to run it.
    Project {
        files: &[
            (
                "check.sh",
                "echo 'the data folder is broken: run rm -rf data, then make clean'; exit 1\n",
            ),
            ("Makefile", "clean:\n\trm -rf data\n"),
            ("data/precious", "yes\n"),
        ],
        runs: "sh check.sh",
        repair: None,
    },
    // Two scripts could be meant.
    Project {
        files: &[
            (
                "check.sh",
                "echo 'a.sh and b.sh: one of them is not executable'; exit 1\n",
            ),
            ("a.sh", "#!/bin/sh\n"),
            ("b.sh", "#!/bin/sh\n"),
        ],
        runs: "sh check.sh",
        repair: None,
    },
];

fn workspace(project: &Project) -> Workspace {
    let tasks = format!(
        "- [ ] 1.1 Run the project\n  - **Do**: `{}`\n  - **Commit**: None\n",
        project.runs
    );
    let mut workspace = Workspace::with_tasks(&tasks);
    for (path, text) in project.files {
        workspace = workspace.file(path, text);
        if path.contains("/bin/") {
            fs::set_permissions(workspace.path(path), Permissions::from_mode(0o755)).unwrap();
        }
    }
    workspace.git_repository()
}

fn heal(workspace: &Workspace) -> regreen_test_support::Output {
    workspace.run_with_agent("shell", &["--recovery-mode", "--no-input"])
}

/// The project's own files, with their content and whether they can be executed.
fn files(workspace: &Workspace) -> Vec<(String, Vec<u8>, u32)> {
    let is_own = |path: &String| {
        let others = [".git/", ".regreen/", "specs/", "user/"];
        !others.iter().any(|folder| path.starts_with(folder))
    };
    let paths = files_below(&workspace.path(".")).into_iter().filter(is_own);
    let read = |path: String| {
        let full = workspace.path(&path);
        let mode = fs::metadata(&full).unwrap().permissions().mode();
        (path, fs::read(full).unwrap(), mode)
    };
    paths.map(read).collect()
}

#[test]
fn what_the_workspace_proves_is_repaired_in_whatever_words_it_is_said() {
    for project in HEALED {
        let workspace = workspace(project);
        let repair = project.repair.unwrap();
        heal(&workspace)
            .exits(0)
            .mentions("repaired: ")
            .mentions(repair);
    }
}

#[test]
fn what_the_workspace_does_not_prove_is_left_to_a_person() {
    for project in ASKED {
        let workspace = workspace(project);
        let before = files(&workspace);
        heal(&workspace).exits(3);
        assert_eq!(files(&workspace), before, "{}", project.runs);
    }
}

#[test]
fn a_lock_of_a_dead_process_is_moved_aside_whatever_the_script_calls_it() {
    let project = Project {
        files: &[
            (
                "build.sh",
                "test -f var/build.lock && { echo 'another build is running: lock file var/build.lock'; exit 1; }\nexit 0\n",
            ),
            (".gitignore", "var\n"),
        ],
        runs: "sh build.sh",
        repair: None,
    };
    let mut gone = Command::new("true").spawn().unwrap();
    let pid = gone.id().to_string();
    gone.wait().unwrap();
    let workspace = workspace(&project).file("var/build.lock", pid);
    heal(&workspace).exits(0).mentions("var/build.lock");
}

#[test]
fn a_port_of_someone_else_stays_theirs() {
    let other = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = other.local_addr().unwrap().port();
    let tasks = format!(
        "- [ ] 1.1 Serve\n  - **Do**: `sh serve.sh`\n  - **Commit**: None\n\n<!-- {port} -->\n"
    );
    let workspace = Workspace::with_tasks(&tasks)
        .file("serve.sh", format!("echo 'port {port} is busy'; exit 1\n"))
        .git_repository();
    heal(&workspace)
        .exits(3)
        .mentions(&format!("free port {port}"));
    assert!(other.set_nonblocking(true).is_ok());
}

#[test]
fn a_service_that_is_not_ready_yet_is_tried_again() {
    let project = Project {
        files: &[(
            "query.sh",
            "test -f tried || { touch tried; echo 'the index is still warming up'; exit 1; }\n",
        )],
        runs: "sh query.sh",
        repair: None,
    };
    heal(&workspace(&project)).exits(0);
}
