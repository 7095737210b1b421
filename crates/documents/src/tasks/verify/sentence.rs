//! Commands in code spans with words around them.

use regreen_model::{VerifyCommand, VerifyForm};

use super::super::code::Span;
use super::expectation::{Stated, Subject, is_hedged, is_not_meant, is_stated, stated};
use super::{bare, if_program, introduction, is_prose, leave_unchecked, place, without_bullet};
use crate::shell::judging_program;

/// Words that say to run what follows.
const INSTRUCTIONS: &[&str] = &[
    "run",
    "runs",
    "running",
    "execute",
    "executing",
    "then",
    "also",
    "plus",
    "with",
    "check",
    "verify",
    "confirm",
    "ensure",
    "using",
    "use",
    "try",
    "call",
    "command",
    "that",
    "by",
    "after",
    "if",
    "when",
    "unless",
    "until",
    "once",
    "before",
    "while",
];
/// Words that join a span to the previous one, whose role it shares.
const JOINTS: &[&str] = &["and", "or", "nor", "&&", "+", "&", ","];
/// "for example `curl …`" and "do not run `rm …`" are not instructions.
const EXAMPLES: &[&str] = &["e.g.", "for example", "such as", "not run", "n't run"];

/// Words that talk about a file instead of running it.
const OF_FILES: &[&str] = &[
    "contains", "created", "defines", "deleted", "exist", "exists", "has", "have", "includes",
    "is", "are", "present", "removed", "was", "were",
];
/// Verbs with several commands as their subject.
const OF_SEVERAL: &[&str] = &[
    "both", "each", "all", "exit", "fail", "give", "output", "pass", "print", "return", "show",
];

/// Reads spans from left to right: each is a command, or part of a statement about one.
pub(super) fn commands(
    prose: &str,
    spans: &[Span],
    files: &dyn Fn() -> Vec<String>,
) -> Vec<VerifyCommand> {
    let roles = roles(prose, spans);
    let with_role = |wanted: Role| {
        let with_roles = spans.iter().zip(&roles);
        let wanted = with_roles.filter(move |(_, role)| **role == wanted);
        wanted.map(|(span, _)| span).collect::<Vec<&Span>>()
    };
    let mut commands = in_order(prose, &with_role(Role::Command), spans.len(), files);
    for span in with_role(Role::Mention) {
        if bare::is_surely_a_command(&span.code) {
            leave_unchecked(&mut commands, Some(format!("`{}` is not run", span.code)));
        }
    }
    let place = place::stated(prose, &commands);
    leave_unchecked(&mut commands, place);
    commands
}

fn in_order(
    prose: &str,
    spans: &[&Span],
    count: usize,
    files: &dyn Fn() -> Vec<String>,
) -> Vec<VerifyCommand> {
    let mut commands: Vec<VerifyCommand> = Vec::new();
    // The start of the commands joined to the current one.
    let mut joined_from = 0;
    let mut from = 0;
    for (at, span) in spans.iter().enumerate() {
        let lead = lead(&prose[from..span.range.start], at == 0);
        from = span.range.end;
        let next = spans.get(at + 1);
        let until = next.map_or(prose.len(), |next| next.range.start);
        let after = &prose[span.range.end..until];
        let (line, below) = after.split_once('\n').unwrap_or((after, ""));
        let line = without_lead(line);
        let before = &prose[..span.range.start];
        let subject = Subject {
            is_counting: judging_program(&span.code).is_some_and(|judge| judge.is_counting()),
            is_hedged: is_hedged(before),
            is_several: !commands.is_empty() && is_joined(before),
        };
        let lead_subject = Subject {
            is_hedged: false,
            // Only the first of several commands would be judged by it.
            is_several: next
                .is_some_and(|next| lead.contains('\n') || is_joined(&prose[..next.range.start])),
            ..subject
        };
        if !subject.is_several {
            joined_from = commands.len();
        }
        let mut said = stated(line, subject);
        // The words before the next command introduce it.
        if next.is_none() && said.unchecked.is_none() {
            said.unchecked = super::unchecked_lines(below);
        }
        if subject.is_several && (is_about_several(line) || speaks_of_several(before)) {
            share(&mut commands[joined_from..], &said);
        }
        // The line is a command, perhaps with its expected result.
        let is_sure = own_line(prose, span).is_some_and(|after| {
            let is_all = after.trim_matches(['.', ',', ';', ' ']).is_empty();
            let is_told = said.is_understood && !after.contains('`') && span.code.contains(' ');
            ((is_all || is_told) && is_plain_command(&span.code))
                || (said.is_understood && count == 1)
        });
        let is_sure = is_sure || (is_script(&span.code, files) && !speaks_of_file(line));
        if said.unchecked.is_none() && !is_sure {
            said.unchecked = unnamed_script(span, line);
        }
        if !said.is_understood
            && said.unchecked.is_none()
            && bare::is_surely_a_command(trailing(line))
        {
            said.unchecked = Some(format!("`{}` is not run", trailing(line)));
        }
        let mut command = command(span, said, is_sure);
        introduction::apply(&mut command, lead, lead_subject);
        commands.push(command);
    }
    commands
}

/// Returns the words that introduce a command: those that don't speak of the one before.
fn lead(between: &str, is_first: bool) -> &str {
    if is_first {
        return between;
    }
    let line = between.split('\n').next().unwrap_or(between);
    &between[without_lead(line).len()..]
}

/// Returns the rest of the line after a command, without what joins it.
fn trailing(line: &str) -> &str {
    let is_joint = |c: char| c.is_whitespace() || ":;,—–".contains(c);
    let text = line.trim_matches(is_joint);
    let rest = text
        .strip_prefix("then ")
        .or_else(|| text.strip_prefix("and "));
    rest.unwrap_or(text).trim()
}

/// Notes a script that no task names: nothing tells where it is.
fn unnamed_script(span: &Span, after: &str) -> Option<String> {
    let name = span.code.split_whitespace().next().unwrap_or_default();
    let ending = name.rsplit_once('.').map(|(_, ending)| ending);
    let is_script = ending.is_some_and(|ending| SCRIPTS.contains(&ending)) && !name.contains('/');
    (is_script && !speaks_of_file(after)).then(|| format!("`{}` is not run", span.code))
}

/// Returns the text after a span that starts a line or a list item.
fn own_line<'t>(prose: &'t str, span: &Span) -> Option<&'t str> {
    let before = &prose[..span.range.start];
    let line = before.rsplit('\n').next().unwrap_or(before);
    let is_first = before.trim().is_empty();
    // Without a bullet it may be the rest of a sentence.
    let is_item = !line.trim().is_empty() && without_bullet(&format!("{line}x")) == "x";
    let after = &prose[span.range.end..];
    (is_first || is_item).then(|| after.split('\n').next().unwrap_or(after))
}

/// Returns whether nothing in a span on its own speaks against running it.
fn is_plain_command(code: &str) -> bool {
    let command = if_program(code);
    let is_part = |c: char| c.is_ascii_alphanumeric() || "._-/+[$".contains(c);
    let program = command.program();
    !program.is_empty() && program.chars().all(is_part) && !is_prose(code) && !is_file(code)
}

/// Whether this is just a file name, which is hardly meant to be run.
fn is_file(code: &str) -> bool {
    let last = code.rsplit('/').next().unwrap_or(code);
    let ending = last.rsplit_once('.').map(|(_, ending)| ending);
    let is_script = ending.is_some_and(|ending| SCRIPTS.contains(&ending));
    !code.contains(' ') && !is_script && (last.is_empty() || ending.is_some())
}

const SCRIPTS: &[&str] = &["sh", "bash", "zsh"];
/// Extensions of files that may run when called by path.
const PROGRAMS: &[&str] = &["bat", "js", "mjs", "php", "pl", "py", "rb", "ts"];

/// Whether this is `./check`, `scripts/check.sh` or `tools/check.py --all`, or `check.sh` if the
/// tasks name that file.
fn is_script(code: &str, files: &dyn Fn() -> Vec<String>) -> bool {
    let command = if_program(code);
    let word = command.program();
    let is_path = word.contains('/') && !word.starts_with('/') && !word.contains("://");
    let (folder, name) = word.rsplit_once('/').unwrap_or(("", word));
    let ending = name.trim_start_matches('.').rsplit_once('.');
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-/".contains(c);
    let has_arguments = code.contains(' ');
    let is_runnable = match ending.map(|(_, ending)| ending) {
        Some(ending) if SCRIPTS.contains(&ending) => true,
        Some(ending) => PROGRAMS.contains(&ending) && (has_arguments || folder.starts_with('.')),
        None => ["bin", "script", "scripts"].contains(&folder) || folder.starts_with('.'),
    };
    let is_named = |word: &str| files().iter().any(|file| file == word);
    !name.is_empty()
        && is_runnable
        && word.chars().all(is_plain)
        && (is_path || (ending.is_some() && is_named(word)))
}

fn speaks_of_file(after: &str) -> bool {
    let first = after.split_whitespace().next().unwrap_or_default();
    let first = first.trim_matches(|c: char| !c.is_alphanumeric());
    OF_FILES.contains(&first.to_lowercase().as_str())
}

fn command(span: &Span, said: Stated, is_sure: bool) -> VerifyCommand {
    VerifyCommand {
        form: if is_sure {
            VerifyForm::Always
        } else {
            VerifyForm::IfProgram
        },
        expects: said.expects,
        unchecked: said.unchecked,
        ..if_program(&span.code)
    }
}

/// Applies a statement about the last command to those joined to it: "`a` and `b` both return 3".
fn share(commands: &mut [VerifyCommand], said: &Stated) {
    for command in commands.iter_mut().rev() {
        if command.expects.is_some() || command.unchecked.is_some() {
            break;
        }
        command.expects.clone_from(&said.expects);
        command.unchecked.clone_from(&said.unchecked);
    }
}

fn is_about_several(after: &str) -> bool {
    let words = after.trim_start_matches(|c: char| !c.is_alphanumeric());
    let first = words.split_whitespace().next().unwrap_or_default();
    let first = first.trim_end_matches(|c: char| !c.is_alphanumeric());
    OF_SEVERAL.contains(&first.to_lowercase().as_str())
}

/// Whether a statement covers all joined commands: "Both `a` and `b` fail".
fn speaks_of_several(before: &str) -> bool {
    let prose: Vec<&str> = before.split('`').step_by(2).collect();
    let prose = prose.join(" ").replace(". ", "\n");
    let sentence = prose.rsplit([';', ':', '\n']).next().unwrap_or(&prose);
    let words = sentence.to_lowercase();
    let mut words = words.split_whitespace();
    words.any(|word| ["both", "each", "all"].contains(&word))
}

/// Returns whether a span is joined to the previous one, on the same line.
fn is_joined(before: &str) -> bool {
    let line = before.rsplit('\n').next().unwrap_or(before);
    let word = line.split_whitespace().next_back().unwrap_or_default();
    line.contains('`') && (is_joint(&word.to_lowercase()) || word.ends_with([';', '`']))
}

/// Strips words that introduce the next command: "returns 3. Check the docs:".
fn without_lead(line: &str) -> &str {
    if !line.trim_end().ends_with(':') {
        return line;
    }
    line.rfind(". ")
        .or_else(|| line.rfind("; "))
        .map_or("", |end| &line[..end])
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// Run it, if its first word is a program.
    Command,
    /// Code that the sentence is about.
    Mention,
    /// An example, or the output of another command.
    Other,
}

fn roles(prose: &str, spans: &[Span]) -> Vec<Role> {
    let mut roles: Vec<Role> = Vec::new();
    let mut from = 0;
    for (at, span) in spans.iter().enumerate() {
        let between = &prose[from..span.range.start];
        from = span.range.end;
        let next = spans
            .get(at + 1)
            .map_or(prose.len(), |next| next.range.start);
        let after = &prose[span.range.end..next];
        roles.push(role(between, span, after, roles.last().copied()));
    }
    roles
}

/// Returns the role of a span. It is a command at the start of a sentence, line or list, after a
/// word that says to run it, and if a result is stated for it.
fn role(before: &str, span: &Span, after: &str, last: Option<Role>) -> Role {
    let lower = before.to_lowercase();
    let is_example = EXAMPLES.iter().any(|words| lower.contains(words));
    let is_folder = span.code.ends_with('/') && !span.code.contains(' ');
    if is_example || is_not_meant(after) || is_folder || span.code.contains("{{") {
        return Role::Other;
    }
    let (line, is_first) = match before.rsplit_once('\n') {
        Some((_, line)) => (without_bullet(line), true),
        None => (without_bullet(before), last.is_none()),
    };
    let word = line.split_whitespace().next_back().unwrap_or_default();
    let word = word.to_lowercase();
    let is_alone = is_first && line.split_whitespace().count() <= 1;
    let is_lead = word.ends_with([':', '—', '–', '-']) && !word.ends_with("->");
    match last {
        _ if is_alone && !word.starts_with('(') && !word.ends_with('/') => Role::Command,
        Some(_) if is_joint(&word) && (line.contains("; ") || line.contains(". ")) => Role::Command,
        Some(last) if is_joint(&word) => last,
        _ if word.ends_with([';', '.']) || (is_lead && is_new_sentence(line)) => Role::Command,
        Some(_) if !is_first && is_stated(line) => of_shown(&word, &span.code),
        _ if is_lead || INSTRUCTIONS.contains(&word.as_str()) => Role::Command,
        _ if stated(after, Subject::default()).is_understood => Role::Command,
        _ => Role::Mention,
    }
}

/// Whether the line introduces another command: "returns 3. Check the docs:".
fn is_new_sentence(line: &str) -> bool {
    let Some(end) = line.rfind(". ").or_else(|| line.rfind("; ")) else {
        return false;
    };
    let sentence = &line[end + 1..];
    let first = sentence.split_whitespace().next().unwrap_or_default();
    INSTRUCTIONS.contains(&first.to_lowercase().as_str()) || !is_stated(sentence)
}

fn is_joint(word: &str) -> bool {
    word.is_empty() || JOINTS.contains(&word) || word.ends_with(',')
}

/// Returns the role of code after a result verb: in "returns `0`", "— expect `OK`" and "-> `3`" it
/// is the output of the previous command, but "equals `jq .b y.json`" may name a command to compare
/// with.
fn of_shown(word: &str, code: &str) -> Role {
    let compares = ["equals", "matches", "than", "as", "with"].contains(&word);
    let is_like_a_command =
        code.contains(' ') && code.starts_with(|c: char| c.is_ascii_lowercase());
    if compares && is_like_a_command {
        Role::Command
    } else {
        Role::Other
    }
}
