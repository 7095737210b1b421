//! Recovery templates decide first what is done about a failure, and lift no rule.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use regreen_test_support::{Output, Workspace};

use super::User;

/// A task that needs a service, which runs if a file outside the workspace exists.
fn needs_service(up: &str) -> Workspace {
    let tasks = format!(
        "- [ ] 1.1 Write it\n  - **Verify**: `test -f {up} || {{ echo \"connect to 127.0.0.1 port 5432 failed: Connection refused\"; exit 1; }}`\n"
    );
    Workspace::with_tasks(&tasks).agent("*) echo TASK_COMPLETE ;;")
}

impl User {
    fn templates(self, text: &str) -> Self {
        let user = self.configuration("");
        fs::write(user.home.path().join("config/regreen/recovery.toml"), text).unwrap();
        user
    }

    /// Creates a program of the user's own. Returns its path.
    fn program(&self, name: &str, script: &str) -> String {
        let path = self.file(name);
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path.to_str().unwrap().to_owned()
    }

    fn file(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    fn recovers(&self, workspace: &Workspace, flags: &[&str]) -> Output {
        let agent = workspace.agent_flag();
        let run = [
            "run",
            "--agent",
            &agent,
            "--recovery-mode",
            "--no-input",
            "--json",
        ];
        self.regreen(workspace, &[&run[..], flags].concat())
    }
}

#[test]
fn a_repair_of_the_users_own_heals_a_failure_and_is_checked() {
    let user = User::new();
    let up = user.file("up").to_str().unwrap().to_owned();
    let start = user.program("start", &format!("echo starting; touch {up}"));
    let template = format!(
        "[[template]]\nkind = \"connection_refused\"\nfirst = [\"repair\"]\nrepair = [\"{start}\", \"db\"]\ncheck = [\"test\", \"-f\", \"{up}\"]\ndoes = \"start the database\"\n"
    );
    let user = user.templates(&template);
    let test = needs_service(&up);
    user.recovers(&test, &[])
        .exits(0)
        .mentions(r#""template":"connection_refused","owner":"user","strategy":"repair","step":1"#)
        .mentions(r#""action":"user_program""#)
        .mentions(r#""did":"start the database""#);
    test.regreen(&["why", "1.1"])
        .mentions("your recovery template for connection_refused: runs your own repair");
    let tasks = test.text(regreen_test_support::TASKS);
    assert!(
        tasks.contains("regreen does this itself: start the database"),
        "{tasks}"
    );
    // Deciding again needs no file.
    fs::remove_file(user.file("config/regreen/recovery.toml")).unwrap();
    let journal = test.regreen(&["journal"]).exits(0).stdout;
    fs::write(test.path("journal.jsonl"), journal).unwrap();
    test.regreen(&["replay", "journal.jsonl"]).exits(0);
}

#[test]
fn a_repair_whose_check_fails_is_left_to_the_agent() {
    let user = User::new();
    let up = user.file("up").to_str().unwrap().to_owned();
    let start = user.program("start", "exit 0");
    let template = format!(
        "[[template]]\nkind = \"connection_refused\"\nfirst = [\"repair\"]\nrepair = [\"{start}\"]\ncheck = [\"test\", \"-f\", \"{up}\"]\n"
    );
    let user = user.templates(&template);
    let test = needs_service(&up).agent(&format!(
        "1.1.1:*) touch {up}; echo TASK_COMPLETE ;; *) echo TASK_COMPLETE ;;"
    ));
    user.recovers(&test, &[])
        .exits(0)
        .mentions(r#""why":"start succeeded, but test failed with exit code 1: ""#);
    assert!(test.has_note("1.1.1-2.prompt"));
}

#[test]
fn a_program_in_the_workspace_is_no_repair_and_repairs_may_be_off() {
    let user = User::new();
    let test = needs_service(user.file("up").to_str().unwrap());
    let program = test.path("start").to_str().unwrap().to_owned();
    let ran = user.file("ran");
    fs::write(&program, format!("#!/bin/sh\ntouch {}\n", ran.display())).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let template = format!(
        "[[template]]\nkind = \"connection_refused\"\nfirst = [\"repair\", \"ask\"]\nrepair = [\"{program}\"]\ncheck = [\"false\"]\n"
    );
    let user = user.templates(&template);
    user.recovers(&test, &["--max-fix-tasks", "1"])
        .mentions("is in the workspace, where an agent may have written it");
    let test = needs_service(user.file("up").to_str().unwrap());
    user.recovers(&test, &["--repairs", "off"])
        .exits(3)
        .omits("repair_started")
        .mentions(r#""strategy":"ask","step":2"#);
    assert!(!ran.exists());
}

#[test]
fn texts_and_the_order_reach_the_agent() {
    let user = User::new();
    let up = user.file("up").to_str().unwrap().to_owned();
    let heals = format!(
        "1.1.1:*) case $prompt in *pg_ctlcluster*) touch {up} ;; esac; echo TASK_COMPLETE ;; *) echo TASK_COMPLETE ;;"
    );
    let text = "[[template]]\nkind = \"connection_refused\"\nfirst = [\"fix\"]\nprompt = \"Start it with pg_ctlcluster.\"\n";
    let user = user.templates(text);
    let own = needs_service(&up).agent(&heals);
    user.recovers(&own, &[]).exits(0).omits("wait_started");
    let prompt = own.note("1.1.1-1.prompt");
    let section = prompt
        .split_once("## How to handle this failure")
        .unwrap()
        .1;
    assert!(
        section.contains("the user who runs regreen says"),
        "{prompt}"
    );
    fs::remove_file(user.file("up")).unwrap();
    fs::remove_file(user.file("config/regreen/recovery.toml")).unwrap();
    let offered = needs_service(&up).agent(&heals).file("recovery.toml", text);
    user.recovers(&offered, &[])
        .exits(0)
        .mentions(r#""owner":"workspace","strategy":"fix","step":1"#);
    let prompt = offered.note("1.1.1-1.prompt");
    assert!(
        prompt.contains("a file of this repository says"),
        "{prompt}"
    );
}

#[test]
fn a_wait_comes_before_what_the_table_does() {
    let user = User::new();
    let up = user.file("up").to_str().unwrap().to_owned();
    let user = user.templates(
        "[[template]]\nkind = \"missing_file\"\nfirst = [\"wait\", \"ask\"]\nwait = \"100ms\"\nquestion = \"Is the share mounted?\"\n",
    );
    let tasks = format!("- [ ] 1.1 Write it\n  - **Verify**: `cat {up}/data.csv`\n");
    let test = Workspace::with_tasks(&tasks).agent("*) echo TASK_COMPLETE ;;");
    user.recovers(&test, &[])
        .exits(3)
        .mentions(r#""event":"wait_started""#)
        .mentions(r#""why":"Is the share mounted?""#)
        .omits("fix_inserted");
}

#[test]
fn a_repository_names_no_commands() {
    let user = User::new().configuration("");
    let test = needs_service("/nowhere").file(
        "recovery.toml",
        "[[template]]\nkind = \"connection_refused\"\nfirst = [\"repair\"]\nrepair = [\"./evil.sh\"]\ncheck = [\"true\"]\n",
    );
    user.recovers(&test, &[])
        .exits(2)
        .mentions("a repository may not set `repair`")
        .mentions("recovery.toml:4");
    assert!(!test.path(".regreen/runs").exists());
    // Another program's file of this name is none of ours.
    let other = needs_service("/")
        .file("recovery.toml", "[backup]\nkeep = 3\n")
        .file("empty.log", "");
    user.regreen(&other, &["explain", "--plan", "empty.log"])
        .exits(0);
}

#[test]
fn a_template_that_cannot_be_used_is_named_with_file_line_and_the_way_out() {
    let wrong = [
        (
            "kind = \"connection-refused\"",
            "did you mean `connection_refused`?",
        ),
        (
            "kind = \"timeout_no_progress\"\nfirst = [\"pray\"]",
            "unknown strategy `pray`",
        ),
        (
            "first = [\"fix\"]",
            "a template needs `kind` or `fingerprint`",
        ),
        (
            "kind = \"missing_file\"\nfirst = []",
            "a template needs `first`",
        ),
        (
            "kind = \"missing_file\"\nfirst = [\"fix\", \"fix\"]",
            "`fix` is named twice",
        ),
        (
            "kind = \"missing_file\"\nfirst = [\"wait\"]\nwait = \"9h\"",
            "use at most 1h",
        ),
        (
            "kind = \"missing_file\"\nfirst = [\"repair\"]",
            "`repair` is missing",
        ),
        (
            "kind = \"missing_file\"\nfirst = [\"repair\"]\nrepair = [\"make-it\"]",
            "`check` is missing",
        ),
        (
            "kind = \"missing_file\"\nfirst = [\"repair\"]\nrepair = [\"sudo\", \"x\"]\ncheck = [\"true\"]",
            "it gets more rights, or changes the system",
        ),
        (
            "kind = \"missing_file\"\nfirst = [\"repair\"]\nrepair = [\"env\", \"A=1\", \"/usr/bin/apt-get\"]\ncheck = [\"true\"]",
            "it gets more rights, or changes the system",
        ),
        (
            "kind = \"missing_file\"\nfirst = [\"repair\"]\nrepair = [\"bash\", \"-lc\", \"x | y\"]\ncheck = [\"true\"]",
            "a shell string",
        ),
        (
            "kind = \"missing_file\"\nfirst = [\"repair\"]\nrepair = [\"scripts/x.sh\"]\ncheck = [\"true\"]",
            "a path in the workspace",
        ),
        ("fingerprint = \"ab\"\nfirst = [\"fix\"]", "not 16 digits"),
        ("sort = \"missing_file\"", "unknown field `sort`"),
    ];
    for (text, expected) in wrong {
        let user = User::new().templates(&format!("[[template]]\n{text}\n"));
        let test = needs_service("/").file("empty.log", "");
        user.regreen(&test, &["explain", "--plan", "empty.log"])
            .exits(2)
            .mentions(expected)
            .mentions("config/regreen/recovery.toml:")
            .mentions("help: ");
    }
}

#[test]
fn explain_lists_templates_before_the_table() {
    let user = User::new().templates(
        "[[template]]\nkind = \"missing_file\"\nfirst = [\"wait\", \"fix\"]\nwait = \"10s\"\n",
    );
    let test = Workspace::new().file(
        "failed.log",
        "cat: /srv/data.csv: No such file or directory\n",
    );
    user.regreen(
        &test,
        &["explain", "failed.log", "--exit-code", "1", "--plan"],
    )
    .exits(0)
    .mentions("template missing_file: ")
    .mentions("wait: waits 10s, then tries again; charged to the task's attempts")
    .mentions("fix: adds a fix task for the agent; charged to the fix budget")
    .mentions("other: everything else");
    user.regreen(
        &test,
        &[
            "explain",
            "failed.log",
            "--exit-code",
            "1",
            "--plan",
            "--json",
        ],
    )
    .exits(0)
    .mentions(r#""template": "missing_file""#);
}
