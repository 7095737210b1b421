//! Boxes above the panels: menus, confirmations, lines of text, and the help.

use regreen_model::TaskKey;
use regreen_overview::{Action, RunKey};

use crate::key::Key;
use crate::list::Selection;

/// A box that gets all keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Dialog {
    /// The keys. The number is that of the first line on the screen.
    Help(usize),
    Menu(Menu),
    Confirm(Confirm),
    Input(Input),
}

/// Several things to choose from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Menu {
    pub(crate) title: String,
    /// What it is about.
    pub(crate) lines: Vec<String>,
    pub(crate) items: Vec<MenuItem>,
    pub(crate) selection: Selection,
}

/// One of the things to choose from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MenuItem {
    pub(crate) name: String,
    /// What follows from it.
    pub(crate) effect: String,
    pub(crate) choice: Choice,
}

/// What someone has chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Choice {
    Act(RunKey, Action),
    /// Act after another question.
    Confirm(Confirm),
    /// Write what the agent should know.
    WriteContext(RunKey, TaskKey),
    /// Show another run.
    Show(RunKey),
}

/// Something to be sure about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Confirm {
    pub(crate) lines: Vec<String>,
    pub(crate) run: RunKey,
    pub(crate) action: Action,
}

/// A line that someone types.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Input {
    pub(crate) title: String,
    pub(crate) text: String,
    pub(crate) purpose: Purpose,
}

/// What a line is typed for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Words of the rows to show, which are applied with each key.
    Filter,
    /// Words to search the text for.
    Search,
    /// What the agent should know about a task.
    Context(RunKey, TaskKey),
}

/// What a key means to a dialog.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// Nothing: it stays open.
    Open,
    Close,
    Chosen(Choice),
    /// The line has another text.
    Typed(String),
    /// The line is complete.
    Entered(Input),
}

impl Dialog {
    /// Handles a key. `rows` is the height of the screen.
    pub(crate) fn press(&mut self, key: Key, rows: usize) -> Answer {
        match self {
            Self::Help(top) => press_help(top, key, rows),
            Self::Menu(menu) => menu.press(key),
            Self::Confirm(confirm) => confirm.press(key),
            Self::Input(input) => input.press(key),
        }
    }
}

fn press_help(top: &mut usize, key: Key, rows: usize) -> Answer {
    let page = (rows / 2).cast_signed();
    let by = match key {
        Key::Down | Key::Char('j') => 1,
        Key::Up | Key::Char('k') => -1,
        Key::PageDown | Key::Char('.' | ' ') => page,
        Key::PageUp | Key::Char(',') => -page,
        _ => return Answer::Close,
    };
    *top = top.saturating_add_signed(by);
    Answer::Open
}

impl Menu {
    fn press(&mut self, key: Key) -> Answer {
        let length = self.items.len();
        match key {
            Key::Down | Key::Char('j') => self.selection.step(1, length),
            Key::Up | Key::Char('k') => self.selection.step(-1, length),
            Key::Enter => return self.choose(self.selection.at),
            Key::Char(digit) if digit.is_ascii_digit() => {
                let number = digit.to_digit(10).and_then(|digit| digit.checked_sub(1));
                let at = number.and_then(|number| usize::try_from(number).ok());
                return at.map_or(Answer::Open, |at| self.choose(at));
            }
            Key::Esc | Key::Char('q') | Key::Ctrl('c') => return Answer::Close,
            _ => {}
        }
        Answer::Open
    }

    fn choose(&self, at: usize) -> Answer {
        let item = self.items.get(at);
        item.map_or(Answer::Open, |item| Answer::Chosen(item.choice.clone()))
    }
}

impl Confirm {
    /// Only what clearly means yes is a yes.
    fn press(&self, key: Key) -> Answer {
        match key {
            Key::Char('y') | Key::Enter => {
                Answer::Chosen(Choice::Act(self.run.clone(), self.action.clone()))
            }
            Key::Char('n' | 'q') | Key::Esc | Key::Ctrl('c') => Answer::Close,
            _ => Answer::Open,
        }
    }
}

impl Input {
    fn press(&mut self, key: Key) -> Answer {
        match key {
            Key::Char(c) => self.text.push(c),
            Key::Backspace if self.text.pop().is_some() => {}
            Key::Ctrl('u') => self.text.clear(),
            Key::Ctrl('w') => {
                let kept = self.text.trim_end().rfind(' ').map_or(0, |at| at + 1);
                self.text.truncate(kept);
            }
            Key::Enter => return Answer::Entered(self.clone()),
            Key::Esc | Key::Ctrl('c') | Key::Backspace => return Answer::Close,
            _ => return Answer::Open,
        }
        Answer::Typed(self.text.clone())
    }

    /// Adds a text, whose lines become one.
    pub(crate) fn paste(&mut self, text: &str) -> Answer {
        let words: Vec<&str> = text.split_whitespace().collect();
        self.text.push_str(&words.join(" "));
        Answer::Typed(self.text.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn input(text: &str) -> Input {
        Input {
            title: String::new(),
            text: text.to_owned(),
            purpose: Purpose::Search,
        }
    }

    #[track_caller]
    fn check(text: &str, key: Key, expected: &Answer) {
        assert_eq!(input(text).press(key), *expected);
    }

    #[test]
    fn a_line_is_edited_at_its_end() {
        let typed = |text: &str| Answer::Typed(text.to_owned());
        check("a", Key::Char('é'), &typed("aé"));
        check("aé", Key::Backspace, &typed("a"));
        check("", Key::Backspace, &Answer::Close);
        check("one two ", Key::Ctrl('w'), &typed("one "));
        check("one two", Key::Ctrl('u'), &typed(""));
        check("one", Key::Esc, &Answer::Close);
        check("one", Key::Enter, &Answer::Entered(input("one")));
        assert_eq!(input("a ").paste("b\r\n\tc"), typed("a b c"));
    }

    #[test]
    fn only_a_clear_yes_is_a_yes() {
        let run = RunKey {
            place: "p".to_owned(),
            run: "r".to_owned(),
        };
        let confirm = Confirm {
            lines: Vec::new(),
            run: run.clone(),
            action: Action::Stop,
        };
        for key in [Key::Char('y'), Key::Enter] {
            let yes = Answer::Chosen(Choice::Act(run.clone(), Action::Stop));
            assert_eq!(confirm.press(key), yes);
        }
        for key in [Key::Char('n'), Key::Esc, Key::Ctrl('c')] {
            assert_eq!(confirm.press(key), Answer::Close);
        }
        assert_eq!(confirm.press(Key::Char('j')), Answer::Open);
    }
}
