//! What a command can't start without, as far as its text tells.

use regreen_model::CommandInput;

use super::inputs::{Found, changes_folder, interpreted_script, plain};
use super::{Joint, List, Simple, Stage, read};

/// Words that start a compound command, which only a shell can check.
const KEYWORDS: &[&str] = &[
    "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for", "function", "if", "in",
    "select", "then", "time", "until", "while",
];

/// Returns the programs, scripts and targets without which a command fails, whatever the code in
/// the workspace does. Leaves out everything that runs only on a condition, or whose result
/// doesn't count.
#[must_use]
pub fn needs_of(text: &str) -> Vec<CommandInput> {
    let Some(list) = read(text) else {
        return Vec::new();
    };
    let mut found = Found::in_root(text);
    add_list(&mut found, &list);
    found.inputs.sort();
    found.inputs.dedup();
    found.inputs
}

/// Returns whether a text is a single command of ordinary words, which no shell can misread.
#[must_use]
pub fn is_plain_command(text: &str) -> bool {
    let is_ordinary = |c: char| c.is_ascii_alphanumeric() || " _-./:,@%+=".contains(c);
    let first = text.split(' ').find(|word| !word.is_empty());
    text.chars().all(is_ordinary) && first.is_some_and(|word| !KEYWORDS.contains(&word))
}

fn add_list(found: &mut Found<'_>, list: &List) {
    for (at, statement) in list.statements.iter().enumerate() {
        let next = list.statements.get(at + 1);
        let is_judged = next.is_none_or(|next| next.is_on_new_line) && !statement.is_background;
        let mut pipelines = statement.pipelines.iter();
        let has_alternative = pipelines.any(|(joint, _)| *joint == Joint::Or);
        for (_, pipeline) in &statement.pipelines {
            for stage in &pipeline.stages {
                match stage {
                    Stage::Simple(simple) if changes_folder(simple) => found.enter(simple),
                    Stage::Simple(simple) if is_judged && !has_alternative => {
                        add_simple(found, simple);
                    }
                    Stage::Group(list) if is_judged && !has_alternative => {
                        let folder = found.folder.clone();
                        add_list(found, list);
                        found.folder = folder;
                    }
                    _ => {}
                }
            }
        }
    }
}

fn add_simple(found: &mut Found<'_>, simple: &Simple) {
    found.program(simple);
    found.targets(simple);
    found.named_script(simple);
    found.module(simple);
    if let Some(script) = interpreted_script(simple) {
        found.add(&script);
    }
}

impl Found<'_> {
    /// Follows a change of the folder, if it stays below the current one.
    fn enter(&mut self, simple: &Simple) {
        let folder = simple.argv().get(1).and_then(plain);
        let inner =
            folder.filter(|folder| !folder.starts_with(['-', '/']) && !folder.contains(".."));
        self.folder = match (self.folder.take(), inner) {
            (Some(above), Some(inner)) if above.is_empty() => Some(inner),
            (Some(above), Some(inner)) => Some(format!("{above}/{inner}")),
            _ => None,
        };
    }

    /// Handles `python3 -m pytest`. A variable before it may say where modules are.
    fn module(&mut self, simple: &Simple) {
        let words: Option<Vec<String>> = simple.argv().iter().map(plain).collect();
        let words = words.unwrap_or_default();
        let (Some(folder), [python, flag, module, ..]) = (&self.folder, words.as_slice()) else {
            return;
        };
        let is_python = python
            .strip_prefix("python")
            .is_some_and(|version| version.chars().all(|c| c.is_ascii_digit() || c == '.'));
        let name = module.split('.').next().unwrap_or_default();
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let is_certain = is_python && flag == "-m" && !name.is_empty() && name.chars().all(is_name);
        if is_certain && !self.text.contains("PYTHONPATH") {
            self.inputs.push(CommandInput::Module {
                python: python.clone(),
                name: name.to_owned(),
                folder: folder.clone(),
            });
        }
    }

    /// Handles `npm test`, which runs a script of that name.
    fn named_script(&mut self, simple: &Simple) {
        let words: Vec<&str> = simple
            .argv()
            .iter()
            .map(|word| word.text.as_str())
            .collect();
        if let (
            ["npm" | "pnpm" | "yarn", "test"] | ["npm" | "pnpm" | "yarn", "test", "--", ..],
            Some(folder),
        ) = (words.as_slice(), &self.folder)
        {
            self.inputs.push(CommandInput::Target {
                runner: words[0].to_owned(),
                name: "test".to_owned(),
                folder: folder.clone(),
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let told = needs_of(text).into_iter().map(|input| match input {
            CommandInput::Path(path) => path,
            CommandInput::Program(name) => format!("<{name}>"),
            CommandInput::Target {
                runner,
                name,
                folder,
            } => format!("{folder}:{runner} {name}"),
            CommandInput::Module {
                python,
                name,
                folder,
            } => format!("{folder}:{python} -m {name}"),
        });
        assert_eq!(told.collect::<Vec<_>>(), expected, "{text}");
    }

    #[test]
    fn programs_scripts_and_targets_that_certainly_run_are_needed() {
        check("pytest -q tests/test_a.py", &["<pytest>"]);
        check("bash scripts/check.sh", &["scripts/check.sh", "<bash>"]);
        check("./check.sh --all", &["./check.sh"]);
        check(
            "python3 tools/x.py | grep -q ok",
            &["tools/x.py", "<grep>", "<python3>"],
        );
        check("cd web && npm run lint", &["<npm>", "web:npm lint"]);
        check("npm test", &["<npm>", ":npm test"]);
        check("make lint test", &["<make>", ":make lint", ":make test"]);
        check(
            "(cd a && make x) && make y",
            &["<make>", "a:make x", ":make y"],
        );
        check("pytest\nruff check", &["<pytest>", "<ruff>"]);
        check("! rg TODO", &["<rg>"]);
        check(
            "python3 -m pytest -q && cd api && python -m app.check",
            &[
                "<python>",
                "<python3>",
                "api:python -m app",
                ":python3 -m pytest",
            ],
        );
        check("PYTHONPATH=src python3 -m app", &[]);
    }

    #[test]
    fn what_may_not_run_or_does_not_count_is_not_needed() {
        check("pytest || python3 -m pytest", &[]);
        check("command -v x || true", &[]);
        check("which pytest; ls", &["<ls>"]);
        check("serve & sleep 1", &["<sleep>"]);
        check("if x; then y; fi", &[]);
        check(". .venv/bin/activate && pytest", &[]);
        check("PATH=a:$PATH pytest", &[]);
        check("$TOOL x", &[]);
        check("cd $DIR && make x", &["<make>"]);
        check("cd .. && make x", &["<make>"]);
        check("make -C app x", &["<make>"]);
        check("cat > a.sh <<'E'\nx\nE\nbash a.sh", &["<bash>", "<cat>"]);
        check("echo 'open", &[]);
    }

    #[test]
    fn only_a_command_of_ordinary_words_is_plain() {
        for text in ["cargo test -p a", "make  x", "./a.sh --x=1"] {
            assert!(is_plain_command(text), "{text}");
        }
        for text in [
            "if x",
            " ",
            "a && b",
            "echo 'x",
            "a\nb",
            "time",
            "echo \"é\"",
        ] {
            assert!(!is_plain_command(text), "{text}");
        }
    }
}
