//! Commands in code spans, with words around them.

use regreen_model::{VerifyCommand, VerifyForm};

use super::super::code::Span;
use super::expectation::{Stated, Subject, is_hedged, is_not_meant, is_stated, stated};
use super::{if_program, without_bullet};
use crate::shell::judging_program;

/// Words that tell to run what follows.
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
/// Words that join a span to the one before: it is what that one is.
const JOINTS: &[&str] = &["and", "or", "nor", "&&", "+", "&", ","];
/// "for example `curl …`" and "do not run `rm …`" are not instructions.
const EXAMPLES: &[&str] = &["e.g.", "for example", "such as", "not run", "n't run"];

/// Reads spans from left to right: each is a command, or a part of what is said about one.
pub(super) fn commands(prose: &str, spans: &[Span]) -> Vec<VerifyCommand> {
    let roles = roles(prose, spans);
    let is_command = |at: &usize| roles.get(*at) == Some(&Role::Command);
    let indices: Vec<usize> = (0..spans.len()).filter(is_command).collect();
    let mut commands: Vec<VerifyCommand> = Vec::new();
    for (position, index) in indices.iter().enumerate() {
        let Some(span) = spans.get(*index) else {
            continue;
        };
        let next = indices.get(position + 1).and_then(|next| spans.get(*next));
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
        let mut said = stated(line, subject);
        // The words before the next command lead to it.
        if next.is_none() && said.unchecked.is_none() {
            said.unchecked = super::unchecked_lines(below);
        }
        if subject.is_several && is_about_several(line) {
            share(&mut commands, &said);
        }
        let leads = spans.len() == 1 && prose[..span.range.start].trim().is_empty();
        commands.push(command(span, said, leads));
    }
    commands
}

fn command(span: &Span, said: Stated, leads: bool) -> VerifyCommand {
    let is_sure = leads && said.is_understood;
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

/// "`a` and `b` both return 3": what is said of the last goes for those before it.
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
    ["both", "each", "all"].contains(&first.to_lowercase().as_str())
}

/// Returns whether a span is joined to one before it, on the same line.
fn is_joined(before: &str) -> bool {
    let line = before.rsplit('\n').next().unwrap_or(before);
    let word = line.split_whitespace().next_back().unwrap_or_default();
    line.contains('`') && (is_joint(&word.to_lowercase()) || word.ends_with([';', '`']))
}

/// A text without the words that lead to the next command: "returns 3. Check the docs:".
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
    /// It is run, if its first word is a program.
    Command,
    /// It is code that the sentence is about.
    Mention,
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

/// A span is a command where a sentence, a line or a list begins, behind a word that tells to run
/// it, and if something is said about its result.
fn role(before: &str, span: &Span, after: &str, last: Option<Role>) -> Role {
    let lower = before.to_lowercase();
    let is_example = EXAMPLES.iter().any(|words| lower.contains(words));
    if is_example || is_not_meant(after) || span.code.contains("{{") {
        return Role::Mention;
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

/// "returns 3. Check the docs:" leads to another command.
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

/// "returns `0`", "— expect `OK`", "-> `3`": what the command before prints. "equals `jq .b y.json`"
/// may as well name another command to compare with.
fn of_shown(word: &str, code: &str) -> Role {
    let compares = ["equals", "matches", "than", "as", "with"].contains(&word);
    let is_like_a_command =
        code.contains(' ') && code.starts_with(|c: char| c.is_ascii_lowercase());
    if compares && is_like_a_command {
        Role::Command
    } else {
        Role::Mention
    }
}
