//! The interface without a terminal: keys and events in, screens and actions out.

mod deciding;
mod hostile;
mod machine;
mod moving;
mod reading;
mod screens;

use std::sync::Arc;

use ratatui::buffer::Buffer;
use regreen_overview::{Action, Machine as _, RunKey};

use self::machine::{START, TestMachine};
use crate::event::{Effect, Event, Size};
use crate::key::Key;
use crate::state::{Panel, State};
use crate::update::update;
use crate::view::{Theme, view};
use crate::worker::perform;

const WIDE: Size = Size {
    columns: 120,
    rows: 30,
};

/// The interface, and the machine that it shows.
struct Ui {
    state: State,
    machine: Arc<TestMachine>,
    quits: bool,
    /// How often everything was drawn anew.
    repaints: usize,
}

impl Ui {
    fn new() -> Self {
        Self::of(TestMachine::default(), WIDE, None)
    }

    fn of(machine: TestMachine, size: Size, only: Option<RunKey>) -> Self {
        let now = machine.now();
        let (state, effects) = State::new(size, now, only);
        let mut ui = Self {
            state,
            machine: Arc::new(machine),
            quits: false,
            repaints: 0,
        };
        ui.perform(effects);
        ui
    }

    fn event(&mut self, event: Event) {
        let effects = update(&mut self.state, event);
        self.perform(effects);
    }

    fn perform(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            match effect {
                Effect::Quit => self.quits = true,
                Effect::Repaint => self.repaints += 1,
                Effect::Suspend => {}
                effect => {
                    if let Some(event) = perform(&*self.machine, effect) {
                        self.event(event);
                    }
                }
            }
        }
    }

    /// Presses keys: letters, and names in brackets, such as `jj<enter>`.
    #[track_caller]
    fn press(&mut self, keys: &str) -> &mut Self {
        let mut rest = keys;
        while let Some(c) = rest.chars().next() {
            let (key, length) = match rest.strip_prefix('<').and_then(|name| name.split_once('>')) {
                Some((name, _)) => (named(name), name.len() + 2),
                None => (Key::Char(c), c.len_utf8()),
            };
            self.event(Event::Key(key));
            rest = &rest[length..];
        }
        self
    }

    fn screen(&self) -> String {
        let frame = view(&self.state, Theme::Coloured);
        text(&frame.buffer)
    }

    #[track_caller]
    fn shows(&self, words: &str) -> &Self {
        let screen = self.screen();
        assert!(screen.contains(words), "no {words:?} in\n{screen}");
        self
    }

    #[track_caller]
    fn hides(&self, words: &str) -> &Self {
        let screen = self.screen();
        assert!(!screen.contains(words), "{words:?} in\n{screen}");
        self
    }

    fn done(&self) -> Vec<(RunKey, Action)> {
        self.machine.done.lock().unwrap().clone()
    }

    fn selected(&self) -> String {
        self.state.row().unwrap().key.id.to_string()
    }
}

#[track_caller]
fn named(name: &str) -> Key {
    match name {
        "lt" => Key::Char('<'),
        "enter" => Key::Enter,
        "esc" => Key::Esc,
        "tab" => Key::Tab,
        "backtab" => Key::BackTab,
        "down" => Key::Down,
        "up" => Key::Up,
        "left" => Key::Left,
        "right" => Key::Right,
        "home" => Key::Home,
        "end" => Key::End,
        "pgup" => Key::PageUp,
        "pgdn" => Key::PageDown,
        "backspace" => Key::Backspace,
        name => match name.strip_prefix("c-").and_then(|c| c.chars().next()) {
            Some(c) => Key::Ctrl(c),
            None => panic!("no key is called {name}"),
        },
    }
}

/// Returns the rows of a frame.
fn text(buffer: &Buffer) -> String {
    let width = usize::from(buffer.area.width).max(1);
    let mut text = String::new();
    for row in buffer.content().chunks(width) {
        let mut line = String::new();
        let mut covered = 0;
        for cell in row {
            if covered > 0 {
                covered -= 1;
                continue;
            }
            line.push_str(cell.symbol());
            covered = regreen_reporters::text_width(cell.symbol()).saturating_sub(1);
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}
