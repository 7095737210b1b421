//! Splits a shell script into its simple commands, as far as needed to judge them.

use std::iter::Peekable;
use std::str::Chars;

/// A simple command: its words without quotes, and the files it writes to. A `$` in a word stands
/// for an expansion.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Command {
    pub(super) words: Vec<String>,
    pub(super) writes: Vec<String>,
}

/// How deeply substitutions may be nested.
const MAX_DEPTH: usize = 8;

/// Returns the commands of a script, including those in substitutions; `None` if it can't be
/// parsed.
pub(super) fn read(text: &str) -> Option<Vec<Command>> {
    let mut reader = Reader {
        rest: text.chars().peekable(),
        commands: Vec::new(),
    };
    reader.list(None, MAX_DEPTH)?;
    Some(reader.commands)
}

struct Reader<'t> {
    rest: Peekable<Chars<'t>>,
    commands: Vec<Command>,
}

/// The role of the next word.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Word,
    Written,
    Read,
}

impl Reader<'_> {
    /// Parses commands up to `end`, or to the end of the script.
    fn list(&mut self, end: Option<char>, depth: usize) -> Option<()> {
        let depth = depth.checked_sub(1)?;
        let (mut command, mut role) = (Command::default(), Role::Word);
        loop {
            match self.rest.peek().copied() {
                None => break,
                c if c == end => break,
                Some('\n' | ';' | '|' | '&') => {
                    self.rest.next();
                    self.close(&mut command);
                }
                Some(c) if c.is_whitespace() => drop(self.rest.next()),
                Some('(') => {
                    self.rest.next();
                    self.close(&mut command);
                    self.list(Some(')'), depth)?;
                }
                // A script with an unmatched parenthesis can't be judged.
                Some(')') => return None,
                Some('#') => while self.rest.next_if(|c| *c != '\n').is_some() {},
                Some('>') => role = self.written()?,
                Some('<') => {
                    self.rest.next();
                    // Here-documents and process substitutions aren't supported.
                    if self.rest.next_if(|c| "<(&>".contains(*c)).is_some() {
                        return None;
                    }
                    role = Role::Read;
                }
                Some(_) => {
                    let word = self.word(end, depth)?;
                    let is_number = word.bytes().all(|byte| byte.is_ascii_digit());
                    let is_redirected = self.rest.peek().is_some_and(|c| "<>".contains(*c));
                    match role {
                        Role::Word if is_number && is_redirected && !word.is_empty() => {}
                        Role::Word => command.words.push(word),
                        Role::Written => command.writes.push(word),
                        Role::Read => {}
                    }
                    role = Role::Word;
                }
            }
        }
        if role != Role::Word || self.rest.next() != end {
            return None;
        }
        self.close(&mut command);
        Some(())
    }

    fn close(&mut self, command: &mut Command) {
        self.commands.push(std::mem::take(command));
    }

    /// Parses the text after `>`: a file, or a stream such as `&1`.
    fn written(&mut self) -> Option<Role> {
        self.rest.next();
        self.rest.next_if(|c| ">|".contains(*c));
        if self.rest.next_if_eq(&'&').is_none() {
            return Some(Role::Written);
        }
        let stream = self.rest.next_if(|c| c.is_ascii_digit() || *c == '-');
        stream.map(|_| Role::Word)
    }

    fn word(&mut self, end: Option<char>, depth: usize) -> Option<String> {
        let mut word = String::new();
        while let Some(c) = self.rest.peek().copied() {
            if Some(c) == end || c.is_whitespace() || ";|&()<>".contains(c) {
                break;
            }
            self.rest.next();
            match c {
                '\'' => self.plain(&mut word)?,
                '"' => self.quoted(&mut word, depth)?,
                '\\' => word.extend(self.rest.next().filter(|c| *c != '\n')),
                '`' | '$' => self.substitution(c, &mut word, depth)?,
                c => word.push(c),
            }
        }
        Some(word)
    }

    fn plain(&mut self, word: &mut String) -> Option<()> {
        loop {
            match self.rest.next()? {
                '\'' => return Some(()),
                c => word.push(c),
            }
        }
    }

    fn quoted(&mut self, word: &mut String, depth: usize) -> Option<()> {
        loop {
            match self.rest.next()? {
                '"' => return Some(()),
                '\\' => word.push(self.rest.next()?),
                c @ ('`' | '$') => self.substitution(c, word, depth)?,
                c => word.push(c),
            }
        }
    }

    /// Parses a substitution or a variable.
    fn substitution(&mut self, c: char, word: &mut String, depth: usize) -> Option<()> {
        word.push('$');
        match (c, self.rest.peek()) {
            ('`', _) => self.list(Some('`'), depth),
            (_, Some('(')) => {
                self.rest.next();
                self.list(Some(')'), depth)
            }
            // An expansion may contain commands.
            (_, Some('{' | '\'' | '"')) => None,
            _ => Some(()),
        }
    }
}
