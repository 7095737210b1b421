//! Checks that can fail, but not because of what they seem to check.

use std::fmt;

use super::always_passes::{has_operand, statement_can_fail};
use super::guard::passes_on;
use super::operands::{has_flag, has_option};
use super::tools::is_check;
use super::word::{has_literal, unquoted};
use super::{
    COMPARING, FETCHING, List, PASSING_ON, Pipeline, Redirection, SEARCHING, Simple, Stage,
    Statement, no_codes, read,
};

/// Programs that judge what is given to them, or what others left behind.
const JUDGING: &[&str] = &["jq", "nc", "pgrep"];
/// Programs that prepare a check, or tidy up after it. How they end doesn't matter much.
const BESIDE: &[&str] = &[
    ".",
    ":",
    "alias",
    "break",
    "cd",
    "chmod",
    "continue",
    "cp",
    "date",
    "deactivate",
    "declare",
    "disown",
    "echo",
    "export",
    "fuser",
    "hash",
    "kill",
    "killall",
    "ln",
    "local",
    "ls",
    "mkdir",
    "mktemp",
    "mv",
    "pkill",
    "popd",
    "printf",
    "ps",
    "pushd",
    "pwd",
    "read",
    "readonly",
    "rm",
    "rmdir",
    "seq",
    "set",
    "shopt",
    "sleep",
    "source",
    "sync",
    "touch",
    "trap",
    "true",
    "type",
    "typeset",
    "ulimit",
    "umask",
    "unalias",
    "unset",
    "wait",
    "which",
    "xargs",
];
/// Words of tools that start or end what a check needs.
const BESIDE_WORDS: &[&str] = &[
    "ci", "clean", "down", "generate", "i", "install", "kill", "logs", "rm", "start", "stop", "up",
];
const SHELLS: &[&str] = &["bash", "dash", "sh", "zsh"];
/// How many scripts inside of scripts are read.
const DEEPEST: u32 = 3;

/// Something that a check seems to check and doesn't.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlindSpot {
    kind: Kind,
    /// The part of the check, in one line.
    part: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// `make lint; make build`
    Ignored,
    /// `find . -exec python -m py_compile {} \;`
    ExecEach,
    /// `[ $n > 5 ]`
    Redirected,
    /// `[[ $n > 5 ]]`
    ComparedAsText,
    /// `[ -n $x ]`
    Unquoted,
    /// `[ $a==$b ]`
    Constant,
    /// `! curl http://localhost:1`
    Unanswered,
}

impl fmt::Display for BlindSpot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let part = &self.part;
        match self.kind {
            Kind::Ignored => write!(f, "whether `{part}` passes: the `;` after it ignores that"),
            Kind::ExecEach => write!(f, "whether what `{part}` runs passes: `find` ignores that"),
            Kind::Redirected => write!(f, "`{part}`: it writes to a file and compares nothing"),
            Kind::ComparedAsText => write!(f, "`{part}`: it compares text, not numbers"),
            Kind::Unquoted => write!(f, "`{part}`: it passes if that is empty"),
            Kind::Constant => write!(f, "`{part}`: it always passes"),
            Kind::Unanswered => write!(f, "`{part}`: it passes if nothing answers"),
        }
    }
}

impl BlindSpot {
    /// Finds the first one in the shell text of a check.
    #[must_use]
    pub fn of(text: &str) -> Option<Self> {
        find(text, DEEPEST)
    }

    /// Says how to write the check instead.
    #[must_use]
    pub fn help(&self) -> &'static str {
        match self.kind {
            Kind::Ignored => "join commands with && instead of ;",
            Kind::ExecEach => "end find -exec with + instead of \\;",
            Kind::Redirected | Kind::ComparedAsText => "compare numbers with -gt, -lt or -eq",
            Kind::Unquoted => "put quotes around what may be empty",
            Kind::Constant => "put spaces around = and the words of [ ]",
            Kind::Unanswered => {
                "ask for the answer (curl -s -o /dev/null -w '%{http_code}' … | grep -q 404), or for the port (! nc -z host port)"
            }
        }
    }

    fn new(kind: Kind, part: &str) -> Self {
        let part = part.trim().lines().next().unwrap_or_default();
        Self {
            kind,
            part: part.to_owned(),
        }
    }
}

fn find(text: &str, depth: u32) -> Option<BlindSpot> {
    let list = read(text).filter(|_| depth > 0)?;
    let mut lists = Vec::new();
    add_lists(&list, &mut lists);
    let script = Script { text, depth };
    let in_pipelines = |list: &&List| {
        let mut statements = list.statements.iter().enumerate();
        statements.find_map(|(at, statement)| {
            let next = list.statements.get(at + 1);
            let counts = next.is_none_or(|next| next.is_on_new_line);
            let mut pipelines = statement.pipelines.iter();
            pipelines.find_map(|(_, pipeline)| script.of_pipeline(pipeline, counts))
        })
    };
    lists
        .iter()
        .find_map(in_pipelines)
        .or_else(|| lists.iter().find_map(|list| script.ignored(list)))
}

/// Adds a list and those inside of it.
fn add_lists<'l>(list: &'l List, lists: &mut Vec<&'l List>) {
    lists.push(list);
    let pipelines = list.statements.iter().flat_map(|one| &one.pipelines);
    for stage in pipelines.flat_map(|(_, pipeline)| &pipeline.stages) {
        add_lists_of(stage, lists);
    }
}

fn add_lists_of<'l>(stage: &'l Stage, lists: &mut Vec<&'l List>) {
    match stage {
        Stage::Group(list) => add_lists(list, lists),
        Stage::Control {
            conditions, bodies, ..
        } => {
            let bodies = bodies.iter().map(|body| &body.list);
            conditions
                .iter()
                .chain(bodies)
                .for_each(|list| add_lists(list, lists));
        }
        Stage::Function(body) => add_lists_of(body, lists),
        Stage::Simple(_) | Stage::Arithmetic | Stage::Test => {}
    }
}

struct Script<'t> {
    text: &'t str,
    depth: u32,
}

impl Script<'_> {
    /// Finds a blind spot in a pipeline. Its status may count for nothing.
    fn of_pipeline(&self, pipeline: &Pipeline, counts: bool) -> Option<BlindSpot> {
        let text = self.text.get(pipeline.range.clone())?.trim();
        let last = pipeline.stages.last();
        pipeline.stages.iter().find_map(|stage| match stage {
            Stage::Simple(simple) => {
                let is_last = last.is_some_and(|last| std::ptr::eq(last, stage));
                let decides = counts && (is_last || passes_on(pipeline));
                self.of_simple(simple, text, pipeline.is_negated, decides)
            }
            Stage::Test => of_double_brackets(text),
            _ => None,
        })
    }

    fn of_simple(
        &self,
        simple: &Simple,
        text: &str,
        is_negated: bool,
        decides: bool,
    ) -> Option<BlindSpot> {
        let negated = format!("! {text}");
        match simple.program() {
            "[" | "test" => of_test(simple, text),
            "find" if decides && runs_each(simple) => Some(BlindSpot::new(Kind::ExecEach, text)),
            "curl" if decides && is_negated && !fails_on_errors(simple) => {
                Some(BlindSpot::new(Kind::Unanswered, &negated))
            }
            program if decides && SHELLS.contains(&program) => match simple.argv() {
                [_, flag, script, ..] if flag.text.starts_with('-') && flag.text.ends_with('c') => {
                    find(&unquoted(&script.text), self.depth - 1)
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// Finds `make lint; make build`, of which only the last counts.
    fn ignored(&self, list: &List) -> Option<BlindSpot> {
        if is_strict(self.text) {
            return None;
        }
        let statements = list.statements.iter().enumerate();
        let mut ignored = statements.filter(|(at, statement)| {
            let rest = &list.statements[at + 1..];
            let line: Vec<&Statement> = rest
                .iter()
                .take_while(|next| !next.is_on_new_line)
                .collect();
            !line.is_empty() && !statement.is_background && self.is_ignored(statement, &line)
        });
        let (_, statement) = ignored.next()?;
        let text = self.text.get(statement.range.clone())?;
        Some(BlindSpot::new(Kind::Ignored, text))
    }

    /// Whether nothing on the rest of the line tells if the statement failed.
    fn is_ignored(&self, statement: &Statement, rest: &[&Statement]) -> bool {
        let text = |statement: &Statement| self.text.get(statement.range.clone()).unwrap_or("");
        let asks = |next: &&Statement| {
            let text = text(next);
            text.contains("$?") || text.contains("PIPESTATUS")
        };
        let mut stages = statement.pipelines.iter().flat_map(|(_, one)| &one.stages);
        if !statement_can_fail(statement) || stages.any(exits) || rest.iter().any(asks) {
            return false;
        }
        let is_judged = rest.iter().any(|next| judges(next));
        let is_followed = rest
            .iter()
            .any(|next| matches!(role(next), Role::Checks | Role::Runs));
        match role(statement) {
            Role::Says => true,
            Role::Checks => !(is_judged && writes_to_file(statement)),
            Role::Runs => !is_judged && !is_followed,
            Role::Beside => false,
        }
    }
}

/// What a statement is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// It says yes or no, and nothing else.
    Says,
    /// It is a test or build tool.
    Checks,
    /// It prepares the check, prints something, or tidies up.
    Beside,
    /// Anything else.
    Runs,
}

fn role(statement: &Statement) -> Role {
    let mut roles = statement.pipelines.iter().map(|(_, one)| role_of(one));
    if roles.clone().any(|role| role == Role::Checks) {
        return Role::Checks;
    }
    // The condition of `[ -d x ] && cd x` is no check.
    roles.next_back().unwrap_or(Role::Beside)
}

fn role_of(pipeline: &Pipeline) -> Role {
    if pipeline.is_negated {
        return Role::Says;
    }
    // What passes on is judged with the stages before it.
    let stages = match pipeline.stages.as_slice() {
        [before @ .., _] if passes_on(pipeline) => before,
        [.., last] => std::slice::from_ref(last),
        [] => &[],
    };
    let mut roles = stages.iter().map(|stage| match stage {
        Stage::Simple(simple) => role_of_simple(simple),
        Stage::Arithmetic | Stage::Test => Role::Says,
        Stage::Group(_) | Stage::Control { .. } | Stage::Function(_) => Role::Beside,
    });
    let first = roles.next().unwrap_or(Role::Beside);
    roles.fold(first, |all, one| match (all, one) {
        (Role::Checks, _) | (_, Role::Checks) => Role::Checks,
        (Role::Beside, one) => one,
        (all, _) => all,
    })
}

fn role_of_simple(simple: &Simple) -> Role {
    let words: Vec<&str> = simple
        .argv()
        .iter()
        .map(|word| word.text.as_str())
        .collect();
    let Some((_, arguments)) = words.split_first() else {
        return Role::Beside;
    };
    let program = simple.program();
    let is_quiet = has_flag(arguments, "q") || has_option(arguments, &["--quiet", "--silent"]);
    let is_beside = BESIDE.contains(&program)
        || PASSING_ON.contains(&program)
        || arguments
            .iter()
            .take(2)
            .any(|word| BESIDE_WORDS.contains(word));
    if COMPARING.contains(&program) && (is_quiet || program != "diff")
        || SEARCHING.contains(&program) && is_quiet
    {
        Role::Says
    } else if is_beside {
        Role::Beside
    } else if is_check(&words) {
        Role::Checks
    } else {
        Role::Runs
    }
}

/// Whether a statement judges what it is given, so that what ran before it need not pass.
fn judges(statement: &Statement) -> bool {
    let judges = |pipeline: &Pipeline| {
        pipeline.is_negated
            || pipeline.stages.iter().any(exits)
            || pipeline.stages.last().is_some_and(|stage| match stage {
                Stage::Simple(simple) => [SEARCHING, COMPARING, JUDGING]
                    .iter()
                    .any(|programs| simple.is_one_of(programs)),
                Stage::Arithmetic | Stage::Test => true,
                _ => false,
            })
            // `ls dist/*.whl | head -1`
            || pipeline.stages.first().is_some_and(|stage| {
                matches!(stage, Stage::Simple(simple) if simple.is_one_of(&["ls", "stat"]) && has_operand(simple))
            })
    };
    statement.pipelines.iter().any(|(_, one)| judges(one))
}

/// Whether the author ends the check with a failure here.
fn exits(stage: &Stage) -> bool {
    let any = |list: &List| {
        let mut pipelines = list.statements.iter().flat_map(|one| &one.pipelines);
        pipelines.any(|(_, pipeline)| pipeline.stages.iter().any(exits))
    };
    match stage {
        Stage::Simple(simple) => {
            let status = simple.argv().get(1).map(|word| word.text.as_str());
            simple.is_one_of(&["exit", "return"]) && status != Some("0")
        }
        Stage::Group(list) => any(list),
        Stage::Control {
            conditions, bodies, ..
        } => {
            let bodies = bodies.iter().map(|body| &body.list);
            conditions.iter().chain(bodies).any(any)
        }
        Stage::Function(_) | Stage::Arithmetic | Stage::Test => false,
    }
}

fn writes_to_file(statement: &Statement) -> bool {
    let stages = statement.pipelines.iter().flat_map(|(_, one)| &one.stages);
    let mut simple = stages.filter_map(|stage| match stage {
        Stage::Simple(simple) => Some(simple),
        _ => None,
    });
    simple.any(|simple| {
        simple.program() == "tee" || simple.redirections.iter().any(Redirection::writes_file)
    })
}

/// Whether the script ends at the first failure.
fn is_strict(text: &str) -> bool {
    let Some(list) = read(text) else { return false };
    let pipelines = list.statements.iter().flat_map(|one| &one.pipelines);
    let mut stages = pipelines.flat_map(|(_, pipeline)| &pipeline.stages);
    stages.any(|stage| match stage {
        Stage::Simple(simple) if simple.program() == "set" => {
            let mut words = simple.argv().iter().map(|word| word.text.as_str());
            words.any(|word| word == "errexit" || (word.starts_with('-') && word.contains('e')))
        }
        _ => false,
    })
}

/// Whether this is `find … -exec x {} \;`, which succeeds however `x` ends.
fn runs_each(simple: &Simple) -> bool {
    let mut words = simple.argv().iter().map(|word| word.text.as_str());
    words.any(|word| ["-exec", "-execdir", "-ok"].contains(&word))
        && words.any(|word| ["\\;", "';'", "\";\""].contains(&word))
}

/// Whether curl fails if the server answers with an error.
fn fails_on_errors(simple: &Simple) -> bool {
    no_codes(simple) == Some("22")
}

/// Finds a mistake in `test …` or `[ … ]`.
fn of_test(simple: &Simple, text: &str) -> Option<BlindSpot> {
    let words: Vec<&str> = simple
        .argv()
        .iter()
        .skip(1)
        .map(|word| word.text.as_str())
        .collect();
    let is_bracket = simple.program() == "[";
    let is_comparison = |one: &Redirection| {
        one.is_unnumbered
            && !one.target.starts_with("/dev/")
            && if is_bracket {
                one.words_before < simple.words.len()
            } else {
                is_number(&one.target) || one.target.starts_with(['$', '"'])
            }
    };
    if simple.redirections.iter().any(is_comparison) {
        return Some(BlindSpot::new(Kind::Redirected, text));
    }
    let operands = match words.as_slice() {
        [inner @ .., "]"] if is_bracket => inner,
        inner => inner,
    };
    match operands {
        ["-n", value] if value.starts_with(['$', '`']) => {
            Some(BlindSpot::new(Kind::Unquoted, text))
        }
        ["-z", value] => asks_server(value).then(|| BlindSpot::new(Kind::Unanswered, text)),
        [value] if has_literal(value) => Some(BlindSpot::new(Kind::Constant, text)),
        _ => None,
    }
}

/// Finds a mistake in `[[ … ]]`.
fn of_double_brackets(text: &str) -> Option<BlindSpot> {
    let inner = text.strip_prefix("[[")?.strip_suffix("]]")?.trim();
    let words: Vec<&str> = inner.split_whitespace().collect();
    // Compared with 0, a count is greater as text, too.
    let is_telling = |word: Option<&&str>| word.is_some_and(|word| is_number(word) && *word != "0");
    let compares_text = words.iter().enumerate().any(|(at, word)| {
        let before = at.checked_sub(1).and_then(|at| words.get(at));
        [">", "<"].contains(word) && (is_telling(before) || is_telling(words.get(at + 1)))
    });
    if compares_text {
        return Some(BlindSpot::new(Kind::ComparedAsText, text));
    }
    match words.as_slice() {
        ["-z", _, ..] if asks_server(inner[2..].trim()) => {
            Some(BlindSpot::new(Kind::Unanswered, text))
        }
        [value] if has_literal(value) => Some(BlindSpot::new(Kind::Constant, text)),
        _ => None,
    }
}

/// Whether this is `"$(curl …)"`: nothing comes from a server that doesn't answer.
fn asks_server(value: &str) -> bool {
    let inner = value.trim_matches('"');
    let inner = inner
        .strip_prefix("$(")
        .and_then(|inner| inner.strip_suffix(')'));
    let list = inner.and_then(read);
    let pipelines = list
        .iter()
        .flat_map(|list| &list.statements)
        .flat_map(|one| &one.pipelines);
    let mut stages = pipelines.flat_map(|(_, pipeline)| &pipeline.stages);
    stages.any(|stage| matches!(stage, Stage::Simple(simple) if simple.is_one_of(FETCHING)))
}

fn is_number(word: &str) -> bool {
    let word = word.trim_matches(['"', '\'']);
    !word.is_empty()
        && word
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn finds(text: &str, expected: &str) {
        let found = BlindSpot::of(text).map(|spot| spot.to_string());
        assert_eq!(found.as_deref(), Some(expected), "{text}");
    }

    #[test]
    fn an_exit_code_that_nothing_looks_at_is_found() {
        for (text, ignored) in [
            ("make lint; make build", "make lint"),
            ("pytest -q > log; tail log", "pytest -q > log"),
            ("./run.sh > log 2>&1; cat log", "./run.sh > log 2>&1"),
            ("npm test; docker compose down", "npm test"),
            (
                "serve & PID=$!; sleep 1; curl -sf localhost:1; kill $PID",
                "curl -sf localhost:1",
            ),
            ("cd app && cargo test; rm -rf tmp", "cd app && cargo test"),
            ("test -f a; test -f b", "test -f a"),
            ("! grep -q x f; grep -q y f", "! grep -q x f"),
            ("(make lint; make build)", "make lint"),
            ("bash -c 'make lint; make build'", "make lint"),
            ("sh -lc \"pytest; true && ls x\"", "pytest"),
            ("python -m pytest; test -f report.xml", "python -m pytest"),
            (
                "if make lint; make build; then exit 0; fi; exit 1",
                "make lint",
            ),
            ("pytest | tail -3; rm -r x", "pytest | tail -3"),
            (
                "./t.sh | grep -q ok; rm -r x && echo PASS",
                "./t.sh | grep -q ok",
            ),
            ("bash -c 'pytest; ls x' | tail -3", "pytest"),
        ] {
            let expected = format!("whether `{ignored}` passes: the `;` after it ignores that");
            finds(text, &expected);
        }
    }

    #[test]
    fn an_exit_code_that_something_looks_at_is_none() {
        for text in [
            "make lint && make build",
            "make lint\nmake build",
            "set -e; make lint; make build",
            "make lint || exit 1; make build",
            "make; test $? -eq 2",
            "make lint; code=$?; rm -r tmp; exit $code",
            "python gen.py; test -f out.json",
            "./app bad > out; grep -q error out",
            "pytest > log; grep -q '3 passed' log",
            "n=$(grep -c x f); [ $n -gt 5 ]",
            "cd app; pytest",
            "mkdir -p out; ./build out; test -f out/a",
            "npm ci; npm test",
            "docker compose up -d; npm test",
            "rm -f db; ./migrate; ./check",
            "serve & sleep 1; curl -sf localhost:1",
            "[ -d venv ] && . venv/bin/activate; pytest",
            "while ! nc -z localhost 1; do sleep 1; done; curl -f localhost:1",
            "for i in 1 2 3; do curl -sf x && break; sleep 1; done",
            "for f in a b; do [ -f $f ] || exit 1; done; make",
            "make test || true; test -f x",
            "x=1; y=2; ./t",
            "echo 'a; b' | grep -q a",
            "grep x f; npm test",
            "bash -c '. ./lib.sh; check bad; echo no' | grep -q Error",
            "bash -c '. ./lib.sh; parse a b; cat b'; grep -q x b && rm b && echo PASS",
            "bash t.sh | tee log; ! grep -q FAIL log && rm log && echo PASS",
            "shellcheck a.sh > log; n=$(grep -c error log); [ \"$n\" -eq 0 ] && echo PASS",
            "python -m gate all x; ls x/*.json | head -1 && echo PASS",
        ] {
            assert_eq!(BlindSpot::of(text), None, "{text}");
        }
    }

    #[test]
    fn comparisons_that_compare_nothing_are_found() {
        for (text, part, what) in [
            (
                "[ $n > 5 ]",
                "[ $n > 5 ]",
                "it writes to a file and compares nothing",
            ),
            (
                "test $n > 5",
                "test $n > 5",
                "it writes to a file and compares nothing",
            ),
            (
                "n=$(wc -l < f); [ \"$n\" < 9 ] && echo ok",
                "[ \"$n\" < 9 ]",
                "it writes to a file and compares nothing",
            ),
            (
                "[[ $n > 5 ]]",
                "[[ $n > 5 ]]",
                "it compares text, not numbers",
            ),
            (
                "if [[ 10 < $n ]]; then exit 0; else exit 1; fi",
                "[[ 10 < $n ]]",
                "it compares text, not numbers",
            ),
            ("[ -n $x ]", "[ -n $x ]", "it passes if that is empty"),
            (
                "test -n $(git tag)",
                "test -n $(git tag)",
                "it passes if that is empty",
            ),
            ("[ $a==$b ]", "[ $a==$b ]", "it always passes"),
            ("test \"$a\"=\"b\"", "test \"$a\"=\"b\"", "it always passes"),
            ("[[ $a==$b ]]", "[[ $a==$b ]]", "it always passes"),
        ] {
            finds(text, &format!("`{part}`: {what}"));
        }
        for text in [
            "[ $n -gt 5 ]",
            "[ \"$a\" = b ] > log",
            "test -f x > /dev/null 2>&1",
            "[ \"$(wc -l < f)\" -gt 5 ]",
            "[ -n \"$x\" ]",
            "[[ -n $x ]]",
            "[[ $n > 0 ]]",
            "[[ $a > $b ]]",
            "[[ $a == b* ]]",
            "(( n > 5 ))",
            "[ \"$x\" ]",
            "test $(git status --porcelain)",
            "[ ${x} ]",
            "[ -f x ]",
        ] {
            assert_eq!(BlindSpot::of(text), None, "{text}");
        }
    }

    #[test]
    fn what_succeeds_without_an_answer_is_found() {
        for (text, part) in [
            ("! curl -s localhost:1", "! curl -s localhost:1"),
            (
                "test -z \"$(curl -s localhost:1)\"",
                "test -z \"$(curl -s localhost:1)\"",
            ),
            (
                "[[ -z $(curl -s x | jq .a) ]]",
                "[[ -z $(curl -s x | jq .a) ]]",
            ),
        ] {
            finds(text, &format!("`{part}`: it passes if nothing answers"));
        }
        finds(
            "find . -name '*.py' -exec python -m py_compile {} \\;",
            "whether what `find . -name '*.py' -exec python -m py_compile {} \\;` runs passes: `find` ignores that",
        );
        for text in [
            "! curl -sf localhost:1",
            "! curl --fail localhost:1",
            "curl -s localhost:1",
            "test -z \"$(grep x f)\"",
            "find . -exec grep -q x {} +",
            "find . -exec grep -l x {} \\; | grep -q .",
            "find . -name x",
        ] {
            assert_eq!(BlindSpot::of(text), None, "{text}");
        }
    }

    #[test]
    fn every_blind_spot_comes_with_a_way_out() {
        for text in [
            "make a; make b",
            "[ $n > 5 ]",
            "[ -n $x ]",
            "[ a ]",
            "! curl x",
        ] {
            assert!(
                BlindSpot::of(text).is_some_and(|spot| !spot.help().is_empty()),
                "{text}"
            );
        }
    }
}
