//! The times that are promised.

use std::time::Duration;

use crate::made_up_file::Style;
use crate::measurement::{Measurement, milliseconds};

const READ_AND_TICK: Duration = Duration::from_millis(30);
const FIX: Duration = Duration::from_millis(5);
/// Ten times the tasks may take this many times the time: caches are finite.
const TENFOLD: u32 = 15;

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
            _ => (
                "ten times the tasks",
                at.read_and_tick(),
                tenfold(measurements, at.style),
            ),
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

fn tenfold(measurements: &[Measurement], style: Style) -> Duration {
    let is_base = |other: &&Measurement| other.style == style && other.tasks == 10_000;
    let base = measurements.iter().find(is_base);
    base.map_or(Duration::MAX, |base| base.read_and_tick() * TENFOLD)
}
