//! The live view: the plan and the current activity at the bottom of a terminal, with past events
//! scrolling above.

mod estimate;
mod painter;
mod screen;
mod stage;

use std::fmt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use regreen_model::{Event, OutlineRow, Timestamp};

use self::painter::Painter;
pub use self::painter::{Size, Terminal};
use self::screen::{Frame, Screen};
use crate::event_lines::EventFormatter;
use crate::reporter::Reporter;
use crate::status_line::{Palette, StatusLine};

const TICK: Duration = Duration::from_millis(100);

/// Shows a run on a terminal. It keeps updating between events, and leaves only its lines behind
/// when it is finished or dropped.
pub struct Live<T: Terminal> {
    shared: Arc<Shared<T>>,
    ticker: Option<JoinHandle<()>>,
}

struct Shared<T> {
    view: Mutex<View<T>>,
    finished: Condvar,
}

struct View<T> {
    formatter: EventFormatter,
    screen: Screen,
    painter: Painter<T>,
    palette: Palette,
    /// The time of the last event, by the event's clock and by this process's.
    clock: (Timestamp, Instant),
    is_finished: bool,
}

impl<T: Terminal> Live<T> {
    /// Creates a view on this terminal.
    pub fn new(terminal: T, palette: Palette) -> Self {
        let shared = Arc::new(Shared {
            view: Mutex::new(View {
                formatter: EventFormatter::default(),
                screen: Screen::default(),
                painter: Painter::new(terminal, palette),
                palette,
                clock: (Timestamp::default(), instant()),
                is_finished: false,
            }),
            finished: Condvar::new(),
        });
        let ticker = Some(tick(Arc::clone(&shared)));
        Self { shared, ticker }
    }

    /// Redraws now instead of at the next tick.
    pub fn redraw(&self) {
        self.view().draw(Vec::new());
    }

    fn view(&self) -> MutexGuard<'_, View<T>> {
        self.shared.view()
    }

    fn end(&mut self) {
        self.view().finish();
        self.shared.finished.notify_all();
        if let Some(ticker) = self.ticker.take() {
            // A view that has panicked has nothing left to draw.
            let _ = ticker.join();
        }
    }
}

impl<T> Shared<T> {
    /// Locks the view. It is consistent after every change, so a panic elsewhere does no harm.
    fn view(&self) -> MutexGuard<'_, View<T>> {
        self.view.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: Terminal> View<T> {
    fn draw(&mut self, lines: Vec<StatusLine>) {
        if self.is_finished {
            return;
        }
        let size = self.painter.room();
        let (at, since) = self.clock;
        let elapsed = u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX);
        let rows = self.screen.rows(Frame {
            columns: size.columns,
            lines: size.lines,
            now: at.plus(elapsed),
            palette: self.palette,
        });
        // The next Ctrl-C ends the process at once, and must not leave the terminal without echo.
        let hides_echo = !rows.is_empty() && !self.screen.is_stopping();
        self.painter.hide_echo(hides_echo);
        self.painter.draw(lines, rows);
    }

    fn finish(&mut self) {
        if !self.is_finished {
            self.painter.draw(self.formatter.flush(), Vec::new());
            self.painter.hide_echo(false);
        }
        self.is_finished = true;
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "between two events only the clock of this process goes on"
)]
fn instant() -> Instant {
    Instant::now()
}

#[expect(
    clippy::disallowed_methods,
    reason = "the view has to move while no event comes"
)]
fn tick<T: Terminal>(shared: Arc<Shared<T>>) -> JoinHandle<()> {
    std::thread::spawn(move || {
        let mut view = shared.view();
        while !view.is_finished {
            let waited = shared.finished.wait_timeout(view, TICK);
            view = waited.unwrap_or_else(PoisonError::into_inner).0;
            if !view.screen.is_suspended() {
                view.draw(Vec::new());
            }
        }
    })
}

impl<T: Terminal> Reporter for Live<T> {
    fn outline(&mut self, rows: &[OutlineRow]) {
        self.view().screen.outline(rows);
    }

    fn recall(&mut self, _at: Timestamp, event: &Event) {
        let mut view = self.view();
        view.formatter.recall(event);
        view.screen.recall(event);
    }

    fn event(&mut self, now: Timestamp, event: &Event) {
        let mut view = self.view();
        view.clock = (now, instant());
        view.screen.event(now, event);
        let lines = view.formatter.format(now, event);
        let is_suspended = view.screen.is_suspended();
        if !lines.is_empty() || is_suspended {
            view.draw(lines);
        }
        if is_suspended {
            view.painter.forget_printed();
        }
    }

    fn set_clock(&mut self, now: Timestamp) {
        self.view().clock = (now, instant());
    }

    fn activity(&mut self, line: &str) {
        self.view().screen.activity(line);
    }

    fn finish(&mut self, _now: Timestamp) {
        self.end();
    }
}

impl<T: Terminal> Drop for Live<T> {
    fn drop(&mut self) {
        self.end();
    }
}

impl<T: Terminal> fmt::Debug for Live<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Live").finish_non_exhaustive()
    }
}
