//! The script that actually runs: the author's text, with a check after each line and each pipeline
//! whose status would otherwise be lost.
//!
//! Lines keep their numbers, so that the shell's messages about them stay correct.

use regreen_model::Expectation;

use super::inputs::accepts_absence;
use super::{
    Body, FETCHING, Joint, List, PASSING_ON, Pipeline, SEARCHING, Simple, Stage, Statement,
    no_codes, read,
};

/// The kind of shell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shell {
    /// Reports the status of every stage of a pipeline.
    Bash,
    /// Reports only the last status.
    Posix,
}

/// Ends the script if the line above failed. The arguments are its number, that of the next one if
/// that may be blamed, and another acceptable status.
///
/// At its end, the script tells the line that it ended at, unless its author has a trap for the
/// end. A signal with which it was ended is nobody's fault.
const LINE: &str = r#"__regreen_tell() { __regreen_told=yes; echo "line $1 of Verify ended with exit code $2" >&2; }; __regreen_line() { __regreen_status=$?; [ "$__regreen_status" = 0 ] || [ "$__regreen_status" = "${3:-0}" ] || { __regreen_tell "$1" "$__regreen_status"; exit "$__regreen_status"; }; __regreen_at=$2; return "$__regreen_status"; }; __regreen_end() { __regreen_status=$?; case "$__regreen_status${__regreen_told:-}" in 0 | 143 | *yes) ;; *) [ -z "$__regreen_at" ] || __regreen_tell "$__regreen_at" "$__regreen_status" ;; esac; }; trap __regreen_end EXIT; "#;

/// Returns the last status if it isn't 0, otherwise the first that is neither 0 nor due to a closed
/// pipe.
const STAGES: &str = r#"__regreen_stages() { local status last=0; for status; do last=$status; done; [ "$last" = 0 ] || return "$last"; for status; do [ "$status" = 0 ] || [ "$status" = 141 ] || return "$status"; done; }; "#;

/// Makes an error of a search or comparison count as a failure under `!`, because it hasn't looked.
/// The arguments are the exit codes that mean "no".
const NO: &str = r#"__regreen_no() { __regreen_status=$?; case " 0 ${*:-1} " in *" $__regreen_status "*) return "$__regreen_status" ;; esac; echo "not a no: it ended with exit code $__regreen_status" >&2; return 0; }; "#;

/// Makes a search fail with an error if what it searches was never fetched. The arguments are the number
/// of the stage that fetches it, and the status of each stage. A closed pipe (141, or 23 of curl) is none
/// of its errors.
const FETCHED: &str = r#"__regreen_fetched() { local stage=$1 last status; shift; eval "last=\${$#}; status=\${$stage}"; case $status in 0 | 23 | 141) return "$last" ;; esac; echo "nothing to search: the request ended with exit code $status" >&2; return 2; }; "#;

/// Returns a script that checks every line of a text, and every stage of a pipeline whose last
/// stage only passes text on. A single command without such a pipeline is left as it is.
#[must_use]
pub fn guarded(text: &str, shell: Shell) -> String {
    guarded_for(text, shell, None)
}

/// Like [`guarded`]. If the command is expected to find nothing, what it searches must have been
/// fetched.
#[must_use]
pub fn guarded_for(text: &str, shell: Shell, expects: Option<&Expectation>) -> String {
    let Some(list) = read(text) else {
        // At least a line that fails by itself ends the script.
        let is_one_line = text.trim().lines().count() < 2;
        return if is_one_line {
            text.to_owned()
        } else {
            format!("set -e; {text}")
        };
    };
    let mut guard = Guard {
        text,
        // An author who asks for the status of each stage checks them.
        sees_stages: shell == Shell::Bash
            && !text.contains("PIPESTATUS")
            && !text.contains("pipefail"),
        wants_absence: expects.is_some_and(accepts_absence),
        is_compared: expects.is_some(),
        first_line: String::new(),
        edits: Vec::new(),
    };
    guard.first_line = guard.blamed(list.statements.first(), list.statements.get(1));
    guard.lines(&list, true);
    guard.pipelines_in(&list);
    guard.applied()
}

struct Guard<'t> {
    text: &'t str,
    sees_stages: bool,
    /// Whether the command is expected to find nothing.
    wants_absence: bool,
    /// Whether something else than the exit code decides.
    is_compared: bool,
    /// The number of the line with the first statement, if it may be blamed.
    first_line: String,
    edits: Vec<(usize, String)>,
}

impl Guard<'_> {
    fn applied(mut self) -> String {
        let uses = |name: &str| self.edits.iter().any(|(_, edit)| edit.contains(name));
        let mut script = String::new();
        let functions = [
            ("__regreen_line", LINE),
            ("__regreen_stages", STAGES),
            ("__regreen_fetched", FETCHED),
            ("__regreen_no", NO),
        ];
        for (name, function) in functions {
            if uses(name) {
                script.push_str(function);
            }
        }
        if uses("__regreen_line") {
            script.push_str(&format!("__regreen_at={}; ", self.first_line));
        }
        // The sort is stable: at the same position, what was added first comes first.
        self.edits.sort_by_key(|(at, _)| *at);
        let mut from = 0;
        for (at, edit) in &self.edits {
            script.push_str(&self.text[from..*at]);
            script.push_str(edit);
            from = *at;
        }
        script.push_str(&self.text[from..]);
        script
    }

    /// Checks each line by the status it leaves for the next.
    fn lines(&mut self, list: &List, judges_lists: bool) {
        for (at, statement) in list.statements.iter().enumerate() {
            self.lines_within(statement);
            let next = list.statements.get(at + 1);
            if next.is_none_or(|next| next.is_on_new_line) {
                self.rounds_of(statement);
            }
            let Some(next) = list.statements.get(at + 1) else {
                break;
            };
            if !next.is_on_new_line || asks_status(next) {
                continue;
            }
            if is_judged(statement, judges_lists) {
                let blamed = self.blamed(Some(next), list.statements.get(at + 2));
                self.check(statement, &blamed, next.range.start);
            } else if !self.reads_status(next) {
                self.mark(next);
            }
        }
    }

    fn line_of(&self, statement: &Statement) -> usize {
        self.text[..statement.range.start].matches('\n').count() + 1
    }

    fn reads_status(&self, statement: &Statement) -> bool {
        self.text[statement.range.clone()].contains("$?")
    }

    /// Returns the number of a statement's line as an argument; an empty one if the statement after
    /// it judges it.
    fn blamed(&self, statement: Option<&Statement>, after: Option<&Statement>) -> String {
        statement
            .filter(|_| !after.is_some_and(asks_status))
            .map_or("''".to_owned(), |it| self.line_of(it).to_string())
    }

    /// Remembers that the script has come to a statement.
    fn mark(&mut self, statement: &Statement) {
        let line = self.line_of(statement);
        let edit = format!("__regreen_at={line}; ");
        self.edits.push((statement.range.start, edit));
    }

    /// Checks a statement before the script goes on with the next.
    fn check(&mut self, statement: &Statement, next: &str, at: usize) {
        let line = self.line_of(statement);
        let or_1 = if may_find_nothing(statement) {
            " 1"
        } else {
            ""
        };
        let edit = (at, format!("__regreen_line {line} {next}{or_1}; "));
        // A loop inside of a loop is come to from both.
        if !self.edits.contains(&edit) {
            self.edits.push(edit);
        }
    }

    /// Treats the lines of a group as lines of the script. In a loop or a branch, `a && break` and
    /// the like are the author's way to decide.
    fn lines_within(&mut self, statement: &Statement) {
        let [(_, pipeline)] = statement.pipelines.as_slice() else {
            return;
        };
        let ([stage], false) = (pipeline.stages.as_slice(), pipeline.is_negated) else {
            return;
        };
        match stage {
            Stage::Group(list) => self.lines(list, true),
            Stage::Control {
                bodies, is_loop, ..
            } => {
                for body in bodies {
                    self.lines(&body.list, false);
                    if *is_loop {
                        self.last_line(body);
                    }
                }
            }
            Stage::Simple(_) | Stage::Function(_) | Stage::Arithmetic | Stage::Test => {}
        }
    }

    /// Checks the last line of a loop's body: a loop ends with the status of its last round, so
    /// earlier rounds must be checked before.
    fn last_line(&mut self, body: &Body) {
        let Some(last) = body.list.statements.last() else {
            return;
        };
        let has_own_line =
            last.is_on_new_line && self.text[last.range.end..body.end].contains('\n');
        if has_own_line && is_judged(last, false) {
            let first = self.blamed(body.list.statements.first(), None);
            self.check(last, &first, body.end);
        }
    }

    /// Checks every round of loops on one line, not only the last. What prints something to compare
    /// is left alone.
    fn rounds_of(&mut self, statement: &Statement) {
        let has_or = statement
            .pipelines
            .iter()
            .any(|(joint, _)| *joint == Joint::Or);
        if has_or || self.is_compared {
            return;
        }
        for (_, pipeline) in &statement.pipelines {
            let ([stage], false) = (pipeline.stages.as_slice(), pipeline.is_negated) else {
                continue;
            };
            let Stage::Control {
                bodies,
                is_loop: true,
                ..
            } = stage
            else {
                continue;
            };
            for body in bodies {
                let Some(last) = body.list.statements.last() else {
                    continue;
                };
                self.rounds_of(last);
                let is_on_line = !self.text[last.range.end..body.end].contains('\n');
                if is_on_line && !last.is_background && is_judged(last, false) {
                    let first = self.blamed(body.list.statements.first(), None);
                    self.check(last, &first, body.end);
                }
            }
        }
    }

    fn pipelines_in(&mut self, list: &List) {
        for statement in &list.statements {
            for (_, pipeline) in &statement.pipelines {
                let check = self.check_of(pipeline);
                if check.is_some() {
                    self.edits.push((pipeline.range.start, "{ ".to_owned()));
                }
                for stage in &pipeline.stages {
                    self.pipelines_of(stage);
                }
                if let Some(check) = check {
                    self.edits.push((pipeline.range.end, check));
                }
            }
        }
    }

    /// Returns what is checked after a pipeline.
    fn check_of(&self, pipeline: &Pipeline) -> Option<String> {
        if self.sees_stages && passes_on(pipeline) {
            return Some("; __regreen_stages \"${PIPESTATUS[@]}\"; }".to_owned());
        }
        let fetches = (pipeline.is_negated || self.wants_absence) && self.sees_stages;
        let fetched = fetching_stage(pipeline).filter(|_| fetches);
        let fetched = fetched.map(|at| {
            let number = at + 1;
            format!("; __regreen_fetched {number} \"${{PIPESTATUS[@]}}\"")
        });
        let no = no_codes_of(pipeline).filter(|_| pipeline.is_negated);
        let no = no.map(|codes| match codes {
            "1" => "; __regreen_no".to_owned(),
            codes => format!("; __regreen_no {codes}"),
        });
        let checks: String = fetched.into_iter().chain(no).collect();
        (!checks.is_empty()).then(|| checks + "; }")
    }

    fn pipelines_of(&mut self, stage: &Stage) {
        match stage {
            Stage::Group(list) => self.pipelines_in(list),
            Stage::Control {
                conditions, bodies, ..
            } => {
                for list in conditions {
                    self.pipelines_in(list);
                }
                for body in bodies {
                    self.pipelines_in(&body.list);
                }
            }
            Stage::Function(body) => self.pipelines_of(body),
            Stage::Simple(_) | Stage::Arithmetic | Stage::Test => {}
        }
    }
}

pub(super) fn passes_on(pipeline: &Pipeline) -> bool {
    match pipeline.stages.as_slice() {
        [_, .., Stage::Simple(last)] => last.is_one_of(PASSING_ON),
        _ => false,
    }
}

/// Returns the exit codes with which a pipeline says "no"; with others, it can't tell.
fn no_codes_of(pipeline: &Pipeline) -> Option<&'static str> {
    match pipeline.stages.last() {
        Some(Stage::Simple(simple)) => no_codes(simple),
        _ => None,
    }
}

/// Returns the stage of a search that fetches what is searched.
fn fetching_stage(pipeline: &Pipeline) -> Option<usize> {
    let (last, before) = pipeline.stages.split_last()?;
    let searches = matches!(last, Stage::Simple(simple) if simple.is_one_of(SEARCHING));
    let fetches =
        |stage: &Stage| matches!(stage, Stage::Simple(simple) if simple.is_one_of(FETCHING));
    before.iter().position(fetches).filter(|_| searches)
}

fn only_stage(statement: &Statement) -> Option<&Stage> {
    match statement.pipelines.as_slice() {
        [(_, pipeline)] if pipeline.stages.len() == 1 => pipeline.stages.first(),
        _ => None,
    }
}

/// Whether the status of a statement counts. That of `((n++))` and `let` is a number, not a
/// success.
fn is_judged(statement: &Statement, judges_lists: bool) -> bool {
    let is_number = match only_stage(statement) {
        Some(Stage::Arithmetic) => true,
        Some(Stage::Simple(simple)) => simple.program() == "let",
        _ => false,
    };
    !is_number && (judges_lists || statement.pipelines.len() == 1)
}

/// Whether this is `found=$(grep x file)`: the next lines look at the result.
fn may_find_nothing(statement: &Statement) -> bool {
    let Some(Stage::Simple(simple)) = only_stage(statement) else {
        return false;
    };
    let substituted = simple
        .words
        .last()
        .and_then(|word| word.substituted.as_deref());
    simple.argv().is_empty() && substituted.is_some_and(|program| SEARCHING.contains(&program))
}

/// Whether this is `test $? -eq 2`, which judges the line above unless it is itself excused.
fn asks_status(next: &Statement) -> bool {
    let is_test = |simple: &Simple| {
        let asks = simple
            .words
            .iter()
            .any(|word| word.text.trim_matches('"') == "$?");
        simple.is_one_of(&["test", "["]) && asks
    };
    let first = next
        .pipelines
        .first()
        .and_then(|(_, first)| first.stages.first());
    let has_or = next.pipelines.iter().any(|(joint, _)| *joint == Joint::Or);
    !has_or && matches!(first, Some(Stage::Simple(simple)) if is_test(simple))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the text that runs, without the functions before it.
    fn run_as(text: &str) -> String {
        let script = guarded(text, Shell::Bash).replace(LINE, "");
        let from_line = script
            .strip_prefix("__regreen_at=")
            .and_then(|at| at.split_once("; "));
        from_line
            .map_or(script.as_str(), |(_, script)| script)
            .replace(STAGES, "")
            .replace(FETCHED, "")
            .replace(NO, "")
    }

    #[test]
    fn one_command_runs_as_it_is_written() {
        for text in [
            "make test",
            "make && make test || exit 1",
            "make | grep -q FAIL",
            "! grep -rn x src | wc -l",
            "x=$(make | tail -1) && test \"$x\"",
            "diff <(a | head -1) <(b | head -1)",
            "for f in a b; do grep -q x $f || exit 1; done",
            "for i in 1 2; do curl -sf x && break; sleep 1; done; c",
            "set -o pipefail; make | tail -5",
            "a | tail; test ${PIPESTATUS[0]} -eq 0",
            "cat <<'E'\na | tail\nb\nE",
            "check() {\n  a\n  b\n}",
            "make \\\n  test",
            "make &&\n# why\nmake test",
            "",
        ] {
            assert_eq!(run_as(text), text);
        }
    }

    #[test]
    fn a_line_is_judged_before_the_next_one_runs() {
        for (text, run) in [
            ("a\nb", "a\n__regreen_line 1 2; b"),
            ("a; b\n\n# c\nd", "a; b\n\n# c\n__regreen_line 1 4; d"),
            ("cat <<E\nx\nE\nb", "cat <<E\nx\nE\n__regreen_line 1 4; b"),
            ("x=$(grep a b)\nc", "x=$(grep a b)\n__regreen_line 1 2 1; c"),
            ("x=$(make)\nc", "x=$(make)\n__regreen_line 1 2; c"),
            ("((n++))\nb", "((n++))\n__regreen_at=2; b"),
            ("a\ntest $? -eq 2", "a\ntest $? -eq 2"),
            (
                "a\ntest $? -eq 2 || echo no",
                "a\n__regreen_line 1 2; test $? -eq 2 || echo no",
            ),
            (
                "for f in *; do\n  a $f\n  b && break\n  c\ndone\nd",
                "for f in *; do\n  a $f\n  __regreen_line 2 3; b && break\n  __regreen_at=4; c\n__regreen_line 4 2; done\n__regreen_line 1 6; d",
            ),
            (
                "for f in a b; do grep -q x $f; done && c",
                "for f in a b; do grep -q x $f; __regreen_line 1 1; done && c",
            ),
            (
                "for a in x; do for b in y; do c; done; done",
                "for a in x; do for b in y; do c; __regreen_line 1 1; done; __regreen_line 1 1; done",
            ),
            (
                "if a; then\n  b\n  c\nfi",
                "if a; then\n  b\n  __regreen_line 2 3; c\nfi",
            ),
            ("(\na\nb\n)", "(\na\n__regreen_line 2 3; b\n)"),
        ] {
            assert_eq!(run_as(text), run);
        }
    }

    #[test]
    fn a_pipeline_that_ends_in_a_program_which_only_passes_on_is_judged_by_every_stage() {
        let stages = "__regreen_stages \"${PIPESTATUS[@]}\"";
        for (text, run) in [
            ("a | tail -5", "{ a | tail -5; STAGES; }"),
            ("a | b | tee log", "{ a | b | tee log; STAGES; }"),
            ("! a | head -1", "! { a | head -1; STAGES; }"),
            (
                "cd x && a 2>&1 | tail && b",
                "cd x && { a 2>&1 | tail; STAGES; } && b",
            ),
            ("(a | cat)", "({ a | cat; STAGES; })"),
            (
                "if a | tail; then b; fi",
                "if { a | tail; STAGES; }; then b; fi",
            ),
            ("cat <<E | tail\nx\nE", "{ cat <<E | tail; STAGES; }\nx\nE"),
        ] {
            assert_eq!(run_as(text), run.replace("STAGES", stages));
        }
        assert_eq!(guarded("a | tail -5", Shell::Posix), "a | tail -5");
    }

    #[test]
    fn an_error_of_a_search_is_not_what_a_negation_waits_for() {
        for (text, run) in [
            ("! grep -q x f", "! { grep -q x f; __regreen_no; }"),
            (
                "a && ! cat f | grep x",
                "a && ! { cat f | grep x; __regreen_no; }",
            ),
            ("! diff a b", "! { diff a b; __regreen_no; }"),
            ("! make", "! make"),
            ("! curl -sf x", "! { curl -sf x; __regreen_no 22; }"),
            ("! curl -s x", "! { curl -s x; __regreen_no 7; }"),
            (
                "! curl -s x | grep -q y",
                "! { curl -s x | grep -q y; __regreen_fetched 1 \"${PIPESTATUS[@]}\"; __regreen_no; }",
            ),
            ("curl -s x | grep -q y", "curl -s x | grep -q y"),
            ("grep -q x f", "grep -q x f"),
        ] {
            assert_eq!(run_as(text), run);
        }
    }

    #[test]
    fn what_is_searched_in_vain_must_have_been_fetched() {
        let none = Expectation::NoOutput;
        let text = "curl -s x | grep y";
        let run = guarded_for(text, Shell::Bash, Some(&none)).replace(FETCHED, "");
        assert_eq!(
            run,
            "{ curl -s x | grep y; __regreen_fetched 1 \"${PIPESTATUS[@]}\"; }"
        );
        // Without a report about each stage, the last one decides.
        assert_eq!(guarded_for(text, Shell::Posix, Some(&none)), text);
        let found = Expectation::Outputs("y".to_owned());
        assert_eq!(guarded_for(text, Shell::Bash, Some(&found)), text);
    }

    #[test]
    fn any_text_is_read_without_harm() {
        for text in [
            "é \\é '",
            "\"$(",
            "a | ",
            "&&",
            "((",
            "$((1",
            "${x",
            "`a",
            "if",
            "case x in",
            "<<E",
            "a <<",
            ")",
            "x=(",
            "[[ a",
            "\\",
            "for",
            "{",
            "a\nb)",
            "é|tail\né",
        ] {
            let run = guarded(text, Shell::Bash);
            assert!(
                run.contains(text.lines().next().unwrap_or_default()),
                "{text}"
            );
        }
        for part in ["(", "time ", "$(", "a() ", "{ ", "\"$(", "if "] {
            let deep = part.repeat(5000);
            assert_eq!(guarded(&deep, Shell::Bash), deep);
        }
        assert_eq!(guarded("a (\nb", Shell::Bash), "set -e; a (\nb");
    }
}
