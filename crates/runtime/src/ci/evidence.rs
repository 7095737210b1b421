//! Saves the logs of failed checks, and finds the cause in them.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use regreen_diagnosis::{Explanation, OwnRules, Scanner, evidence_of};
use regreen_forge::{CommitId, Conclusion, Forge, LogEnd, Red};
use regreen_model::{Ending, Failure, Source, visible_line};

use super::{CiError, FailedCheck};
use crate::log_file::LogFile;
use crate::spec_paths::SpecPaths;

const LINE_CHARS: usize = 300;

/// What is known of a failed check.
#[derive(Clone, Debug, Default)]
pub(super) struct CheckEvidence {
    /// The cause.
    pub(super) failure: Option<Failure>,
    /// For people, and for the fix task.
    pub(super) shown: FailedCheck,
    /// The command that printed the cause, as the log calls it. Untrusted.
    pub(super) commands: BTreeSet<String>,
    /// The file that the log blames, as it calls it.
    pub(super) blamed: Option<String>,
}

impl CheckEvidence {
    /// Identifies the cause: the same text means the same cause.
    pub(super) fn fingerprint(&self) -> &str {
        let of_failure = self
            .failure
            .as_ref()
            .map(|failure| failure.fingerprint.as_str());
        let of_summary = self.shown.blocker.as_deref();
        of_failure.or(of_summary).unwrap_or(&self.shown.conclusion)
    }
}

/// Where logs go, and what reads them.
#[derive(Debug)]
pub(super) struct LogReader<'a> {
    pub(super) paths: &'a SpecPaths,
    pub(super) own_rules: &'a Arc<OwnRules>,
    pub(super) folder: PathBuf,
}

impl LogReader<'_> {
    /// Saves the log of a failed check, and explains it. The check's own summary stands in for a log
    /// that doesn't exist.
    pub(super) fn read(
        &self,
        forge: &dyn Forge,
        commit: &CommitId,
        red: &Red,
    ) -> Result<CheckEvidence, CiError> {
        let shown = FailedCheck {
            check: red.check.name.clone(),
            conclusion: red.conclusion.words().to_owned(),
            ..FailedCheck::default()
        };
        let Some(job) = red.check.job() else {
            return Ok(of_summary(red, shown));
        };
        let stem = format!("{}-{job}", file_part(&red.check.name));
        let mut log = LogFile::create(&self.folder.join(commit.short()), &stem)?;
        let scanner = Scanner::new(Source::Command);
        let mut scanner = scanner.with_own_rules(Arc::clone(self.own_rules));
        let end = forge.log(job, &mut |bytes| {
            scanner.feed(bytes);
            log.write(bytes)
        })?;
        let path = log.finish()?;
        if end == LogEnd::Gone {
            return Ok(of_summary(red, shown));
        }
        let ending = Ending {
            exit_code: (red.conclusion == Conclusion::Failure).then_some(1),
            timed_out: red.conclusion == Conclusion::TimedOut,
            ..Ending::default()
        };
        let evidence = evidence_of(scanner.finish(), Source::Command, None, ending);
        let explanation = Explanation::with_own_rules(&evidence, self.own_rules);
        let step = forge.failed_step(job)?;
        let commands = [explanation.step(), explanation.command()];
        let commands = commands.into_iter().flatten().map(str::to_owned).collect();
        let step = step.or_else(|| explanation.step().map(one_line));
        let place = explanation.place();
        let blamed = place.as_ref().map(|place| one_line(&place.file));
        let place = place.map(|place| one_line(&place.to_string()));
        let failure = explanation.failure;
        let blocker = failure.as_ref().map(|failure| {
            let quoted = failure.blocked_on.as_ref();
            one_line(quoted.unwrap_or(&failure.message))
        });
        Ok(CheckEvidence {
            shown: FailedCheck {
                step,
                place,
                kind: failure
                    .as_ref()
                    .map(|failure| failure.kind.words().to_owned()),
                blocker,
                log: Some(self.paths.shown(&path)),
                line: failure.as_ref().and_then(|failure| failure.line),
                ..shown
            },
            failure,
            commands,
            blamed,
        })
    }
}

fn of_summary(red: &Red, shown: FailedCheck) -> CheckEvidence {
    let summary = &red.check.summary;
    CheckEvidence {
        shown: FailedCheck {
            blocker: (!summary.is_empty()).then(|| one_line(summary)),
            ..shown
        },
        ..CheckEvidence::default()
    }
}

fn one_line(text: &str) -> String {
    visible_line(text, LINE_CHARS).trim().to_owned()
}

/// Makes a name a part of a file's name.
fn file_part(name: &str) -> String {
    const MAX: usize = 60;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
    let part = name.chars().take(MAX);
    part.map(|c| if is_plain(c) { c } else { '_' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_check_leads_nowhere() {
        assert_eq!(file_part("../../etc (3.12)\n"), "______etc__3_12__");
        assert!(file_part(&"x".repeat(999)).len() <= 60);
    }
}
