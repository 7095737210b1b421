//! Checks that can't fail: nothing is learnt from them.

use super::guard::passes_on;
use super::{Joint, List, Pipeline, Simple, Stage, Statement, read};

/// Programs that always succeed.
const SUCCEEDING: &[&str] = &[":", "echo", "printf", "true"];
/// Programs that describe where they run, and can fail only if they are given a path or a name.
const LISTING: &[&str] = &[
    "date", "df", "dir", "env", "hostname", "id", "ls", "printenv", "ps", "pwd", "tree", "uname",
    "whoami",
];
/// Words after which a script can end with a failure, wherever they stand.
const ENDING: &[&str] = &["exit", "return", "set", "trap", "exec", "kill"];
/// Those of them that end with the status behind them.
const LEAVING: &[&str] = &["exit", "return"];

/// Returns the part of a script that makes it pass whatever happens before, or nothing if it can
/// fail.
#[must_use]
pub fn always_passes(text: &str) -> Option<&str> {
    let list = read(text)?;
    let last = list.statements.last()?;
    if can_fail(&list) || may_end_early(text) {
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

/// Also looks into quotes: awk's `exit` decides as well as the shell's.
fn may_end_early(text: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut rest = text;
    while let Some(start) = rest.find(is_word) {
        let word_on = &rest[start..];
        let end = word_on.find(|c| !is_word(c)).unwrap_or(word_on.len());
        let (word, behind) = word_on.split_at(end);
        let is_success = LEAVING.contains(&word) && leaves_with_zero(behind);
        if ENDING.contains(&word) && !is_success {
            return true;
        }
        rest = behind;
    }
    false
}

/// `exit 0`, with nothing behind that makes another number of it.
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

/// Every line is judged; on a line, the last statement.
fn can_fail(list: &List) -> bool {
    let ends_line = |at: usize| {
        let next = list.statements.get(at + 1);
        next.is_none_or(|next| next.is_on_new_line)
    };
    let mut statements = list.statements.iter().enumerate();
    statements.any(|(at, statement)| ends_line(at) && statement_can_fail(statement))
}

fn statement_can_fail(statement: &Statement) -> bool {
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
    pipeline.stages.last().is_some_and(stage_can_fail)
}

fn stage_can_fail(stage: &Stage) -> bool {
    match stage {
        Stage::Simple(simple) => simple_can_fail(simple),
        Stage::Group(list) => can_fail(list),
        Stage::Function(_) => false,
        // Without a branch or a round that fails it succeeds, whatever its conditions say.
        Stage::Control { bodies, .. } => bodies.iter().any(|body| can_fail(&body.list)),
        Stage::Arithmetic | Stage::Test => true,
    }
}

fn simple_can_fail(simple: &Simple) -> bool {
    if simple.argv().is_empty() {
        return simple.words.iter().any(|word| word.substituted.is_some());
    }
    // awk prints PASS or FAIL and succeeds with both, unless it is told to exit.
    match simple.program() {
        "awk" => false,
        "find" => find_can_fail(simple),
        program if LISTING.contains(&program) => has_operand(simple),
        program if LEAVING.contains(&program) => !leaves_with_success(simple),
        program => !SUCCEEDING.contains(&program),
    }
}

fn leaves_with_success(simple: &Simple) -> bool {
    matches!(simple.argv(), [_, status] if status.text == "0")
}

/// The folder that it runs in is always there.
fn is_here(word: &str) -> bool {
    matches!(word, "." | "./")
}

fn has_operand(simple: &Simple) -> bool {
    let mut arguments = simple.argv().iter().skip(1).map(|word| word.text.as_str());
    arguments.any(|word| !word.starts_with(['-', '+']) && !is_here(word))
}

/// `find` succeeds if it finds nothing, but not if it is to look in a folder that is missing or if
/// a program that it runs fails.
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
