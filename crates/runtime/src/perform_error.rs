use std::error::Error;

use regreen_engine::Input;
use regreen_model::CommandSeq;
use regreen_store::StoreError;
use regreen_workspace::{CreateFileError, EditFileError, ReadError, StepError};

use crate::log_file::LogError;
use crate::process::ProcessError;
use crate::tree::TreeError;
use crate::whole_file::WriteWholeError;

/// Why something was not done.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum PerformError {
    /// Somebody asked to stop.
    Stopped,
    /// Somebody keeps saving the file: the edit stays owed.
    Contended(String),
    /// It would fail the same way again.
    Broken(String),
}

impl PerformError {
    /// What the engine is told.
    pub(crate) fn answer(self, seq: CommandSeq) -> Input {
        match self {
            Self::Stopped => Input::Halted { seq },
            Self::Contended(why) => Input::Contended { seq, why },
            Self::Broken(why) => Input::Broken { seq, why },
        }
    }

    /// With everything that is behind it, outermost first.
    pub(crate) fn broken(error: &dyn Error) -> Self {
        let causes = std::iter::successors(Some(error), |error| (*error).source());
        let mut words: Vec<String> = causes.map(ToString::to_string).collect();
        // What is transparent, or quotes its cause, says the same twice.
        words.dedup_by(|cause, said| said.ends_with(cause.as_str()));
        Self::Broken(words.join(": "))
    }
}

impl<E: Error + 'static> From<EditFileError<E>> for PerformError {
    fn from(error: EditFileError<E>) -> Self {
        match error {
            EditFileError::Contended { .. } | EditFileError::Lock(_) => {
                Self::Contended(error.to_string())
            }
            error => Self::broken(&error),
        }
    }
}

/// Errors that mean that the set-up is broken.
macro_rules! broken {
    ($($error:ty),+) => {$(
        impl From<$error> for PerformError {
            fn from(error: $error) -> Self {
                Self::broken(&error)
            }
        }
    )+};
}

broken!(
    CreateFileError,
    StoreError,
    LogError,
    ProcessError,
    ReadError,
    StepError,
    TreeError,
    WriteWholeError,
    std::io::Error
);
