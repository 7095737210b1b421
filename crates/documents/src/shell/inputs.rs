//! The inputs of a command, as far as its text tells: a failure or an empty result proves something
//! only if they exist.

mod files;

use std::collections::BTreeMap;

use regreen_model::{CommandInput, Comparison, Expectation};

use self::files::files_of;
pub(super) use self::files::interpreted_script;
use super::{Joint, List, Pipeline, Simple, Stage, Statement, Word, read};

/// Programs that tell whether a file exists.
const NAMING: &[&str] = &["ls", "stat"];
/// What a text contains that may itself provide the programs it runs.
const PROVIDING: &[&str] = &[
    "PATH=",
    "PATH+=",
    ". ./",
    "activate",
    "()",
    "function ",
    "alias ",
    "source ",
    "eval ",
];

/// Returns what must exist before the expected result of a command counts. Empty if a missing file
/// can't cause that result.
#[must_use]
pub fn inputs_of(text: &str, expects: Option<&Expectation>) -> Vec<CommandInput> {
    let Some(list) = read(text) else {
        return Vec::new();
    };
    let mut found = Found::in_root(text);
    let proof = match expects {
        Some(expected) if accepts_failure(expected) => Proof::Failure,
        Some(expected) if accepts_absence(expected) => Proof::Absence,
        _ => Proof::Negation,
    };
    found.list(&list, proof);
    found.inputs.sort();
    found.inputs.dedup();
    found.inputs
}

/// The kind of result that proves the expectation.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Proof {
    /// The command fails.
    Failure,
    /// It prints nothing, or little.
    Absence,
    /// It passes; only a `! x` or `test -z "$(x)"` in it proves that something is absent.
    Negation,
}

fn accepts_failure(expected: &Expectation) -> bool {
    match expected {
        Expectation::Fails => true,
        Expectation::Exits(code) => *code != 0,
        Expectation::Returns(comparison, number) => {
            *comparison == Comparison::Equal && *number != 0
        }
        Expectation::All(parts) => parts.iter().any(accepts_failure),
        _ => false,
    }
}

pub(super) fn accepts_absence(expected: &Expectation) -> bool {
    match expected {
        Expectation::Lacks(_) | Expectation::NoOutput | Expectation::Matches(0) => true,
        Expectation::Returns(comparison, number)
        | Expectation::Prints(comparison, number)
        | Expectation::Lines(comparison, number) => comparison.holds(0, *number),
        Expectation::All(parts) => parts.iter().any(accepts_absence),
        _ => false,
    }
}

pub(super) struct Found<'t> {
    pub(super) text: &'t str,
    /// The folder in which the next command runs; `None` if unknown.
    pub(super) folder: Option<String>,
    pub(super) inputs: Vec<CommandInput>,
    /// The values of variables so far.
    assigned: BTreeMap<String, String>,
}

impl<'t> Found<'t> {
    /// Starts in the workspace's root.
    pub(super) fn in_root(text: &'t str) -> Self {
        Self {
            text,
            folder: Some(String::new()),
            inputs: Vec::new(),
            assigned: BTreeMap::new(),
        }
    }
}

impl Found<'_> {
    fn list(&mut self, list: &List, proof: Proof) {
        for Statement { pipelines, .. } in &list.statements {
            for (at, (_, pipeline)) in pipelines.iter().enumerate() {
                // `grep -q x f && exit 1` passes if nothing is found.
                let is_unwanted = matches!(
                    pipelines.get(at + 1),
                    Some((Joint::And, next)) if next.stages.iter().any(ends_in_failure)
                );
                let proof = match proof {
                    Proof::Negation if is_unwanted => Proof::Failure,
                    proof => proof,
                };
                self.pipeline(pipeline, proof);
            }
        }
    }

    fn pipeline(&mut self, pipeline: &Pipeline, proof: Proof) {
        let proof = match proof {
            Proof::Negation if pipeline.is_negated => Proof::Failure,
            proof => proof,
        };
        let last = pipeline.stages.len().saturating_sub(1);
        for (at, stage) in pipeline.stages.iter().enumerate() {
            match stage {
                Stage::Simple(simple) => self.simple(simple, proof, at == last),
                // Changes in a subshell stay there.
                Stage::Group(list) => {
                    let folder = self.folder.clone();
                    self.list(list, proof);
                    self.folder = folder;
                }
                // `if grep -q x f; then exit 1; fi` passes if nothing is found.
                Stage::Control {
                    conditions,
                    bodies,
                    is_loop: false,
                } if proof == Proof::Negation => {
                    let is_unwanted = bodies.first().is_some_and(|body| {
                        let last = body.list.statements.last();
                        let last = last.and_then(|last| last.pipelines.last());
                        last.is_some_and(|(_, last)| last.stages.iter().any(ends_in_failure))
                    });
                    if let Some(condition) = conditions.first().filter(|_| is_unwanted) {
                        self.list(condition, Proof::Failure);
                    }
                }
                Stage::Test if proof == Proof::Negation => {
                    let text = self.text.get(pipeline.range.clone()).unwrap_or_default();
                    self.tested(text);
                }
                _ => {}
            }
        }
    }

    fn simple(&mut self, simple: &Simple, proof: Proof, is_last: bool) {
        if changes_folder(simple) {
            return self.change_folder(simple, proof);
        }
        if proof == Proof::Negation {
            return self.substituted(simple);
        }
        // `cat old.txt` that is expected to fail asks the same.
        let is_cat = proof == Proof::Failure && simple.is_one_of(&["cat"]);
        if is_last && (is_cat || simple.is_one_of(NAMING)) {
            return;
        }
        for input in files_of(simple) {
            self.add(&input);
        }
        self.program(simple);
        self.targets(simple);
    }

    /// Adds the program: without it, the next stage of the pipeline gets nothing.
    pub(super) fn program(&mut self, simple: &Simple) {
        let is_provided = PROVIDING.iter().any(|text| self.text.contains(text));
        let name = simple.argv().first().and_then(plain);
        match name.filter(|name| !is_provided && !name.is_empty()) {
            Some(path) if path.contains('/') => self.add(&path),
            Some(name) => self.inputs.push(CommandInput::Program(name)),
            None => {}
        }
    }

    /// Handles `test -z "$(grep -r x src)"` and `diff <(a) <(b)`, which pass if nothing is found.
    fn substituted(&mut self, simple: &Simple) {
        if simple.argv().is_empty() {
            let values = simple
                .words
                .iter()
                .filter_map(|word| word.text.split_once('='));
            self.assigned
                .extend(values.map(|(name, value)| (name.to_owned(), value.to_owned())));
            return;
        }
        let words = simple.argv().iter().skip(1).map(|word| word.text.as_str());
        let words: Vec<&str> = words.collect();
        match simple.program() {
            "test" => self.compared(&words),
            "[" => self.compared(words.strip_suffix(&["]"]).unwrap_or(&words)),
            "cmp" | "diff" => {
                let given = words
                    .iter()
                    .filter_map(|word| word.strip_prefix("<(")?.strip_suffix(')'));
                given.for_each(|inner| self.absent(inner));
            }
            _ => {}
        }
    }

    /// Handles `[[ -z $(grep -r x src) ]]`.
    fn tested(&mut self, text: &str) {
        let inner = text
            .strip_prefix("[[")
            .and_then(|text| text.strip_suffix("]]"));
        let inside = inner.map(|inner| format!("test {}", inner.trim()));
        let Some(list) = inside.as_deref().and_then(read) else {
            return;
        };
        let pipelines = list.statements.iter().flat_map(|one| &one.pipelines);
        for stage in pipelines.flat_map(|(_, pipeline)| &pipeline.stages) {
            if let Stage::Simple(simple) = stage {
                let words = simple.argv().iter().map(|word| word.text.as_str());
                let words: Vec<&str> = words.skip_while(|word| *word == "test").collect();
                self.compared(&words);
            }
        }
    }

    /// Handles the comparisons that hold if a command prints nothing, or counts nothing.
    fn compared(&mut self, words: &[&str]) {
        for part in words.split(|word| ["-a", "-o"].contains(word)) {
            self.compared_alone(part);
        }
    }

    fn compared_alone(&mut self, words: &[&str]) {
        let is_nothing = |word: &str| ["0", ""].contains(&word.trim_matches(['"', '\'']));
        let is_command = |word: &str| word.trim_matches('"').starts_with("$(");
        let absent = match *words {
            ["-z", value] => vec![value],
            [left, "!=", right] => vec![left, right],
            [left, "=" | "==" | "-eq", right] if is_nothing(right) => vec![left],
            [left, "=" | "==" | "-eq", right] if is_nothing(left) => vec![right],
            [left, "=" | "==" | "-eq", right] if is_command(left) && is_command(right) => {
                vec![left, right]
            }
            [less, "-lt" | "-le", _] | [_, "-gt" | "-ge", less] => vec![less],
            _ => Vec::new(),
        };
        for value in absent {
            self.absent(&self.value_of(value));
        }
    }

    /// Returns the commands of `"$(x)"`, also if a variable has their output.
    fn value_of(&self, word: &str) -> String {
        let plain = |word: &str| word.trim_matches('"').to_owned();
        let inner = plain(word);
        let name = inner
            .strip_prefix('$')
            .map(|name| name.trim_matches(['{', '}']));
        let value = name.and_then(|name| self.assigned.get(name));
        let value = value.map_or(inner.clone(), |value| plain(value));
        let inside = value
            .strip_prefix("$(")
            .and_then(|value| value.strip_suffix(')'));
        inside.unwrap_or_default().to_owned()
    }

    /// Adds what must exist before nothing that a text prints proves anything.
    fn absent(&mut self, text: &str) {
        if let Some(list) = read(text) {
            self.list(&list, Proof::Absence);
        }
    }

    fn change_folder(&mut self, simple: &Simple, proof: Proof) {
        let Some(folder) = simple.argv().get(1).and_then(plain) else {
            self.folder = None;
            return;
        };
        if proof != Proof::Negation {
            self.add(&folder);
        }
        self.folder = self.folder.take().map(|above| join(&above, &folder));
    }

    /// Adds a path. A file that the text names twice may be created by it.
    pub(super) fn add(&mut self, path: &str) {
        let Some(folder) = &self.folder else { return };
        let is_end = |c: char| c.is_whitespace() || "\"'<>|;&()=".contains(c);
        let is_made = self.text.split(is_end).filter(|word| *word == path).count() > 1;
        if !is_made && !path.is_empty() && !["-", ".", "/dev/null", "/dev/stdin"].contains(&path) {
            self.inputs.push(CommandInput::Path(join(folder, path)));
        }
    }

    /// Handles `make lint`, `just lint` and `npm run lint`.
    pub(super) fn targets(&mut self, simple: &Simple) {
        let Some(folder) = &self.folder else { return };
        let words: Option<Vec<String>> = simple.argv().iter().map(plain).collect();
        let words = words.unwrap_or_default();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let named: &[&str] = match words.as_slice() {
            ["make" | "gmake" | "just", names @ ..] => names,
            ["npm" | "pnpm" | "yarn" | "bun", "run", name, ..] => &[name],
            _ => &[],
        };
        // `-C folder` and `-f file` point to another declaration.
        if named.iter().any(|name| name.starts_with('-')) {
            return;
        }
        let runner = words.first().copied().unwrap_or_default();
        // Words after the first recipe of `just` may be its arguments.
        let count = if runner == "just" { 1 } else { named.len() };
        for name in named.iter().take(count).filter(|name| !name.contains('=')) {
            self.inputs.push(CommandInput::Target {
                runner: runner.to_owned(),
                name: (*name).to_owned(),
                folder: folder.clone(),
            });
        }
    }
}

/// Whether this is `exit 1` or `false`.
fn ends_in_failure(stage: &Stage) -> bool {
    let Stage::Simple(simple) = stage else {
        return false;
    };
    let status = simple.argv().get(1).map(|word| word.text.as_str());
    simple.program() == "false"
        || (simple.is_one_of(&["exit", "return"]) && status.is_some_and(|status| status != "0"))
}

pub(super) fn changes_folder(simple: &Simple) -> bool {
    simple.is_one_of(&["cd", "pushd"])
}

fn join(above: &str, path: &str) -> String {
    if above.is_empty() || path.starts_with('/') {
        path.to_owned()
    } else {
        format!("{}/{path}", above.trim_end_matches('/'))
    }
}

/// Returns a word as the program receives it; `None` if the shell replaces it.
pub(super) fn plain(word: &Word) -> Option<String> {
    let text = word.text.as_str();
    let quoted = |quote: char| {
        let inner = text.strip_prefix(quote)?.strip_suffix(quote)?;
        (!inner.contains(quote)).then_some(inner)
    };
    if let Some(inner) = quoted('\'') {
        return Some(inner.to_owned());
    }
    let inner = quoted('"').unwrap_or(text);
    let is_plain = !inner.contains(['$', '`', '\\', '"', '\'']);
    let has_pattern = inner == text && inner.contains(['*', '?', '[', '{', '~', '<', '>']);
    (is_plain && !has_pattern).then(|| inner.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expects: Option<&Expectation>, expected: &[&str]) {
        let inputs = inputs_of(text, expects);
        let told = inputs.iter().filter_map(|input| match input {
            CommandInput::Path(path) => Some(path.clone()),
            CommandInput::Program(_) | CommandInput::Module { .. } => None,
            CommandInput::Target {
                runner,
                name,
                folder,
            } => Some(format!("{folder}:{runner} {name}")),
        });
        assert_eq!(told.collect::<Vec<_>>(), expected, "{text}");
    }

    #[test]
    fn a_failure_needs_the_script_the_files_and_the_target() {
        let fails = Some(&Expectation::Fails);
        for (text, needed) in [
            ("python3 app.py missing.json", vec!["app.py"]),
            ("python3 -W error app.py", vec!["app.py"]),
            ("python3 -m app x.py", vec![]),
            ("python3 -m pytest tests/test_a.py", vec!["tests/test_a.py"]),
            ("python3 -c 'import x'", vec![]),
            ("sh -x t.sh --bad", vec!["t.sh"]),
            ("bash -c 'exit 1'", vec![]),
            ("node build", vec![]),
            ("make lint", vec![":make lint"]),
            ("make -C app lint", vec![]),
            ("npm run lint", vec![":npm lint"]),
            ("cd app && make lint", vec!["app", "app:make lint"]),
            ("grep -q 'x y' src/a.py b", vec!["b", "src/a.py"]),
            ("grep -e x -A 3 a", vec!["a"]),
            ("grep \"$X\" a", vec!["a"]),
            ("diff a b", vec!["a", "b"]),
            (
                "pytest tests/test_a.py::test_x -k z",
                vec!["tests/test_a.py"],
            ),
            ("mycli build nosuch.yaml", vec![]),
            // These name the file that should be gone.
            ("ls old.txt", vec![]),
            ("cat old.txt", vec![]),
            ("test -f old.txt", vec![]),
            ("cat log | grep -q x", vec!["log"]),
            ("touch f; grep -q x f", vec![]),
        ] {
            check(text, fails, &needed);
        }
    }

    #[test]
    fn nothing_found_needs_the_place_where_it_was_looked_for() {
        let none = Some(&Expectation::NoOutput);
        for (text, needed) in [
            ("grep -rs TODO src/", vec!["src/"]),
            ("grep -rn TODO", vec![]),
            ("grep -rn TODO src/*.py", vec![]),
            ("git grep TODO -- src", vec!["src"]),
            ("find src lib -name '*.tmp'", vec!["lib", "src"]),
            ("cat a.log | grep -c ERROR", vec!["a.log"]),
            ("sed -n '1p' a", vec!["a"]),
            ("jq -e .x a.json", vec!["a.json"]),
            ("ls gone.txt 2>/dev/null", vec![]),
            ("ls src/*.tmp | wc -l", vec!["src"]),
            ("tail -n 5 a.log", vec!["a.log"]),
            ("cd app; cat \"$F\" b", vec!["app", "app/b"]),
            ("cd $X; cat b", vec![]),
        ] {
            check(text, none, &needed);
        }
    }

    #[test]
    fn a_pass_needs_them_only_for_what_is_negated() {
        for (text, needed) in [
            ("grep -q x a", vec![]),
            ("! grep -q x a", vec!["a"]),
            ("cd app && ! grep -rq x src", vec!["app/src"]),
            ("test -f b && ! grep -q x a", vec!["a"]),
            ("! test -e a", vec![]),
            ("[ ! -e a ]", vec![]),
            ("! ls a", vec![]),
            ("test -z \"$(grep -r TODO src)\"", vec!["src"]),
            ("[ -z \"$(cat a | grep x)\" ]", vec!["a"]),
            ("[ -z \"$(grep -r TODO src)\" -a -f README ]", vec!["src"]),
            ("[ -f README -o -z \"$(cat a)\" ]", vec!["a"]),
            ("[ -n \"$(cat a)\" ]", vec![]),
            ("test \"$(cat VERSION)\" != 1.0", vec!["VERSION"]),
            ("[ \"$(grep -r TODO src | wc -l)\" -eq 0 ]", vec!["src"]),
            ("n=$(grep -rs TODO src | wc -l); [ $n -le 3 ]", vec!["src"]),
            ("n=$(grep -c x a) && [ \"$n\" = 0 ]", vec!["a"]),
            ("[[ $(find src -name x | wc -l) -lt 5 ]]", vec!["src"]),
            ("[ 5 -gt \"$(wc -l < a)\" ]", vec![]),
            ("[ \"$(cat a)\" = \"$(cat b)\" ]", vec!["a", "b"]),
            ("[ \"$(cat a)\" = x ]", vec![]),
            ("[ \"$(grep -c x a)\" -ge 3 ]", vec![]),
            ("[ \"$(grep -c x a)\" -eq 3 ]", vec![]),
            ("diff <(sort a) <(sort b)", vec!["a", "b"]),
            ("diff a b", vec![]),
            ("[[ -z $(grep -r TODO src) ]]", vec!["src"]),
            ("if grep -q x a; then exit 1; fi", vec!["a"]),
            ("if grep -q x a; then make; fi", vec![]),
            ("grep -q x a && exit 1 || exit 0", vec!["a"]),
            ("grep -q x a || exit 1", vec![]),
        ] {
            check(text, None, &needed);
        }
        check(
            "grep -c x a",
            Some(&Expectation::Prints(Comparison::AtLeast, 1)),
            &[],
        );
        check(
            "grep -c x a",
            Some(&Expectation::Prints(Comparison::Equal, 0)),
            &["a"],
        );
    }

    #[test]
    fn an_absence_needs_every_program_of_the_pipeline() {
        let zero = Expectation::Prints(Comparison::Equal, 0);
        for (text, expects, needed) in [
            (
                "mypy src | grep -c error",
                Some(&zero),
                vec!["grep", "mypy"],
            ),
            ("! mypy src | grep -q error", None, vec!["grep", "mypy"]),
            ("test -z \"$(ruff check)\"", None, vec!["ruff"]),
            ("mypy src | grep -q Success", None, vec![]),
            ("$TOOL | grep -c error", Some(&zero), vec!["grep"]),
            (
                "PATH=bin:$PATH mypy src | grep -c error",
                Some(&zero),
                vec![],
            ),
            ("check() { true; }; check | grep -c x", Some(&zero), vec![]),
        ] {
            let inputs = inputs_of(text, expects).into_iter();
            let programs = inputs.filter_map(|input| match input {
                CommandInput::Program(name) => Some(name),
                _ => None,
            });
            assert_eq!(programs.collect::<Vec<_>>(), needed, "{text}");
        }
        check(
            ".venv/bin/mypy | grep -c x",
            Some(&zero),
            &[".venv/bin/mypy"],
        );
    }
}
