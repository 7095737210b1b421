//! The Verify field of a task: which of its words may be commands, and their expected results.

mod bare;
mod expectation;
mod introduction;
mod place;
mod sentence;

pub(crate) use self::bare::is_surely_a_command;

use regreen_model::{Fields, VerifyCommand, VerifyForm};

use super::code::{Piece, Span, pieces, spans};
use super::{RowId, TaskFile};
use crate::shell::{BlindSpot, always_passes, is_setup, only_prints};

/// Returns the commands in a Verify field, in order. Whether a word is a program isn't known here.
#[must_use]
pub fn verify_commands(field: &str) -> Vec<VerifyCommand> {
    with_setup(commands_of(field, &Vec::new))
}

impl TaskFile {
    /// Returns the commands in a task's Verify, in order. Whether a word is a program isn't known
    /// here.
    #[must_use]
    pub fn verify_commands(&self, row: RowId) -> Vec<VerifyCommand> {
        let fields = self.task(row).map(|task| task.fields);
        let files = || self.files_until(row);
        let mut commands = Vec::new();
        // A field that only prepares the shell applies to the next one.
        let mut prepared: Vec<VerifyCommand> = Vec::new();
        let mut prose = None;
        for field in fields.iter().flat_map(Fields::verify_fields) {
            let own = commands_of(field, &files);
            if own.is_empty() {
                prose = prose.or_else(|| stated_in_prose(field));
            }
            let only_prepares = own.iter().all(|command| is_setup(&command.command));
            prepared.extend(own);
            if !only_prepares {
                commands.extend(with_setup(std::mem::take(&mut prepared)));
            }
        }
        commands.extend(with_setup(prepared));
        leave_unchecked(&mut commands, prose);
        commands
    }

    /// Returns the files named by a task and those before it.
    fn files_until(&self, row: RowId) -> Vec<String> {
        let rows = self.rows().take_while(|other| *other != row);
        let fields = rows
            .chain([row])
            .filter_map(|row| self.task(row)?.fields.files);
        fields.flat_map(|field| named_files(&field)).collect()
    }
}

fn named_files(field: &str) -> Vec<String> {
    let is_joint = |c: char| c.is_whitespace() || matches!(c, ',' | ';' | '`' | '(' | ')');
    let words = field.split(is_joint).filter(|word| word.len() > 1);
    words.map(str::to_owned).collect()
}

/// Prefixes each command with those before it that prepare the shell: the effect of `cd app` in a
/// shell of its own would be lost.
fn with_setup(commands: Vec<VerifyCommand>) -> Vec<VerifyCommand> {
    let mut ready: Vec<VerifyCommand> = Vec::new();
    let mut setup: Vec<String> = Vec::new();
    let mut waiting: Option<VerifyCommand> = None;
    for mut command in commands {
        let text = command.command.clone();
        command.command = setup
            .iter()
            .chain([&text])
            .cloned()
            .collect::<Vec<_>>()
            .join("\n");
        if let Some(before) = waiting.take() {
            command.unchecked = command.unchecked.or(before.unchecked);
        }
        if command.expects.is_none() && is_setup(&text) {
            setup.push(text);
            waiting = Some(command);
        } else {
            ready.push(command);
        }
    }
    ready.extend(waiting);
    ready
}

/// Returns the text of a field without a command next to others that have one, unless it reports
/// how a check once ended.
fn stated_in_prose(field: &str) -> Option<String> {
    let line = field
        .lines()
        .map(without_bullet)
        .find(|line| !line.is_empty())?;
    let is_record = line
        .get(..4)
        .is_some_and(|start| start.eq_ignore_ascii_case("pass"));
    (!is_record && !is_by_hand(line.trim_matches('`'))).then(|| line.to_owned())
}

/// Notes part of a stated result that can't be checked.
fn leave_unchecked(commands: &mut [VerifyCommand], stated: Option<String>) {
    if let Some(command) = commands.iter_mut().find(|one| one.unchecked.is_none()) {
        command.unchecked = stated;
    }
}

fn commands_of(field: &str, files: &dyn Fn() -> Vec<String>) -> Vec<VerifyCommand> {
    let parts = Parts::of(field);
    let mut commands = if parts.scripts.is_empty() {
        from_prose(&parts.prose, files)
    } else {
        from_scripts(&parts, files)
    };
    commands.retain(|command| !is_by_hand(&command.command));
    commands.iter_mut().for_each(introduction::apply_comments);
    note_unfailing(&mut commands);
    commands
}

/// Notes what proves nothing because it hides a failure or checks something else than it seems to.
/// `true` and `echo` hide none, and other commands that can't fail may stand beside those that decide.
fn note_unfailing(commands: &mut [VerifyCommand]) {
    let can_fail = |one: &VerifyCommand| {
        !is_setup(&one.command) && (one.expects.is_some() || always_passes(&one.command).is_none())
    };
    let is_decided = commands.iter().any(can_fail);
    for command in commands {
        let Some(why) = always_passes(&command.command) else {
            if command.expects.is_none() && command.unchecked.is_none() {
                let spot = BlindSpot::of(&command.command);
                command.unchecked = spot.map(|spot| spot.to_string());
            }
            continue;
        };
        let is_beside = is_decided && why == command.command.trim();
        let is_told = command.expects.is_some() || command.unchecked.is_some();
        let prepares = is_setup(&command.command) && !command.command.contains("$(");
        let hides = !prepares && !only_prints(&command.command);
        if !is_told && !is_beside && hides {
            let line = why.lines().next().unwrap_or_default();
            command.unchecked = Some(format!("always passes: {line}"));
        }
    }
}

fn from_scripts(parts: &Parts, files: &dyn Fn() -> Vec<String>) -> Vec<VerifyCommand> {
    let mut scripts: Vec<VerifyCommand> = Vec::new();
    for Script { before, code } in &parts.scripts {
        let mut script = VerifyCommand::always(code.as_str());
        let is_one = parts.scripts.len() == 1 && code.lines().count() == 1;
        let subject = expectation::Subject {
            is_several: !is_one,
            ..expectation::Subject::of(code)
        };
        introduction::apply(&mut script, before, subject);
        scripts.push(script);
    }
    let (below, beside): (Vec<VerifyCommand>, Vec<VerifyCommand>) = from_prose(&parts.after, files)
        .into_iter()
        .filter(|command| is_surely_a_command(&command.command))
        .partition(|command| stands_alone(&parts.after, &command.command));
    if let Some(last) = scripts.last_mut()
        && last.unchecked.is_none()
    {
        let not_run = beside
            .first()
            .map(|one| format!("`{}` is not run", one.command));
        last.unchecked = match not_run {
            None if below.is_empty() => unchecked_lines(&parts.after),
            not_run => not_run,
        };
    }
    let place = place::stated(&parts.prose, &scripts);
    leave_unchecked(&mut scripts, place);
    scripts.extend(below);
    scripts
}

/// Whether a line of the text is nothing but this command. What other words introduce may be no check:
/// "Rollback: `git reset --hard`".
fn stands_alone(text: &str, command: &str) -> bool {
    text.lines().any(|line| {
        let line = without_bullet(line).trim().trim_end_matches('.');
        let rest = ["Then ", "then ", "And ", "and "]
            .iter()
            .find_map(|lead| line.strip_prefix(lead));
        let line = rest.unwrap_or(line);
        let line = line.strip_prefix("run ").unwrap_or(line);
        line.trim_matches('`') == command
    })
}

/// A shell script of a field.
struct Script {
    /// The prose since the script before it.
    before: String,
    code: String,
}

/// The shell scripts of a field, and everything that isn't a code block.
#[derive(Default)]
struct Parts {
    scripts: Vec<Script>,
    prose: String,
    /// The prose after the last script.
    after: String,
}

impl Parts {
    fn of(field: &str) -> Self {
        let mut parts = Self::default();
        for piece in pieces(field) {
            match piece {
                Piece::Code { language, code } if is_shell(&language) => {
                    if !code.trim().is_empty() {
                        let before = std::mem::take(&mut parts.after);
                        parts.scripts.push(Script { before, code });
                    }
                }
                Piece::Code { .. } => {}
                Piece::Line { whole, .. } => {
                    for prose in [&mut parts.prose, &mut parts.after] {
                        prose.push_str(whole);
                        prose.push('\n');
                    }
                }
            }
        }
        parts
    }
}

fn is_shell(language: &str) -> bool {
    ["", "sh", "bash", "shell", "zsh"].contains(&language)
}

fn from_prose(prose: &str, files: &dyn Fn() -> Vec<String>) -> Vec<VerifyCommand> {
    let spans = spans(prose);
    match spans.as_slice() {
        [] => bare_commands(prose, files),
        [only] if only.is_whole(prose) => vec![VerifyCommand::always(only.code.as_str())],
        spans => {
            let mut commands = sentence::commands(prose, spans, files);
            // A line of its own next to them, as in a list of which one has no backticks.
            let mut end = 0;
            let lines = prose.split_inclusive('\n').filter(|line| {
                let start = end;
                end += line.len();
                let is_code = |span: &Span| span.range.start < end && start < span.range.end;
                !spans.iter().any(is_code)
            });
            let sure = lines.filter(|line| is_surely_a_command(without_bullet(line)));
            let bare: Vec<VerifyCommand> =
                sure.filter_map(|line| bare::command(line, files)).collect();
            commands.extend(bare);
            commands
        }
    }
}

/// Returns the commands on lines without backticks.
fn bare_commands(prose: &str, files: &dyn Fn() -> Vec<String>) -> Vec<VerifyCommand> {
    let commands = prose.lines().filter_map(|line| bare::command(line, files));
    commands.collect()
}

/// Returns the first line that states a result.
fn unchecked_lines(prose: &str) -> Option<String> {
    let mut lines = prose.lines().map(without_bullet);
    let line = lines.find(|line| expectation::is_stated(line))?;
    Some(line.to_owned())
}

/// Returns a line without its bullet or step number.
fn without_bullet(line: &str) -> &str {
    let line = line.trim();
    let after_number = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let is_numbered = after_number.len() < line.len() && after_number.starts_with(['.', ')']);
    let marks: &[&str] = if is_numbered {
        &[". ", ") "]
    } else {
        &["- ", "* ", "+ "]
    };
    let text = if is_numbered { after_number } else { line };
    let rest = marks.iter().find_map(|mark| text.strip_prefix(mark));
    rest.unwrap_or(line).trim_start()
}

/// Whether this is `echo 'Verify manually'`, which means that there is no way to verify the task.
fn is_by_hand(command: &str) -> bool {
    let said = command
        .trim()
        .strip_prefix("echo ")
        .map(|said| said.trim().trim_matches(['\'', '"']));
    said.is_some_and(|said| said.eq_ignore_ascii_case("verify manually"))
}

/// Words that are common in sentences and rare in commands.
const PROSE: &[&str] = &[
    "after", "all", "an", "and", "any", "are", "as", "at", "be", "been", "before", "both", "but",
    "by", "can", "do", "does", "each", "every", "exist", "exists", "from", "has", "have", "if",
    "is", "it", "its", "must", "no", "not", "of", "on", "only", "or", "pass", "passes", "present",
    "returns", "should", "shows", "still", "strictly", "than", "that", "the", "their", "them",
    "then", "there", "these", "this", "to", "via", "was", "were", "when", "which", "will", "with",
    "without", "works",
];

/// Returns whether a text reads like a sentence, whatever its first word is.
fn is_prose(text: &str) -> bool {
    let unquoted = without_quoted(text);
    let mut words = unquoted.split_whitespace();
    let first = words.next().unwrap_or_default();
    let is_loop = ["for", "if", "while", "until", "case"].contains(&first);
    let has_words = words.clone().any(|word| {
        let word = word.trim_end_matches([',', '.', ';', ':']);
        PROSE.contains(&word)
    });
    // Characters that no shell uses, and unfilled templates.
    let has_signs = ["→", "—", "–", "≥", "≤", "…", "{{", "`"]
        .iter()
        .any(|sign| unquoted.contains(sign));
    let is_capitalized = first.starts_with(char::is_uppercase) && !first.contains(['=', '/']);
    has_signs || is_capitalized || (has_words && !is_loop)
}

/// Returns a line without quoted text.
fn without_quoted(text: &str) -> String {
    let mut open = None;
    let outside = |c: &char| match (open, *c) {
        (None, '"' | '\'') => {
            open = Some(*c);
            false
        }
        (Some(quote), c) => {
            if c == quote {
                open = None;
            }
            false
        }
        (None, _) => true,
    };
    text.chars().filter(outside).collect()
}

/// Creates a command that counts only if its first word is a program.
fn if_program(command: &str) -> VerifyCommand {
    VerifyCommand {
        form: VerifyForm::IfProgram,
        ..VerifyCommand::always(command)
    }
}

#[cfg(test)]
mod tests;
