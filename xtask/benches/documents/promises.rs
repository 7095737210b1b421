//! The promised times.

use std::time::Duration;

use crate::made_up_file::Style;
use crate::measurement::{Measurement, milliseconds};

pub(crate) const LARGEST: usize = 100_000;
const READ_AND_TICK: Duration = Duration::from_millis(30);
const FIX: Duration = Duration::from_millis(5);
/// Twice the tasks may take twice the time, plus some noise; quadratic growth would take four
/// times. Compared for files that do not fit into a cache.
const TWICE: f64 = 2.6;

pub(crate) fn broken(measurements: &[Measurement]) -> Vec<String> {
    let mut broken = Vec::new();
    for at in measurements {
        let promised = match at.tasks {
            1_000 => ("a fix inserted", at.fix, FIX),
            10_000 => (
                "read and one task ticked",
                at.read_and_tick(),
                READ_AND_TICK,
            ),
            LARGEST => (
                "twice the tasks",
                at.read_and_tick(),
                twice(measurements, at.style),
            ),
            _ => continue,
        };
        let (what, took, limit) = promised;
        if took > limit {
            broken.push(format!(
                "{} file of {} tasks, {what}: {:.1} ms, promised {:.1}",
                at.style,
                at.tasks,
                milliseconds(took),
                milliseconds(limit)
            ));
        }
    }
    broken
}

fn twice(measurements: &[Measurement], style: Style) -> Duration {
    let is_half = |other: &&Measurement| other.style == style && other.tasks == LARGEST / 2;
    let half = measurements.iter().find(is_half);
    half.map_or(Duration::MAX, |half| half.read_and_tick().mul_f64(TWICE))
}
