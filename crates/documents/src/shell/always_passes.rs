//! Checks that can't fail: nothing is learnt from them.

use super::guard::passes_on;
use super::{Joint, List, Pipeline, Simple, Stage, Statement, read};

/// Programs that always succeed.
const SUCCEEDING: &[&str] = &[":", "echo", "printf", "true"];
/// Words after which a script can end with a failure, wherever they stand.
const ENDING: &[&str] = &["exit", "return", "set", "trap", "exec", "kill"];

/// Returns the part of a script that makes it pass whatever happens before, or nothing if it can
/// fail.
#[must_use]
pub fn always_passes(text: &str) -> Option<&str> {
    let list = read(text)?;
    let last = list.statements.last()?;
    if can_fail(&list) || has_word(text, ENDING) {
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

fn has_word(text: &str, words: &[&str]) -> bool {
    text.split(|c: char| !c.is_alphanumeric() && c != '_')
        .any(|word| words.contains(&word))
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
        Stage::Control { .. } | Stage::Arithmetic | Stage::Test => true,
    }
}

fn simple_can_fail(simple: &Simple) -> bool {
    if simple.argv().is_empty() {
        return simple.words.iter().any(|word| word.substituted.is_some());
    }
    // awk prints PASS or FAIL and succeeds with both, unless it is told to exit.
    simple.program() != "awk" && !simple.is_one_of(SUCCEEDING)
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
            "if x; then echo y; fi",
            "X=$(make)",
            "[[ a == b ]]",
        ] {
            assert_eq!(always_passes(script), None, "{script}");
        }
    }
}
