//! Keys, as the interface knows them.

use std::fmt;

/// A key that someone pressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Key {
    Char(char),
    Ctrl(char),
    Enter,
    Esc,
    Backspace,
    Delete,
    Tab,
    BackTab,
    Left,
    Right,
    Up,
    Down,
    Home,
    End,
    PageUp,
    PageDown,
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self {
            Self::Char(' ') => "space",
            Self::Char(c) => return write!(f, "{c}"),
            Self::Ctrl(c) => return write!(f, "ctrl-{c}"),
            Self::Enter => "enter",
            Self::Esc => "esc",
            Self::Backspace => "backspace",
            Self::Delete => "delete",
            Self::Tab => "tab",
            Self::BackTab => "shift-tab",
            Self::Left => "←",
            Self::Right => "→",
            Self::Up => "↑",
            Self::Down => "↓",
            Self::Home => "home",
            Self::End => "end",
            Self::PageUp => "page up",
            Self::PageDown => "page down",
        };
        f.write_str(name)
    }
}
