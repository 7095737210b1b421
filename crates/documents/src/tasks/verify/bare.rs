//! Commands without backticks.

use regreen_model::{VerifyCommand, VerifyForm};

use super::expectation::{Stated, Subject, stated};
use super::{if_program, is_prose, place, without_bullet};
use crate::shell::{RUNNERS, is_setup, is_tool};

/// Returns the command on a line, if it reads like a command and nothing else.
pub(super) fn command(line: &str, files: &dyn Fn() -> Vec<String>) -> Option<VerifyCommand> {
    let (text, said) = parted(without_bullet(line));
    let words: Vec<&str> = text.split_whitespace().collect();
    let (program, arguments) = words.split_first()?;
    if is_setup(text) {
        return Some(if_program(text));
    }
    let is_loop = words.iter().any(|word| ["for", "case"].contains(word));
    let says_where = !is_loop && place::stated(text, &[]).is_some();
    if is_prose(text) || says_where {
        return None;
    }
    let form = if has_shape(text, &words) || is_tool(program, arguments) {
        VerifyForm::IfProgram
    } else if RUNNERS.contains(program) && !arguments.is_empty() {
        VerifyForm::IfTarget
    } else if names_files(arguments, files) {
        VerifyForm::IfProgram
    } else if !arguments.is_empty() {
        VerifyForm::IfFiles
    } else {
        return None;
    };
    Some(VerifyCommand {
        form,
        expects: said.expects,
        unchecked: said.unchecked,
        ..if_program(text)
    })
}

/// Verbs that speak of a command's result. Others, such as "returns", make the line a sentence.
const SPEAKING: &[&str] = &[
    "contains", "displays", "echoes", "exits", "fails", "gives", "includes", "lists", "outputs",
    "print", "prints", "reports", "succeeds", "yields",
];

/// Splits a line into a command and what is said of its result: `./check.sh --all prints "3"`.
fn parted(text: &str) -> (&str, Stated) {
    let whole = (text, Stated::default());
    let Some(at) = spoken_at(text) else {
        return whole;
    };
    let (command, after) = (text[..at].trim_end(), &text[at..]);
    let words: Vec<&str> = command.split_whitespace().collect();
    let is_command = has_shape(command, &words)
        || words
            .split_first()
            .is_some_and(|(program, rest)| is_tool(program, rest));
    // "reports" alone may be a folder.
    let is_alone = !after.contains(char::is_whitespace) && !["fails", "succeeds"].contains(&after);
    if !is_command || is_alone || awaits_operand(&words) || command.ends_with(['|', '&', ';', '-'])
    {
        return whole;
    }
    (command, stated(after, Subject::of(command)))
}

/// Whether the next word is a pattern or a file, whatever it means: `grep -rn print src`, `[ -d reports ]`.
fn awaits_operand(words: &[&str]) -> bool {
    const PROGRAMS: &[&str] = &[
        "[", "[[", "awk", "egrep", "find", "git", "grep", "ls", "rg", "sed", "test",
    ];
    let program = words.iter().find(|word| **word != "!");
    let ends_in_option = words.last().is_some_and(|word| word.starts_with('-'));
    ends_in_option && program.is_some_and(|program| PROGRAMS.contains(program))
}

/// Returns where the first verb outside of quotes starts. It can't be the program or one of its first two
/// arguments, which may be a pattern or a file: `grep -rn print src`.
fn spoken_at(text: &str) -> Option<usize> {
    let (mut quote, mut start, mut count) = (None, 0, 0);
    for (at, char) in text.char_indices().chain([(text.len(), ' ')]) {
        match (quote, char) {
            (None, '"' | '\'') => quote = Some(char),
            (Some(open), _) if open == char => quote = None,
            (None, _) if char.is_whitespace() => {
                let word = text[start..at].trim_end_matches([',', '.', ';', ':']);
                if count > 1 && SPEAKING.contains(&word) {
                    return Some(start);
                }
                count += 1;
                start = at + char.len_utf8();
            }
            _ => {}
        }
    }
    None
}

/// Returns whether a text is almost certainly a command: a tool with a subcommand, or a program
/// with a flag or a pipe.
pub(crate) fn is_surely_a_command(text: &str) -> bool {
    let words: Vec<&str> = text.split_whitespace().collect();
    let Some((program, arguments)) = words.split_first() else {
        return false;
    };
    let is_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "./_-".contains(c);
    let is_flag = |word: &&str| {
        let name = word.trim_start_matches('-');
        name.len() < word.len() && name.starts_with(|c: char| c.is_ascii_alphabetic())
    };
    let is_joined = ["|", "&&"].iter().any(|sign| arguments.contains(sign));
    let is_made = RUNNERS.contains(program) && !arguments.is_empty();
    !is_prose(text)
        && program.chars().all(is_name)
        && program.starts_with(|c: char| c.is_ascii_lowercase() || c == '.')
        && (is_tool(program, arguments) || is_made || is_joined || arguments.iter().any(is_flag))
}

/// Whether the text has a flag, a quote, a pipe or a path.
fn has_shape(text: &str, words: &[&str]) -> bool {
    let is_flag = |word: &&str| word.starts_with('-') && word.len() > 1;
    let is_path = |word: &&str| word.contains('/') && word.len() > 1;
    text.contains(['"', '\'', '|', '$', '>', '<'])
        || text.contains("&&")
        || words.iter().skip(1).any(is_flag)
        || words.iter().any(is_path)
}

/// Whether this is like `node check.js`, with a file that the tasks so far name.
fn names_files(arguments: &[&str], files: &dyn Fn() -> Vec<String>) -> bool {
    if arguments.is_empty() {
        return false;
    }
    let files = files();
    let is_named = |argument: &&&str| files.iter().any(|file| file == **argument);
    let looks_like_a_file = |argument: &&str| {
        argument.rsplit_once('.').is_some_and(|(name, ending)| {
            !name.is_empty()
                && !ending.is_empty()
                && !ending.contains(|c: char| !c.is_alphanumeric())
        })
    };
    let named = arguments.iter().filter(is_named).count();
    let others = arguments.iter().filter(|argument| !is_named(argument));
    named > 0 && others.copied().all(|argument| looks_like_a_file(&argument))
}
