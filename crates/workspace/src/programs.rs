use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use regreen_model::{CommandInput, VerifyCommand, VerifyForm};

use crate::{Disk, FileKind, read_text};

/// Words that bash runs itself: builtins and keywords.
const BUILTINS: &str = "\
    . : [ [[ { alias bg bind break builtin caller case cd command compgen complete compopt \
    continue coproc declare dirs disown echo enable eval exec exit export false fc fg for \
    function getopts hash help history if jobs kill let local logout mapfile popd printf pushd \
    pwd read readarray readonly return select set shift shopt source suspend test time times \
    trap true type typeset ulimit umask unalias unset until wait while";

/// Finds programs as a shell in the workspace does.
#[derive(Clone, Debug)]
pub struct Programs {
    folders: Vec<PathBuf>,
    workspace: PathBuf,
}

impl Programs {
    /// Creates it from the value of the PATH variable.
    #[must_use]
    pub fn new(path: &OsStr, workspace: &Path) -> Self {
        Self {
            folders: std::env::split_paths(path).collect(),
            workspace: workspace.to_owned(),
        }
    }

    /// Returns whether a shell in the workspace could run this word.
    #[must_use]
    pub fn has(&self, disk: &dyn Disk, word: &str) -> bool {
        is_listed(BUILTINS, word) || self.find(disk, word).is_some()
    }

    /// Returns whether a text that may be a command is one in this workspace.
    #[must_use]
    pub fn can_run(&self, disk: &dyn Disk, command: &VerifyCommand) -> bool {
        let mut arguments = command.command.split_whitespace().skip(1);
        match command.form {
            VerifyForm::Always => true,
            VerifyForm::IfProgram | VerifyForm::LeftOut => self.has(disk, command.program()),
            VerifyForm::IfTarget => {
                let folder = &self.workspace;
                let declared = |target| declares(disk, folder, command.program(), target);
                self.has(disk, command.program()) && arguments.all(declared)
            }
            VerifyForm::IfFiles => {
                let is_file = |word: &str| disk.stat(&self.workspace.join(word)).is_ok();
                self.has(disk, command.program()) && arguments.all(is_file)
            }
        }
    }

    /// Settles which texts are commands: those that can run now, or could when the run began. An
    /// agent may since have removed what they need; then they fail instead of becoming prose.
    /// Others that read like commands are marked as left out.
    pub fn settle(
        &self,
        disk: &dyn Disk,
        commands: &mut [VerifyCommand],
        known: &BTreeSet<String>,
    ) {
        for command in commands {
            let was_one = known.contains(&command.command);
            command.settle(was_one || self.can_run(disk, command));
        }
    }

    /// Returns the first input that doesn't exist.
    #[must_use]
    pub fn missing<'i>(
        &self,
        disk: &dyn Disk,
        inputs: &'i [CommandInput],
    ) -> Option<&'i CommandInput> {
        inputs.iter().find(|input| match input {
            CommandInput::Path(path) => disk.stat(&self.workspace.join(path)).is_err(),
            CommandInput::Program(name) => !self.has(disk, name),
            // Only the interpreter knows.
            CommandInput::Module { .. } => false,
            CommandInput::Target {
                runner,
                name,
                folder,
            } => {
                let folder = self.workspace.join(folder);
                let is_file = disk.stat(&folder.join(name)).is_ok();
                !is_file && !may_declare(disk, &folder, runner, name)
            }
        })
    }

    /// Returns the program for a word: a path relative to the workspace, or the first match in
    /// PATH.
    #[must_use]
    pub fn find(&self, disk: &dyn Disk, word: &str) -> Option<PathBuf> {
        if word.is_empty() {
            return None;
        }
        if word.contains('/') {
            let path = self.workspace.join(word);
            return is_program(disk, &path).then_some(path);
        }
        let mut paths = self.folders.iter().map(|folder| folder.join(word));
        paths.find(|path| is_program(disk, path))
    }
}

/// Returns the texts of the files in which a build tool looks for its targets.
fn declarations(disk: &dyn Disk, folder: &Path, runner: &str) -> Vec<String> {
    let names: &[&str] = match runner {
        "just" => &["justfile", "Justfile", ".justfile"],
        "npm" | "pnpm" | "yarn" | "bun" => &["package.json"],
        _ => &["GNUmakefile", "makefile", "Makefile"],
    };
    let files = names.iter().map(|name| folder.join(name));
    let texts = files.filter_map(|path| read_text(disk, &path).ok());
    texts.map(|file| file.text).collect()
}

/// Returns whether a project file declares this target.
fn declares(disk: &dyn Disk, folder: &Path, runner: &str, target: &str) -> bool {
    let texts = declarations(disk, folder, runner);
    let mut lines = texts.iter().flat_map(|text| text.lines());
    lines.any(|line| is_rule(line, target))
}

/// Returns the names of the targets that a project declares.
pub(crate) fn declared_targets(disk: &dyn Disk, folder: &Path, runner: &str) -> Vec<String> {
    let texts = declarations(disk, folder, runner);
    let lines = texts.iter().flat_map(|text| text.lines());
    let names = lines.flat_map(|line| {
        let line = match line.trim_start().strip_prefix('"') {
            Some(script) => script.replacen('"', "", 1),
            None => line.to_owned(),
        };
        let names = line.split_once(':').map_or("", |(names, _)| names);
        let names = names.split_whitespace().map(str::to_owned);
        names
            .filter(|name| is_rule(&line, name))
            .collect::<Vec<_>>()
    });
    names.collect()
}

/// Returns whether a project file declares this target, or can't be read well enough to tell.
fn may_declare(disk: &dyn Disk, folder: &Path, runner: &str, target: &str) -> bool {
    let texts = declarations(disk, folder, runner);
    let is_open = |line: &str| {
        let head = line.split(':').next().unwrap_or_default();
        let is_rule = line.contains(':') && !line.starts_with(['\t', ' ', '#']);
        (is_rule && head.contains(['%', '$']))
            || line.contains("include")
            || line.contains("import")
    };
    texts.iter().any(|text| {
        if runner != "make" && runner != "gmake" && runner != "just" {
            return text.contains(&format!("\"{target}\""));
        }
        text.lines()
            .any(|line| is_rule(line, target) || is_open(line))
    })
}

/// Whether a line declares the target: `test: build`, `lint test:`, and with parameters for `just`.
fn is_rule(line: &str, target: &str) -> bool {
    let is_other = line.contains(":=") || line.starts_with(['\t', ' ', '#']);
    let names = line.split_once(':').map_or("", |(names, _)| names);
    !is_other && names.split_whitespace().any(|name| name == target)
}

/// Returns whether a word is in a space-separated list.
pub(crate) fn is_listed(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|listed| listed == word)
}

fn is_program(disk: &dyn Disk, path: &Path) -> bool {
    let Ok(real) = disk.resolve(path) else {
        return false;
    };
    let is_file = disk
        .stat(&real)
        .is_ok_and(|stat| stat.kind == FileKind::Regular);
    is_file && disk.check_executable(&real).is_ok()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::RealDisk;

    #[test]
    fn programs_are_found_in_path_and_by_relative_path() {
        let root = tempfile::tempdir().unwrap();
        let bin = root.path().join("bin");
        fs::create_dir(&bin).unwrap();
        for (name, mode) in [("tool", 0o755), ("notes", 0o644)] {
            fs::write(bin.join(name), "").unwrap();
            fs::set_permissions(bin.join(name), fs::Permissions::from_mode(mode)).unwrap();
        }
        fs::create_dir(bin.join("folder")).unwrap();
        let programs = Programs::new(bin.as_os_str(), root.path());
        for word in ["tool", "bin/tool", "./bin/tool", "cd", "[", "if"] {
            assert!(programs.has(&RealDisk, word), "{word}");
        }
        for word in ["notes", "folder", "bin/notes", "nothing", "", "tool "] {
            assert!(!programs.has(&RealDisk, word), "{word}");
        }
    }

    #[test]
    fn bare_words_are_a_command_if_the_project_knows_them() {
        let root = tempfile::tempdir().unwrap();
        let makefile = "X := test2\nall: test\nlint test:\n\ttrue\n";
        fs::write(root.path().join("Makefile"), makefile).unwrap();
        fs::write(root.path().join("check.js"), "").unwrap();
        let programs = Programs::new(OsStr::new(""), root.path());
        let can_run = |command: &str, form: VerifyForm| {
            let command = VerifyCommand {
                form,
                ..VerifyCommand::always(command)
            };
            programs.can_run(&RealDisk, &command)
        };
        // `test` and `cd` replace make and node, which may not be installed.
        for (command, is_known) in [
            ("test lint", true),
            ("test lint test", true),
            ("test the docs", false),
            ("test X", false),
            ("no-such-program lint", false),
        ] {
            let found = can_run(command, VerifyForm::IfTarget);
            assert_eq!(found, is_known, "{command}");
        }
        for (command, is_known) in [
            ("cd check.js", true),
            ("cd check.js missing.js", false),
            ("find bugs in check.js", false),
        ] {
            let found = can_run(command, VerifyForm::IfFiles);
            assert_eq!(found, is_known, "{command}");
        }
    }

    #[test]
    fn a_command_stays_one_even_if_its_files_vanish() {
        let root = tempfile::tempdir().unwrap();
        let files = ["Makefile", "check.js", "tool"].map(|name| root.path().join(name));
        for path in &files {
            fs::write(path, "test:\n").unwrap();
            fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        let programs = Programs::new(OsStr::new(""), root.path());
        let command = |command: &str, form| VerifyCommand {
            form,
            ..VerifyCommand::always(command)
        };
        // `cd` replaces make and node, which may not be installed.
        let mut commands = [
            command("cd test", VerifyForm::IfTarget),
            command("cd check.js", VerifyForm::IfFiles),
            command("./tool", VerifyForm::IfProgram),
            command("./made-later", VerifyForm::IfProgram),
            command("prose", VerifyForm::IfProgram),
            command("./was-there", VerifyForm::IfProgram),
        ];
        let known = BTreeSet::from(["./was-there".to_owned()]);
        programs.settle(&RealDisk, &mut commands, &known);
        for path in &files {
            fs::remove_file(path).unwrap();
        }
        let left_out = commands.clone().map(|command| command.is_left_out());
        assert_eq!(left_out, [false, false, false, true, false, false]);
        let can_run = commands.map(|command| programs.can_run(&RealDisk, &command));
        assert_eq!(can_run, [true, true, true, false, false, true]);
    }

    #[test]
    fn files_and_targets_that_a_failure_needs_are_looked_up() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("app")).unwrap();
        fs::write(root.path().join("app/Makefile"), "test:\n\ttrue\n").unwrap();
        fs::write(
            root.path().join("package.json"),
            r#"{"scripts": {"lint": "x"}}"#,
        )
        .unwrap();
        fs::create_dir(root.path().join("open")).unwrap();
        fs::write(root.path().join("open/Makefile"), "%.o: %.c\n").unwrap();
        let programs = Programs::new(OsStr::new(""), root.path());
        let target = |runner: &str, name: &str, folder: &str| CommandInput::Target {
            runner: runner.to_owned(),
            name: name.to_owned(),
            folder: folder.to_owned(),
        };
        for (input, is_there) in [
            (CommandInput::Path("app/Makefile".to_owned()), true),
            (CommandInput::Path("app/x".to_owned()), false),
            (target("make", "test", "app"), true),
            (target("make", "lint", "app"), false),
            (target("make", "test", ""), false),
            (target("make", "anything", "open"), true),
            (target("npm", "lint", ""), true),
            (target("npm", "test", "app"), false),
        ] {
            let inputs = [input];
            let missing = programs.missing(&RealDisk, &inputs);
            assert_eq!(missing.is_none(), is_there, "{inputs:?}");
        }
    }
}
