//! Kinds of simulated agents.

use crate::plan_attack::PlanAttack;
use crate::rng::Rng;

/// The character of a simulated agent: most do a bit of everything, some always do the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Character {
    Mixed,
    Does(AgentAction),
}

/// An agent's behaviour in an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AgentAction {
    /// Does the work and signals completion.
    Works,
    /// Signals completion without doing the work.
    Lies,
    /// Does the work without a signal.
    IsSilent,
    /// Does nothing and signals completion.
    IsIdle,
    ReportsFailure,
    Contradicts,
    /// Asks for other rows.
    AsksForRows,
    TimesOutAtWork,
    TimesOutStuck,
    LosesSession,
    IsRateLimited,
    /// Does the work and breaks another task's.
    BreaksOthers,
    /// Does the work and changes the task file.
    Attacks(PlanAttack),
    /// Its program is missing.
    IsMissing,
}

impl AgentAction {
    const PLAIN: [Self; 13] = [
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
        Self::IsMissing,
        Self::BreaksOthers,
    ];

    /// Picks any action.
    pub(crate) fn any(rng: &mut Rng) -> Self {
        let attacks = PlanAttack::ALL.map(Self::Attacks);
        let all = Self::PLAIN.into_iter().chain(attacks);
        rng.pick(all).unwrap_or(Self::Works)
    }
}

impl Character {
    pub(crate) fn any(rng: &mut Rng) -> Self {
        if rng.below(5) < 4 {
            return Self::Mixed;
        }
        Self::Does(AgentAction::any(rng))
    }
}
