//! Checks that can't fail, and so prove nothing.

use super::guard::passes_on;
use super::word::unquoted;
use super::{Joint, List, Pipeline, Simple, Stage, Statement, read};

/// Programs that always succeed.
const SUCCEEDING: &[&str] = &[":", "echo", "printf", "true"];
/// Programs that describe their surroundings, and fail only if given a path or a name.
const LISTING: &[&str] = &[
    "date", "df", "dir", "env", "hostname", "id", "ls", "printenv", "ps", "pwd", "tree", "uname",
    "whoami",
];
/// Words with which the shell can end with a failure, or change when it does.
const ENDING: &[&str] = &["exit", "return", "set", "trap", "exec", "kill", "eval"];
/// Those among them that take the exit status as an argument.
const LEAVING: &[&str] = &["exit", "return"];

/// Returns the part of a script that makes it pass whatever happens before; `None` if it can fail.
#[must_use]
pub fn always_passes(text: &str) -> Option<&str> {
    let list = read(text)?;
    let Some(last) = list.statements.last() else {
        // Only comments.
        return Some(text.trim()).filter(|text| !text.is_empty());
    };
    if can_fail(&list) || may_end_early(&list) {
        return None;
    }
    let is_whole = list.statements.len() == 1 && last.pipelines.len() == 1;
    let from = match last.pipelines.last() {
        Some((Joint::Or, pipeline)) => text[..pipeline.range.start].rfind("||")?,
        _ if is_whole => 0,
        Some((_, pipeline)) => pipeline.range.start,
        None => 0,
    };
    Some(text[from..last.range.end].trim())
}

/// Returns whether a text does nothing but print or list, or is `true`: its author asks for no
/// check, and nothing that can fail is hidden.
pub(crate) fn only_prints(text: &str) -> bool {
    let Some(list) = read(text).filter(|list| !list.statements.is_empty()) else {
        return false;
    };
    let prints = |stage: &Stage| match stage {
        Stage::Simple(simple) => simple.is_one_of(SUCCEEDING) || simple.is_one_of(LISTING),
        _ => false,
    };
    let mut pipelines = list.statements.iter().flat_map(|one| &one.pipelines);
    pipelines.all(|(_, pipeline)| pipeline.stages.iter().all(prints))
}

/// Whether the script may end early. Other programs that it starts, such as `sh -c 'exit 4'`, can't
/// end it.
fn may_end_early(list: &List) -> bool {
    let pipelines = list.statements.iter().flat_map(|one| &one.pipelines);
    let mut stages = pipelines.flat_map(|(_, pipeline)| &pipeline.stages);
    stages.any(stage_may_end_script)
}

fn stage_may_end_script(stage: &Stage) -> bool {
    match stage {
        Stage::Simple(simple) => {
            let mut words = simple.words.iter().map(|word| unquoted(&word.text));
            !leaves_with_success(simple) && words.any(|word| ENDING.contains(&word.as_str()))
        }
        Stage::Group(list) => may_end_early(list),
        Stage::Control {
            conditions, bodies, ..
        } => {
            let lists = bodies.iter().map(|body| &body.list);
            conditions.iter().chain(lists).any(may_end_early)
        }
        Stage::Function(body) => stage_may_end_script(body),
        Stage::Arithmetic | Stage::Test => false,
    }
}

/// Whether a program in another language, such as awk's, may end with a failure.
fn may_exit(text: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut rest = text;
    while let Some(start) = rest.find(is_word) {
        let word_on = &rest[start..];
        let end = word_on.find(|c| !is_word(c)).unwrap_or(word_on.len());
        let (word, behind) = word_on.split_at(end);
        if LEAVING.contains(&word) && !leaves_with_zero(behind) {
            return true;
        }
        rest = behind;
    }
    false
}

/// Whether this is `exit 0`, with nothing after it that changes the number.
fn leaves_with_zero(behind: &str) -> bool {
    let status = behind.trim_start_matches([' ', '\t']);
    let Some(after) = status.strip_prefix('0') else {
        return false;
    };
    status.len() < behind.len()
        && after
            .trim_start_matches([' ', '\t'])
            .chars()
            .next()
            .is_none_or(|next| ";&|)}\n'\"".contains(next))
}

/// Whether a list can fail. Every line is judged, by the last statement on it.
fn can_fail(list: &List) -> bool {
    let ends_line = |at: usize| {
        let next = list.statements.get(at + 1);
        next.is_none_or(|next| next.is_on_new_line)
    };
    let mut statements = list.statements.iter().enumerate();
    statements.any(|(at, statement)| {
        ends_line(at) && !statement.is_background && statement_can_fail(statement)
    })
}

pub(super) fn statement_can_fail(statement: &Statement) -> bool {
    let join = |can: bool, (joint, pipeline): &(Joint, Pipeline)| match joint {
        Joint::First => pipeline_can_fail(pipeline),
        Joint::And => can || pipeline_can_fail(pipeline),
        Joint::Or => can && pipeline_can_fail(pipeline),
    };
    statement.pipelines.iter().fold(false, join)
}

fn pipeline_can_fail(pipeline: &Pipeline) -> bool {
    if pipeline.is_negated {
        return true;
    }
    if passes_on(pipeline) {
        let earlier = pipeline.stages.len() - 1;
        return pipeline.stages.iter().take(earlier).any(stage_can_fail);
    }
    match pipeline.stages.as_slice() {
        [_, .., Stage::Simple(last)] if only_counts(last) || only_edits(last) => false,
        stages => stages.last().is_some_and(stage_can_fail),
    }
}

/// Whether this counts what comes before it in the pipeline, which succeeds with any input.
fn only_counts(simple: &Simple) -> bool {
    simple.program() == "wc" && !has_operand(simple)
}

/// Whether this is `sed 's/a/b/'` at the end of a pipeline, which succeeds with any input.
fn only_edits(simple: &Simple) -> bool {
    let mut words = simple.argv().iter().skip(1).map(|word| word.text.as_str());
    let ends = |word: &str| word.contains(['q', 'Q']) || word.starts_with("--");
    simple.program() == "sed" && simple.argv().len() == 2 && !words.any(ends)
}

fn stage_can_fail(stage: &Stage) -> bool {
    match stage {
        Stage::Simple(simple) => simple_can_fail(simple),
        Stage::Group(list) => can_fail(list),
        Stage::Function(_) => false,
        // It succeeds unless a branch or a round fails, whatever its conditions say.
        Stage::Control { bodies, .. } => bodies.iter().any(|body| can_fail(&body.list)),
        Stage::Arithmetic | Stage::Test => true,
    }
}

fn simple_can_fail(simple: &Simple) -> bool {
    if simple.argv().is_empty() {
        return simple.words.iter().any(|word| word.substituted.is_some());
    }
    match simple.program() {
        // It succeeds whether it prints PASS or FAIL, unless told to exit.
        "awk" => simple.argv().iter().any(|word| may_exit(&word.text)),
        // It succeeds however the command in `$(…)` ended.
        "declare" | "export" | "local" | "readonly" | "typeset" => false,
        "bash" | "dash" | "sh" | "zsh" => !hides_failure(simple),
        // Without a name, it succeeds however they ended.
        "wait" => simple.argv().len() > 1,
        "find" => find_can_fail(simple),
        program if LISTING.contains(&program) => has_operand(simple),
        program if LEAVING.contains(&program) => !leaves_with_success(simple),
        program => !SUCCEEDING.contains(&program),
    }
}

/// Whether this is `bash -c "make test | tail"`: only the last stage of such a pipeline counts.
fn hides_failure(simple: &Simple) -> bool {
    let [_, flag, script] = simple.argv() else {
        return false;
    };
    let script = unquoted(&script.text);
    let list = Some(script).filter(|script| !script.contains("pipefail"));
    let list = list.as_deref().and_then(read);
    let last = list.as_ref().and_then(|list| list.statements.last());
    let last = last.and_then(|last| last.pipelines.last());
    flag.text.ends_with('c') && last.is_some_and(|(_, last)| passes_on(last) && !last.is_negated)
}

fn leaves_with_success(simple: &Simple) -> bool {
    matches!(simple.argv(), [_, status] if status.text == "0")
}

/// Whether this names the current folder, which always exists.
fn is_here(word: &str) -> bool {
    matches!(word, "." | "./")
}

pub(super) fn has_operand(simple: &Simple) -> bool {
    let mut arguments = simple.argv().iter().skip(1).map(|word| word.text.as_str());
    arguments.any(|word| !word.starts_with(['-', '+']) && !is_here(word))
}

/// `find` succeeds if it finds nothing, but fails if the folder is missing or a program that it
/// runs fails.
fn find_can_fail(simple: &Simple) -> bool {
    let mut arguments = simple.argv().iter().skip(1).map(|word| word.text.as_str());
    let runs = |word: &str| word.starts_with("-exec") || word.starts_with("-ok");
    let is_place = |word: &&str| !word.starts_with(['-', '(', '!', '\\']);
    arguments.clone().any(runs)
        || arguments
            .by_ref()
            .take_while(is_place)
            .any(|word| !is_here(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checks_that_can_not_fail_are_found() {
        for (script, why) in [
            ("true", "true"),
            ("# make test", "# make test"),
            ("export OUT=$(make test)", "export OUT=$(make test)"),
            ("make test | sed 's/x/y/'", "make test | sed 's/x/y/'"),
            (
                "bash -c \"make test | tail -3\"",
                "bash -c \"make test | tail -3\"",
            ),
            (":", ":"),
            ("echo done", "echo done"),
            ("make test || true", "|| true"),
            ("make test; echo done", "echo done"),
            ("make test && echo PASS || echo FAIL", "|| echo FAIL"),
            (
                "grep -c x f | awk '{ if ($1 > 3) print \"PASS\" }'",
                "grep -c x f | awk '{ if ($1 > 3) print \"PASS\" }'",
            ),
            ("echo x | cat", "echo x | cat"),
            ("(make; true)", "(make; true)"),
            ("echo a\necho b", "echo b"),
            (
                "if grep -q x f; then echo PASS; else echo FAIL; fi",
                "if grep -q x f; then echo PASS; else echo FAIL; fi",
            ),
            ("if x; then echo y; fi", "if x; then echo y; fi"),
            (
                "for f in a b; do test -f $f && echo ok || echo no; done",
                "for f in a b; do test -f $f && echo ok || echo no; done",
            ),
            (
                "case $x in a) echo PASS ;; *) echo FAIL ;; esac",
                "case $x in a) echo PASS ;; *) echo FAIL ;; esac",
            ),
            ("make test; exit 0", "exit 0"),
            ("make test || exit 0", "|| exit 0"),
            (
                "make test || { echo no; exit 0; }",
                "|| { echo no; exit 0; }",
            ),
            ("bash -c true; exit  0 ", "exit  0"),
            ("sh -c 'exit 4' || echo bad", "|| echo bad"),
            ("bash -c 'make; exit 1'; true", "true"),
            ("make test || :", "|| :"),
            ("cat nofile | wc -l", "cat nofile | wc -l"),
            ("false & wait", "wait"),
            ("make test &", "make test"),
            ("ls", "ls"),
            ("ls -la", "ls -la"),
            ("ls . | head -3", "ls . | head -3"),
            ("pwd", "pwd"),
            ("find . -name '*.rs'", "find . -name '*.rs'"),
            ("find -type f", "find -type f"),
        ] {
            assert_eq!(always_passes(script), Some(why), "{script}");
        }
        for script in [
            "make test",
            "make test && echo done",
            "make test | tail -5",
            "echo x | grep -q x",
            "false\necho done",
            "! true",
            "x || { echo no; exit 1; }",
            "grep -c x f | awk '{exit ($1 >= 3) ? 0 : 1}'",
            "if x; then echo y; else false; fi",
            "if x; then echo y; else echo n; exit 1; fi",
            "for f in a b; do test -f $f; done",
            "while read -r f; do grep -q x $f; done < list",
            "make test\nexit 0",
            "make test || exit 01",
            "make test; exit $?",
            "make test; exit",
            "test -f x && exit 0; exit 1",
            "awk 'NR > 3 { exit 0 } END { exit 1 }' f",
            "wc -l < nofile",
            "wc -l nofile",
            "cat a | wc -l b",
            "cat a | wc -l | grep -q 3",
            "set -o pipefail; cat nofile | wc -l",
            "false & wait $!",
            "make & test -f x",
            "eval 'exit 1'; true",
            "f() { exit 1; }; f; true",
            "if ! make; then exit 1; fi; echo ok",
            "{ make || exit 1; }; echo ok",
            "while read -r f; do [ -f $f ] || exit 1; done < list; echo ok",
            "sh -c 'exit 4'",
            "x=$(make) || exit 1; echo ok",
            "ls src/main.rs",
            "ls -la dist/ | head",
            "ls *.whl",
            "env make test",
            "find src -name x",
            "find . -name x -exec grep -q y {} +",
            "find . -name x | grep -q .",
            "X=$(make)",
            "[[ a == b ]]",
        ] {
            assert_eq!(always_passes(script), None, "{script}");
        }
    }
}
