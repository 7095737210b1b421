use std::process::ExitCode;
use std::time::Duration;

/// Milliseconds of CPU time per task, over the bare loop.
const OVER_BARE: f64 = 6.0;
/// CPU time as a multiple of the bare loop's.
const TIMES_BARE: f64 = 1.4;
const TIMES_BARE_IN_GIT: f64 = 2.0;
/// The number of syncs per task.
const SYNCS: f64 = 14.0;
/// The memory of regreen itself, in MB.
const MEMORY: f64 = 20.0;
const START_UP: Duration = Duration::from_millis(30);
/// Milliseconds of CPU time per task and MB of task file.
const GROWTH: f64 = 10.0;

/// The promised figures, as measured.
#[derive(Debug)]
pub(super) struct Bars {
    pub(super) over_bare: f64,
    pub(super) times_bare: f64,
    pub(super) times_bare_in_git: f64,
    pub(super) times_bare_among_many_files: f64,
    /// `None` if unknown.
    pub(super) syncs: Option<f64>,
    pub(super) memory: f64,
    pub(super) start_up: Duration,
    pub(super) growth: f64,
}

impl Bars {
    /// Prints which promises are kept and which are not.
    pub(super) fn print(&self) -> ExitCode {
        println!("\n{:<52} {:>8} {:>9}", "", "measured", "promised");
        let millis = |time: Duration| time.as_secs_f64() * 1e3;
        let rows = [
            (
                "ms of processor time per task over the bare loop",
                Some(self.over_bare),
                OVER_BARE,
            ),
            ("times the bare loop", Some(self.times_bare), TIMES_BARE),
            (
                "times the bare loop in git, with commits",
                Some(self.times_bare_in_git),
                TIMES_BARE_IN_GIT,
            ),
            (
                "times the bare loop among 50,000 files",
                Some(self.times_bare_among_many_files),
                TIMES_BARE_IN_GIT,
            ),
            ("syncs per task (strace)", self.syncs, SYNCS),
            ("MB of memory at most", Some(self.memory), MEMORY),
            (
                "ms from the start to the first agent",
                Some(millis(self.start_up)),
                millis(START_UP),
            ),
            ("ms per task and MB of task file", Some(self.growth), GROWTH),
        ];
        let kept = rows.map(|(what, measured, promised)| {
            let is_kept = measured.is_none_or(|measured| measured <= promised);
            let shown = measured.map_or("no strace".to_owned(), |number| format!("{number:.1}"));
            let verdict = if is_kept { "" } else { "  NOT KEPT" };
            println!("{what:<52} {shown:>8} {promised:>9.1}{verdict}");
            is_kept
        });
        match kept.iter().all(|is_kept| *is_kept) {
            true => ExitCode::SUCCESS,
            false => ExitCode::FAILURE,
        }
    }
}
