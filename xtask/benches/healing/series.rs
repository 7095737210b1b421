use std::fmt;
use std::time::Duration;

use crate::patient::{HealError, Patient};
use crate::times::Times;

const ROUNDS: usize = 200;

/// Many rounds of healing, alternating with bare writes to the disk.
#[derive(Debug, Default)]
pub(crate) struct Series {
    healing: Times,
    bare_write: Times,
}

impl Series {
    pub(crate) const HEADING: &str = "file         rounds |  ms by the clock: p50     p99 |  \
         bare durable write: p50     p99 |  ms on the processor: p50     p99";

    pub(crate) fn of(patient: &Patient) -> Result<Self, HealError> {
        let mut series = Self::default();
        for _ in 0..ROUNDS {
            patient.fall_ill()?;
            series.healing.take(|| patient.heal())?;
            series.bare_write.take(|| patient.write_bare())?;
        }
        Ok(series)
    }

    /// Returns the median wall-clock time.
    pub(crate) fn middle(&self) -> Duration {
        self.healing.by_clock(50)
    }
}

impl fmt::Display for Series {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |time: Duration| time.as_secs_f64() * 1e3;
        let (healing, bare) = (&self.healing, &self.bare_write);
        write!(
            f,
            "{ROUNDS:>6} | {:>21.2} {:>7.2} | {:>24.2} {:>7.2} | {:>25.2} {:>7.2}",
            shown(healing.by_clock(50)),
            shown(healing.by_clock(99)),
            shown(bare.by_clock(50)),
            shown(bare.by_clock(99)),
            shown(healing.on_processor(50)),
            shown(healing.on_processor(99)),
        )
    }
}
