use serde::{Deserialize, Serialize};

use crate::FailureKind;

/// The agent could not talk with its model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApiTrouble {
    pub class: TroubleClass,
    pub kind: FailureKind,
    pub message: String,
    /// The HTTP status, where there is one.
    pub status: Option<u16>,
    pub resets: Option<ResetTime>,
}

/// Whom it concerns, and so what can be done about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TroubleClass {
    /// It passes: wait and try again.
    Transient,
    /// Nothing this run does can help.
    Fatal,
    /// The conversation is at its end; a new one may go on.
    Session,
}

/// When it is over, as the server says it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResetTime {
    /// Milliseconds since 1970.
    At(i64),
    /// Milliseconds from when it was said.
    After(u64),
    /// The next time that clocks show this: `4pm (Europe/Berlin)`.
    Clock(ClockTime),
}

/// What a clock shows somewhere.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClockTime {
    /// Month and day, where they are said.
    pub date: Option<(i8, i8)>,
    pub hour: i8,
    pub minute: i8,
    /// By its name in the time zone database.
    pub zone: String,
}
