//! Reads keys, as the terminal sends them.

use ratatui::crossterm::event::{Event as Read, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use crate::event::{Event, Size};
use crate::key::Key;

/// Returns what happened on the terminal, if it matters here.
pub(crate) fn event(read: Read) -> Option<Event> {
    match read {
        Read::Key(pressed) if pressed.kind != KeyEventKind::Release => key(pressed).map(Event::Key),
        Read::Paste(text) => Some(Event::Pasted(text)),
        Read::Resize(columns, rows) => Some(Event::Resized(Size { columns, rows })),
        _ => None,
    }
}

fn key(pressed: KeyEvent) -> Option<Key> {
    let is_ctrl = pressed.modifiers.contains(KeyModifiers::CONTROL);
    if pressed.modifiers.contains(KeyModifiers::ALT) {
        return None;
    }
    Some(match pressed.code {
        KeyCode::Char(c) if is_ctrl => Key::Ctrl(c.to_ascii_lowercase()),
        KeyCode::Char(c) if !c.is_control() => Key::Char(c),
        KeyCode::Enter => Key::Enter,
        KeyCode::Esc => Key::Esc,
        KeyCode::Backspace => Key::Backspace,
        KeyCode::Delete => Key::Delete,
        KeyCode::Tab => Key::Tab,
        KeyCode::BackTab => Key::BackTab,
        KeyCode::Left => Key::Left,
        KeyCode::Right => Key::Right,
        KeyCode::Up => Key::Up,
        KeyCode::Down => Key::Down,
        KeyCode::Home => Key::Home,
        KeyCode::End => Key::End,
        KeyCode::PageUp => Key::PageUp,
        KeyCode::PageDown => Key::PageDown,
        _ => return None,
    })
}
