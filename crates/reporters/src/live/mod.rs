mod clip;
mod doing;
mod scene;
mod window;

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use indicatif::{
    ProgressBar, ProgressDrawTarget, ProgressFinish, ProgressState, ProgressStyle, TermLike,
};
use regreen_model::{Event, OutlineRow, Timestamp};

use self::scene::{Frame, Scene};
use crate::line::{Line, Stage};
use crate::narrator::Narrator;
use crate::palette::Palette;
use crate::reporter::Reporter;

const TICK: Duration = Duration::from_millis(100);
const DRAWINGS_PER_SECOND: u8 = 20;
/// A wide character does not fit into one column.
const LEAST_COLUMNS: u16 = 2;

/// The plan and what is being done, at the bottom of a terminal; what has happened scrolls
/// above it. It moves on without events, and leaves nothing behind when it is finished.
pub struct Live {
    narrator: Narrator,
    scene: Arc<Mutex<Scene>>,
    palette: Palette,
    terminal: Box<dyn TermLike>,
    bar: ProgressBar,
    /// A line was printed, and its end has not been.
    has_open_line: bool,
    is_suspended: bool,
}

impl Live {
    pub fn new<T: TermLike + Clone + 'static>(terminal: T, palette: Palette) -> Self {
        let scene = Arc::new(Mutex::new(Scene::default()));
        let target =
            ProgressDrawTarget::term_like_with_hz(Box::new(terminal.clone()), DRAWINGS_PER_SECOND);
        let bar = ProgressBar::with_draw_target(None, target)
            .with_style(style(&scene, terminal.clone(), palette))
            .with_finish(ProgressFinish::AndClear);
        bar.enable_steady_tick(TICK);
        Self {
            narrator: Narrator::default(),
            scene,
            palette,
            terminal: Box::new(terminal),
            bar,
            has_open_line: false,
            is_suspended: false,
        }
    }

    /// Draws at once, not only with the next tick.
    pub fn redraw(&self) {
        self.bar.force_draw();
    }

    fn print(&mut self, line: &Line) {
        if self.terminal.width() >= LEAST_COLUMNS {
            self.bar.println(line.painted(self.palette));
            self.has_open_line = true;
        }
    }

    /// While a person is asked, nothing is drawn.
    fn suspend_or_go_on(&mut self) {
        let is_suspended = locked(&self.scene).is_suspended();
        if is_suspended {
            self.bar.disable_steady_tick();
            self.redraw();
            self.end_line();
        } else if self.is_suspended {
            self.bar.enable_steady_tick(TICK);
        }
        self.is_suspended = is_suspended;
    }

    /// Indicatif fills lines up with blanks and leaves it to the terminal to begin a new one.
    /// What is printed afterwards is to be a line also for those who read along.
    fn end_line(&mut self) {
        let has_view = !locked(&self.scene).is_hidden();
        if std::mem::take(&mut self.has_open_line) && !has_view {
            let ended = self.terminal.write_line("");
            // A terminal that is gone has no lines to end.
            let _ = ended.and_then(|()| self.terminal.flush());
        }
    }
}

/// Draws the scene as it is at that moment, in a terminal as wide as it is at that moment.
fn style<T: TermLike + Clone + 'static>(
    scene: &Arc<Mutex<Scene>>,
    terminal: T,
    palette: Palette,
) -> ProgressStyle {
    let scene = Arc::clone(scene);
    let draw = move |state: &ProgressState, out: &mut dyn fmt::Write| {
        let frame = Frame {
            columns: terminal.width().into(),
            lines: terminal.height().into(),
            elapsed_ms: u64::try_from(state.elapsed().as_millis()).unwrap_or(u64::MAX),
            palette,
        };
        // Writing into memory has nothing to fail on.
        let _ = out.write_str(&locked(&scene).draw(frame).join("\n"));
    };
    ProgressStyle::with_template("{view}")
        .unwrap_or_else(|_| ProgressStyle::default_spinner())
        .with_key("view", draw)
}

/// The scene is whole after every change, so a panic elsewhere does it no harm.
fn locked(scene: &Mutex<Scene>) -> MutexGuard<'_, Scene> {
    scene.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Reporter for Live {
    fn outline(&mut self, rows: &[OutlineRow]) {
        locked(&self.scene).outline(rows);
    }

    fn recall(&mut self, _at: Timestamp, event: &Event) {
        self.narrator.recall(event);
        locked(&self.scene).recall(event);
    }

    fn event(&mut self, now: Timestamp, event: &Event) {
        let has_begun = locked(&self.scene).event(now, event);
        if has_begun {
            self.bar.reset_elapsed();
        }
        for line in self.narrator.tell(now, event) {
            if line.stage == Stage::Happened {
                self.print(&line);
            }
        }
        if has_begun {
            self.suspend_or_go_on();
        }
    }

    fn activity(&mut self, line: &str) {
        locked(&self.scene).activity(line);
    }

    fn finish(&mut self, _now: Timestamp) {
        self.bar.disable_steady_tick();
        self.bar.finish_and_clear();
        self.end_line();
    }
}

impl fmt::Debug for Live {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Live")
            .field("terminal", &self.terminal)
            .finish_non_exhaustive()
    }
}
