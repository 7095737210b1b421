//! The Verify field of a task: which of its words may be commands, and what they are
//! expected to give.

mod expectation;

use regreen_model::{VerifyCommand, VerifyForm};

use super::code::{Piece, Span, pieces, spans};

/// Returns the commands that a Verify field names, in order. Whether a word is a program is not
/// known here.
#[must_use]
pub fn verify_commands(field: &str) -> Vec<VerifyCommand> {
    let parts = Parts::of(field);
    let mut commands = if parts.scripts.is_empty() {
        from_prose(&parts.prose)
    } else {
        parts
            .scripts
            .into_iter()
            .map(VerifyCommand::always)
            .collect()
    };
    commands.retain(|command| !is_by_hand(&command.command));
    commands
}

/// A field's shell scripts, and everything that is not a code block.
#[derive(Default)]
struct Parts {
    scripts: Vec<String>,
    prose: String,
}

impl Parts {
    fn of(field: &str) -> Self {
        let mut parts = Self::default();
        for piece in pieces(field) {
            match piece {
                Piece::Code { language, code } if is_shell(&language) => parts.scripts.push(code),
                Piece::Code { .. } => {}
                Piece::Line { whole, .. } => {
                    parts.prose.push_str(whole);
                    parts.prose.push('\n');
                }
            }
        }
        parts.scripts.retain(|script| !script.trim().is_empty());
        parts
    }
}

fn is_shell(language: &str) -> bool {
    ["", "sh", "bash", "shell", "zsh"].contains(&language)
}

fn from_prose(prose: &str) -> Vec<VerifyCommand> {
    let spans = spans(prose);
    if spans.is_empty() {
        return prose.lines().filter_map(bare_command).collect();
    }
    if let [only] = spans.as_slice()
        && only.is_whole(prose)
    {
        return vec![VerifyCommand::always(only.code.as_str())];
    }
    from_spans(prose, &spans)
}

/// Reads spans from left to right: each is a command, or what the one before it gives.
fn from_spans(prose: &str, spans: &[Span]) -> Vec<VerifyCommand> {
    let mut commands: Vec<VerifyCommand> = Vec::new();
    let mut from = 0;
    for (at, span) in spans.iter().enumerate() {
        let before = &prose[from..span.range.start];
        let until = spans
            .get(at + 1)
            .map_or(prose.len(), |next| next.range.start);
        let after = &prose[span.range.end..until];
        from = span.range.end;
        if is_example(before) || expectation::is_not_meant(after) {
            continue;
        }
        // What has blanks in it is rather another command to compare with.
        if let Some(command) = commands.last_mut()
            && expectation::introduces_output(before)
            && (!span.code.contains(' ') || span.code.starts_with(['<', '>', '=']))
        {
            command.expects = Some(expectation::of_output(&span.code));
            continue;
        }
        let expects = expectation::stated(after);
        let leads = spans.len() == 1 && prose[..span.range.start].trim().is_empty();
        commands.push(VerifyCommand {
            command: span.code.clone(),
            form: if leads && expectation::is_stated(after) {
                VerifyForm::Always
            } else {
                VerifyForm::IfProgram
            },
            expects,
        });
    }
    commands
}

/// "for example `curl …`" and "do not run `rm …`" are no instructions.
fn is_example(before: &str) -> bool {
    let before = before.to_ascii_lowercase();
    ["e.g.", "for example", "such as", "not run", "n't run"]
        .iter()
        .any(|words| before.contains(words))
}

/// Bare text is a command only if it looks like one beyond its first word and nothing in it
/// speaks about the result.
fn bare_command(line: &str) -> Option<VerifyCommand> {
    let text = without_bullet(line.trim());
    let words = || text.split_whitespace();
    let unquoted = without_quoted(text);
    // The word right behind a program is its own: `git show`.
    let is_prose = unquoted.split_whitespace().skip(2).any(|word| {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric());
        ["passes", "shows", "returns"].contains(&word.to_ascii_lowercase().as_str())
    });
    let has_shape = text.contains(['"', '\'', '|', '$', '>', '<'])
        || text.contains("&&")
        || words()
            .skip(1)
            .any(|word| word.starts_with('-') && word.len() > 1)
        || words().any(|word| word.contains('/') && word.len() > 1);
    (!text.is_empty() && has_shape && !is_prose).then(|| VerifyCommand {
        command: text.to_owned(),
        form: VerifyForm::IfProgram,
        expects: None,
    })
}

/// A line without what stands in quotes.
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

fn without_bullet(line: &str) -> &str {
    ["- ", "* ", "+ "]
        .iter()
        .find_map(|bullet| line.strip_prefix(bullet))
        .unwrap_or(line)
        .trim_start()
}

/// `echo 'Verify manually'` means that there is no way to verify it.
fn is_by_hand(command: &str) -> bool {
    let said = command
        .trim()
        .strip_prefix("echo ")
        .map(|said| said.trim().trim_matches(['\'', '"']));
    said.is_some_and(|said| said.eq_ignore_ascii_case("verify manually"))
}

#[cfg(test)]
mod tests;
