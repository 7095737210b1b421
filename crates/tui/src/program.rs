//! The loop: events change the state, and the screen shows it.

use std::io::{self, PipeReader, Read as _};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use ratatui::crossterm::event::read;
use regreen_overview::{Machine, RunKey};
use signal_hook::consts::SIGTSTP;
use signal_hook::low_level::emulate_default_handler;

use crate::event::{Effect, Event};
use crate::keyboard;
use crate::screen::Screen;
use crate::state::State;
use crate::update::update;
use crate::view::{Theme, view};
use crate::worker::{Workers, spawn};

/// The time between two frames: 30 in a second at most.
const FRAME: Duration = Duration::from_nanos(1_000_000_000 / 30);
/// How long the first frame waits for a run to show, so that it isn't an empty one.
const FIRST: Duration = Duration::from_millis(25);
/// How often the times on the screen are renewed while a run is active.
const TICK: Duration = Duration::from_secs(1);

/// What to show, and how.
#[derive(Debug)]
pub struct Options {
    /// The only run to show; `None` for all runs of the machine.
    pub only: Option<RunKey>,
    /// Whether there are colors.
    pub theme: Theme,
    /// Becomes readable when a signal asks the process to end.
    pub stop: PipeReader,
}

/// Why the interface couldn't be shown.
#[derive(Debug, thiserror::Error)]
pub enum TuiError {
    /// The terminal can't be used.
    #[error("cannot use the terminal")]
    Terminal(#[from] io::Error),
    /// A defect.
    #[error("the interface failed")]
    Panicked,
}

/// Shows the runs of a machine on the terminal until the person leaves.
///
/// # Errors
/// Returns an error if the terminal can't be used.
pub fn run(machine: &Arc<dyn Machine>, options: Options) -> Result<(), TuiError> {
    let (sender, events) = channel();
    let workers = Workers::start(machine, &sender)?;
    let (state, effects) = State::new(Screen::size()?, machine.now(), options.only);
    effects.into_iter().for_each(|effect| workers.put(effect));
    let mut screen = Screen::take()?;
    listen(options.stop, &sender)?;
    let program = Program {
        machine: &**machine,
        state,
        theme: options.theme,
        workers,
    };
    program.run(&mut screen, &events)
}

/// Listens for keys and for signals.
fn listen(mut stop: PipeReader, events: &Sender<Event>) -> io::Result<()> {
    spawn("keys", events, |events| {
        loop {
            let event = match read() {
                Ok(read) => keyboard::event(read),
                // The terminal is gone.
                Err(_) => Some(Event::Quit),
            };
            let is_last = matches!(event, Some(Event::Quit));
            if event.is_some_and(|event| events.send(event).is_err()) || is_last {
                return;
            }
        }
    })?;
    spawn("signals", events, move |events| {
        // It only ever ends.
        let _ = stop.read(&mut [0]);
        let _ = events.send(Event::Quit);
    })
}

/// The interface while it is shown.
struct Program<'m> {
    machine: &'m dyn Machine,
    state: State,
    theme: Theme,
    workers: Workers,
}

/// Whether to go on.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    Continue,
    End,
}

impl Program<'_> {
    fn run(mut self, screen: &mut Screen, events: &Receiver<Event>) -> Result<(), TuiError> {
        let began = Instant::now();
        let mut drawn_at: Option<Instant> = None;
        let mut is_drawn = false;
        loop {
            let now = Instant::now();
            let next_frame = match drawn_at {
                Some(at) => at + FRAME,
                None if self.state.run.is_some() => now,
                None => began + FIRST,
            };
            if !is_drawn && now >= next_frame {
                screen.show(view(&self.state, self.theme))?;
                (is_drawn, drawn_at) = (true, Some(now));
            }
            let event = if is_drawn {
                self.next(events)
            } else {
                let left = next_frame.saturating_duration_since(Instant::now());
                events.recv_timeout(left)
            };
            match event {
                Ok(Event::Panicked) | Err(RecvTimeoutError::Disconnected) => {
                    return Err(TuiError::Panicked);
                }
                Ok(event) => {
                    is_drawn = false;
                    if self.handle(event, screen)? == Next::End {
                        return Ok(());
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    /// Waits for the next event. While a run is active, time is one as well.
    fn next(&self, events: &Receiver<Event>) -> Result<Event, RecvTimeoutError> {
        if !self.state.shows_time() {
            return events.recv().map_err(|_| RecvTimeoutError::Disconnected);
        }
        match events.recv_timeout(TICK) {
            Err(RecvTimeoutError::Timeout) => Ok(Event::Tick(self.machine.now())),
            other => other,
        }
    }

    fn handle(&mut self, event: Event, screen: &mut Screen) -> Result<Next, TuiError> {
        if matches!(event, Event::Resized(_)) {
            screen.forget();
        }
        for effect in update(&mut self.state, event) {
            match effect {
                Effect::Quit => return Ok(Next::End),
                Effect::Repaint => screen.forget(),
                Effect::Suspend => self.suspend(screen)?,
                effect => self.workers.put(effect),
            }
        }
        Ok(Next::Continue)
    }

    /// Stops the process, as the shell expects of Ctrl-Z.
    fn suspend(&mut self, screen: &mut Screen) -> Result<(), TuiError> {
        screen.suspend(|| emulate_default_handler(SIGTSTP))?;
        // The terminal may have another size by now.
        let size = Screen::size()?;
        update(&mut self.state, Event::Resized(size));
        Ok(())
    }
}
