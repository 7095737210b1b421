//! Kinds of simulated agents.

use crate::rng::Rng;

/// A simulated agent: most do a bit of everything, some always do the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Character {
    Mixed,
    Does(Deed),
}

/// What an agent does in an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Deed {
    /// Does the work and says so.
    Works,
    /// Says so, but the work is not done.
    Lies,
    /// Does the work and says nothing.
    IsSilent,
    /// Does nothing and says it is done.
    IsIdle,
    ReportsFailure,
    Contradicts,
    /// Asks for other rows.
    AsksForRows,
    TimesOutAtWork,
    TimesOutStuck,
    LosesSession,
    IsRateLimited,
    /// Ticks every row, its own included.
    TicksAll,
    DeletesRow,
    UnticksDone,
    EditsVerify,
    AddsRow,
    AddsTickedRow,
    /// Writes the file with other line endings.
    ChangesLineEndings,
    EmptiesFile,
    EditsTitle,
    /// Its program is missing.
    IsMissing,
}

impl Deed {
    pub(crate) const ALL: [Self; 21] = [
        Self::Works,
        Self::Lies,
        Self::IsSilent,
        Self::IsIdle,
        Self::ReportsFailure,
        Self::Contradicts,
        Self::AsksForRows,
        Self::TimesOutAtWork,
        Self::TimesOutStuck,
        Self::LosesSession,
        Self::IsRateLimited,
        Self::TicksAll,
        Self::DeletesRow,
        Self::UnticksDone,
        Self::EditsVerify,
        Self::AddsRow,
        Self::AddsTickedRow,
        Self::ChangesLineEndings,
        Self::EmptiesFile,
        Self::EditsTitle,
        Self::IsMissing,
    ];
}

impl Character {
    pub(crate) fn any(rng: &mut Rng) -> Self {
        if rng.below(5) < 4 {
            return Self::Mixed;
        }
        Self::Does(rng.pick(Deed::ALL).unwrap_or(Deed::Works))
    }
}
