//! The console examples in the guides are real: `UPDATE_DOCS=1 cargo test -p regreen --test pages`
//! writes the output of the commands into the pages.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use regex::Regex;
use regreen_test_support::Workspace;

const REGREEN: &str = env!("CARGO_BIN_EXE_regreen");
const REPOSITORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
/// The folder where the pages create their own.
const SCRATCH: &str = "/tmp/";
/// Separates the outputs of two commands.
const BETWEEN: char = '\u{1}';

/// The beginning and end of a block of examples.
const FENCES: (&str, &str) = ("```console\n", "```");

fn path(name: &str) -> PathBuf {
    Path::new(REPOSITORY).join("docs").join(name)
}

fn page(name: &str) -> String {
    fs::read_to_string(path(name)).unwrap()
}

/// Returns the commands on the page, each with its output. Lines that start with `>` continue a
/// command.
fn examples(page: &str) -> Vec<(String, String)> {
    let mut examples: Vec<(String, String)> = Vec::new();
    for block in page.split(FENCES.0).skip(1) {
        let (block, _) = block.split_once(FENCES.1).unwrap();
        for line in block.lines() {
            if let Some(command) = line.strip_prefix("$ ") {
                examples.push((command.to_owned(), String::new()));
            } else if let Some(more) = line.strip_prefix("> ") {
                let (command, _) = examples.last_mut().unwrap();
                command.push_str(&format!("\n{more}"));
            } else {
                let (_, output) = examples.last_mut().unwrap();
                output.push_str(&format!("{line}\n"));
            }
        }
    }
    examples
}

/// Returns the page with these examples in its blocks.
fn with_examples(page: &str, examples: &[(String, String)]) -> String {
    let mut examples = examples.iter();
    let mut blocks = page.split(FENCES.0);
    let mut result = blocks.next().unwrap().to_owned();
    for block in blocks {
        let (block, prose) = block.split_once(FENCES.1).unwrap();
        result.push_str(FENCES.0);
        let commands = block.lines().filter(|line| line.starts_with("$ ")).count();
        for (command, output) in examples.by_ref().take(commands) {
            result.push_str(&format!("$ {}\n{output}", command.replace('\n', "\n> ")));
        }
        result.push_str(&format!("{}{prose}", FENCES.1));
    }
    result
}

/// Returns the output of the commands, run one after the other in one shell.
fn outputs(commands: &[&str], home: &Path) -> Vec<String> {
    let lines = commands
        .iter()
        .map(|command| format!("{command}\ncode=$?; printf '\\001'; (exit $code)\n"));
    let script = format!("exec 2>&1\n{}", lines.collect::<String>());
    let bin = Path::new(REGREEN).parent().unwrap().display().to_string();
    let path = std::env::var("PATH").unwrap();
    let output = Command::new("sh")
        .args([
            "-c",
            &script.replace(SCRATCH, &format!("{}/", home.display())),
        ])
        .current_dir(home)
        .env("HOME", home)
        .env("TMPDIR", home)
        .env("PATH", format!("{bin}:{path}"))
        .env_remove("XDG_CONFIG_HOME")
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    text.split_terminator(BETWEEN).map(str::to_owned).collect()
}

/// Replaces times and commit hashes.
fn plain(text: &str) -> String {
    [
        (r"\b\d{8}-\d{6}(-\d+)?\b", "[RUN]"),
        (r"\b\d{4}-\d\d-\d\d \d\d:\d\d:\d\d( UTC)?\b", "[MOMENT]"),
        (r"(?m)(\bcommit |^)[0-9a-f]{7}\b", "$1[HASH]"),
        (r"(?m)^(- \[x\] .*) - [0-9a-f]{7}$", "$1 - [HASH]"),
        (r"\[ *\d[\d.]*m?s\]", "[TIME]"),
        (r"(?m)^( +PASS .*(?:  | · ))[0-9a-f]{7}$", "$1[HASH]"),
        (r"(after|done in) +\d[\d.]*m?s\b", "$1 [TIME]"),
        (r"Duration: \d[\d.]*m?s\b", "Duration: [TIME]"),
        (r"(?m)^ +(\d+)$", "$1"),
        (r"commits stay \([0-9a-f, ]+\)", "commits stay ([HASHES])"),
        (r"\d{4}-\d\d-\d\dT[\d:.]+Z", "[MOMENT]"),
    ]
    .into_iter()
    .fold(text.to_owned(), |text, (from, to)| {
        Regex::new(from)
            .unwrap()
            .replace_all(&text, to)
            .into_owned()
    })
}

#[test]
fn every_example_of_running_is_tried() {
    try_examples("running.md");
}

#[test]
fn every_example_of_inspecting_is_tried() {
    try_examples("inspecting.md");
}

#[test]
fn every_example_of_healing_is_tried() {
    try_examples("healing.md");
}

#[test]
fn every_example_of_recovery_and_explain_is_tried() {
    try_examples("recovery.md");
    try_examples("explain.md");
}

#[test]
fn every_example_of_delegate_is_tried() {
    try_examples("delegate.md");
}

#[track_caller]
fn try_examples(name: &str) {
    let home = tempfile::tempdir().unwrap();
    symlink(
        Path::new(REPOSITORY).join("examples"),
        home.path().join("examples"),
    )
    .unwrap();
    let identity = "[user]\nname = Ann\nemail = ann@example.org\n";
    fs::write(home.path().join(".gitconfig"), identity).unwrap();
    let page = page(name);
    let examples = examples(&page);
    let commands: Vec<&str> = examples
        .iter()
        .map(|(command, _)| command.as_str())
        .collect();
    let outputs = outputs(&commands, home.path());
    assert!(!examples.is_empty());
    assert_eq!(outputs.len(), examples.len(), "{outputs:?}");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        let current = examples
            .iter()
            .zip(&outputs)
            .map(|((command, shown), output)| {
                let shown = if plain(shown) == plain(output) {
                    shown
                } else {
                    output
                };
                (command.clone(), shown.clone())
            });
        let current: Vec<_> = current.collect();
        fs::write(path(name), with_examples(&page, &current)).unwrap();
        return;
    }
    for ((command, expected), output) in examples.iter().zip(&outputs) {
        assert_eq!(plain(output), plain(expected), "{command}");
    }
}

#[test]
fn every_exit_code_is_on_the_page() {
    let help = Command::new(REGREEN).arg("--help").output().unwrap();
    let help = String::from_utf8(help.stdout).unwrap();
    let (_, codes) = help.split_once("Exit codes:\n").unwrap();
    let page = page("running.md");
    for line in codes.lines().filter(|line| !line.is_empty()) {
        let (code, meaning) = line.trim().split_once("  ").unwrap();
        let row = format!("| {code} | {} |\n", meaning.trim());
        assert!(page.contains(&row), "{row}");
    }
    assert!(codes.lines().count() >= 8);
}

/// The settings `on_end` that a page shows, each as a line of a configuration file.
fn on_end_examples(page: &str) -> Vec<&str> {
    let lines = page.lines();
    lines
        .filter(|line| line.starts_with("on_end = ["))
        .collect()
}

#[test]
fn every_on_end_of_the_configuration_page_is_run() {
    let page = page("configuration.md");
    let examples = on_end_examples(&page);
    assert_eq!(examples.len(), 3, "{examples:?}");
    for example in examples {
        let workspace = Workspace::with_tasks("- [ ] 1.1 It\n  - **Verify**: `true`\n")
            .agent("*) echo TASK_COMPLETE ;;")
            .file("user/.config/regreen/config.toml", example)
            .program("notify-send", "");
        let output = workspace.run_as_text(&[]).exits(0);
        assert!(
            !output.stderr.contains("on_end"),
            "{example}: {}",
            output.stderr
        );
        if example.contains("jsonl") {
            let lines = workspace.text("user/regreen-runs.jsonl");
            let summary: serde_json::Value = serde_json::from_str(&lines).unwrap();
            assert_eq!(summary["outcome"], "all_green");
            assert_eq!(summary["originals"]["done"], 1);
        } else {
            let said = if example.contains("jq") {
                "regreen demo: all_green\n"
            } else {
                "regreen\n"
            };
            assert_eq!(workspace.note("calls"), said, "{example}");
        }
    }
}
