//! What each key does: one table, which also is the help.

use crate::key::Key;
use crate::state::Panel;

/// What a key asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Command {
    Down,
    Up,
    PageDown,
    PageUp,
    First,
    Last,
    NextPanel,
    PreviousPanel,
    Go(Panel),
    Open,
    Back,
    NextTab,
    PreviousTab,
    Search,
    NextMatch,
    PreviousMatch,
    NextFilter,
    GoToCurrent,
    Follow,
    GoToBlamed,
    Wrap,
    ScrollLeft,
    ScrollRight,
    Answer,
    Retry,
    Skip,
    Done,
    Stop,
    EarlierRuns,
    Help,
    Refresh,
    Suspend,
    Quit,
}

/// Where a key works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    Everywhere,
    Lists,
    Text,
}

impl Scope {
    pub(crate) fn includes(self, panel: Panel) -> bool {
        match self {
            Self::Everywhere => true,
            Self::Lists => panel != Panel::Text,
            Self::Text => panel == Panel::Text,
        }
    }

    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Everywhere => "Everywhere",
            Self::Lists => "In a list",
            Self::Text => "In a text",
        }
    }
}

/// One line of the table.
#[derive(Debug)]
pub(crate) struct Binding {
    pub(crate) keys: &'static [Key],
    pub(crate) scope: Scope,
    pub(crate) command: Command,
    /// What it does, for the help.
    pub(crate) words: &'static str,
    /// What it does in a word, for the last row of the screen; empty if it isn't named there.
    pub(crate) hint: &'static str,
}

const fn binding(
    keys: &'static [Key],
    scope: Scope,
    command: Command,
    words: &'static str,
    hint: &'static str,
) -> Binding {
    Binding {
        keys,
        scope,
        command,
        words,
        hint,
    }
}

use Command as Do;
use Key::{Char, Ctrl};
use Scope::{Everywhere, Lists, Text};

/// All keys. The first line that fits counts.
#[rustfmt::skip]
pub(crate) const BINDINGS: &[Binding] = &[
    binding(&[Char('?')], Everywhere, Do::Help, "show the keys", "keys"),
    binding(&[Char('q'), Ctrl('c')], Everywhere, Do::Quit, "quit; runs go on", "quit"),
    binding(&[Char('j'), Key::Down], Everywhere, Do::Down, "down", ""),
    binding(&[Char('k'), Key::Up], Everywhere, Do::Up, "up", ""),
    binding(&[Char('.'), Key::PageDown, Ctrl('d')], Everywhere, Do::PageDown, "a page down", ""),
    binding(&[Char(','), Key::PageUp, Ctrl('u')], Everywhere, Do::PageUp, "a page up", ""),
    binding(&[Char('<'), Char('g'), Key::Home], Everywhere, Do::First, "to the first line", ""),
    binding(&[Char('>'), Char('G'), Key::End], Everywhere, Do::Last, "to the last line", ""),
    binding(&[Char('l'), Key::Right, Key::Tab], Everywhere, Do::NextPanel, "next panel", ""),
    binding(&[Char('h'), Key::Left, Key::BackTab], Everywhere, Do::PreviousPanel, "previous panel", ""),
    binding(&[Char('1')], Everywhere, Do::Go(Panel::Runs), "to the runs", ""),
    binding(&[Char('2')], Everywhere, Do::Go(Panel::Tasks), "to the tasks", ""),
    binding(&[Char('3')], Everywhere, Do::Go(Panel::Attempts), "to the attempts", ""),
    binding(&[Char('4')], Everywhere, Do::Go(Panel::Text), "to the text", ""),
    binding(&[Key::Enter], Lists, Do::Open, "open what is selected", ""),
    binding(&[Key::Esc], Everywhere, Do::Back, "back; in a filtered list, show everything", ""),
    binding(&[Char('a')], Everywhere, Do::Answer, "answer the question about the task, or of the run", "answer"),
    binding(&[Char('r')], Everywhere, Do::Retry, "retry the task", "retry"),
    binding(&[Char('s')], Everywhere, Do::Skip, "skip the task", "skip"),
    binding(&[Char('d')], Everywhere, Do::Done, "mark the task as done, without verifying it", "done"),
    binding(&[Char('S')], Everywhere, Do::Stop, "stop the run, now or after its current task", "stop"),
    binding(&[Char('e')], Everywhere, Do::EarlierRuns, "show another run of the same spec", ""),
    binding(&[Char('/')], Lists, Do::Search, "filter the list by words", "filter"),
    binding(&[Char('/')], Text, Do::Search, "search the text", "search"),
    binding(&[Char('v')], Lists, Do::NextFilter, "all, open, failed, healed, done or marked tasks", ""),
    binding(&[Char('c')], Everywhere, Do::GoToCurrent, "to the task that the run works on", ""),
    binding(&[Char('f')], Everywhere, Do::Follow, "follow the run and the end of its log", "follow"),
    binding(&[Char(']')], Everywhere, Do::NextTab, "next: log, Verify, diff, prompt, evidence", "text"),
    binding(&[Char('[')], Everywhere, Do::PreviousTab, "previous text", ""),
    binding(&[Char('n')], Text, Do::NextMatch, "next match", ""),
    binding(&[Char('N')], Text, Do::PreviousMatch, "previous match", ""),
    binding(&[Char('b')], Everywhere, Do::GoToBlamed, "to the blamed line", "blamed"),
    binding(&[Char('w')], Everywhere, Do::Wrap, "wrap long lines, or not", ""),
    binding(&[Char('H')], Everywhere, Do::ScrollLeft, "scroll left", ""),
    binding(&[Char('L')], Everywhere, Do::ScrollRight, "scroll right", ""),
    binding(&[Char('R'), Ctrl('l')], Everywhere, Do::Refresh, "read and draw everything anew", ""),
    binding(&[Ctrl('z')], Everywhere, Do::Suspend, "suspend", ""),
];

/// Returns what a key does in a panel.
pub(crate) fn command(key: Key, panel: Panel) -> Option<Command> {
    let found = BINDINGS
        .iter()
        .find(|binding| binding.scope.includes(panel) && binding.keys.contains(&key));
    found.map(|binding| binding.command)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_key_means_two_things_in_one_place() {
        for panel in Panel::ALL {
            let mut seen = Vec::new();
            let here = BINDINGS.iter().filter(|one| one.scope.includes(panel));
            for key in here.flat_map(|binding| binding.keys) {
                assert!(!seen.contains(&key), "{key} in {panel:?}");
                seen.push(key);
            }
        }
    }
}
