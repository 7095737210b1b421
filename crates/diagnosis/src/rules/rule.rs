use std::collections::BTreeMap;

use regreen_model::{FailureKind, RetryMode, Source};

use crate::cause_origin::CauseOrigin;
use crate::rules::lazy_regex::LazyRegex;
use crate::rules::template::RepairTemplate;

/// The capture that holds the whole match.
pub(crate) const MATCHED: &str = "matched";

/// What a line of output means. Rules are written in `rules/*.toml`.
#[derive(Debug)]
pub(crate) struct Rule {
    /// `family/name`.
    pub(crate) name: &'static str,
    /// The source whose text it reads; both if `None`.
    pub(crate) source: Option<Source>,
    pub(crate) role: Role,
    /// The origin of the lines that its file is about.
    pub(crate) origin: CauseOrigin,
    pub(crate) kind: Option<FailureKind>,
    /// Texts, in lower case, of which every line that the pattern can match contains at least one;
    /// each with the position of its key, the four characters by which it is searched for.
    pub(crate) needs: &'static [(&'static str, usize)],
    /// Whether the pattern is tried on the line as it is, instead of on its message without
    /// prefixes (time stamps, log levels, indentation).
    pub(crate) raw: bool,
    pub(crate) pattern: LazyRegex,
    /// Lines that the rule ignores although the pattern matches.
    pub(crate) unless: Option<LazyRegex>,
    /// Must match somewhere in the lines before, or after.
    pub(crate) before: Option<LazyRegex>,
    pub(crate) after: Option<LazyRegex>,
    /// Must not match in the lines around.
    pub(crate) not_near: Option<LazyRegex>,
    /// How certain it is that the line is the cause, up to 100.
    pub(crate) weight: u8,
    /// If several lines match, the last one counts, not the first.
    pub(crate) last: bool,
    /// Counts fully also in a warning, a log line or a retry message.
    pub(crate) steady: bool,
    /// Proves a failure even if the exit code is 0.
    pub(crate) proves: bool,
    /// What to quote: text with `{capture}`, `{line}`, `{next}`. For the beginning of a step, what to
    /// call it.
    pub(crate) blocker: Option<&'static str>,
    pub(crate) repair: Option<RepairTemplate>,
    /// Whether the package of the captured `command`, `library` or `header` can be looked up.
    pub(crate) provider: bool,
    pub(crate) suggest: &'static [&'static str],
    /// For a frame: the kinds of causes that it gives its own kind to.
    pub(crate) absorbs: &'static [FailureKind],
    /// Set if the rule knows better than its kind.
    pub(crate) retry: Option<RetryMode>,
    #[cfg(test)]
    pub(crate) examples: Examples,
}

/// Texts that a rule must match, and texts that it must ignore.
#[cfg(test)]
#[derive(Debug)]
pub(crate) struct Examples {
    pub(crate) matching: &'static [&'static str],
    pub(crate) ignore: &'static [&'static str],
}

/// The lines around one, in the order of the output.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SurroundingLines {
    pub(crate) before: Vec<String>,
    pub(crate) after: Vec<String>,
}

impl Rule {
    /// Returns whether the rule reads text from this source.
    pub(crate) fn reads(&self, source: Source) -> bool {
        self.source.is_none_or(|own| own == source)
    }

    /// Returns whether the rule matches a line, without regard to the lines around it.
    pub(crate) fn matches(&self, text: &str) -> bool {
        let is_excluded = || self.unless.as_ref().is_some_and(|no| no.is_match(text));
        self.pattern.is_match(text) && !is_excluded()
    }

    /// Returns whether the lines around matter.
    pub(crate) fn looks_around(&self) -> bool {
        self.before.is_some() || self.after.is_some() || self.not_near.is_some()
    }

    pub(crate) fn fits(&self, around: &SurroundingLines) -> bool {
        let says = |regex: &Option<LazyRegex>, lines: &[String]| {
            regex.as_ref().is_none_or(|r| r.is_match(&lines.join("\n")))
        };
        let is_near = self.not_near.as_ref().is_some_and(|no| {
            no.is_match(&around.before.join("\n")) || no.is_match(&around.after.join("\n"))
        });
        says(&self.before, &around.before) && says(&self.after, &around.after) && !is_near
    }

    /// Returns the captures of a line that the rule matches.
    pub(crate) fn captures(&self, text: &str) -> BTreeMap<String, String> {
        let Some((whole, named)) = self.pattern.captures(text) else {
            return BTreeMap::new();
        };
        let taken = named.into_iter().map(|(name, value)| {
            // A pattern can use a name only once; `path2` is another capture for `path`.
            let name = name.trim_end_matches(|c: char| c.is_ascii_digit());
            (name.to_owned(), value.trim().to_owned())
        });
        let mut captures: BTreeMap<String, String> = taken.collect();
        captures.insert(MATCHED.to_owned(), whole.to_owned());
        captures
    }
}

#[cfg(test)]
impl Rule {
    /// Returns the patterns of this rule that do not compile.
    pub(crate) fn broken_patterns(&self) -> Vec<String> {
        let optional = [&self.unless, &self.before, &self.after, &self.not_near];
        let all = optional.into_iter().flatten().chain([&self.pattern]);
        all.filter(|lazy| !lazy.compiles())
            .map(|lazy| format!("{}: {lazy:?}", self.name))
            .collect()
    }
}

/// What a matching line is evidence of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Why it failed.
    Cause,
    /// That it failed, not why; quoted only if nothing better is found.
    Symptom,
    /// That something above it failed: loses to everything but silence, and quotes the line above.
    Wrapper,
    /// Where it failed: gives its own kind to causes of certain kinds, which keep their line.
    Frame,
    /// A test that passed, or a count of them.
    Passed,
    /// A step of the work that is done.
    Step,
    /// A unit that was compiled or is about to be.
    Unit,
    /// That it succeeded in the end.
    Success,
    /// That nothing at all was done.
    Nothing,
    /// Begins the output of a tested program inside a test report.
    Aside,
    /// Ends the output of a tested program.
    Resume,
    /// Begins a step of a framed log.
    StepBegins,
    /// Begins the CI system's own work: machine, checkout, caches, clean-up.
    SetupBegins,
    /// Ends the output of a step.
    StepEnds,
    /// Says that the step above passed.
    StepPassed,
    /// Says that the step above failed.
    StepFailed,
    /// Looks like an error but is harmless: no other rule may match this line.
    Harmless,
}

impl Role {
    /// Returns whether lines of this role are only counted.
    pub(crate) fn is_counted(self) -> bool {
        matches!(self, Self::Passed | Self::Step | Self::Unit)
    }

    /// Returns whether lines of this role show how it went and are never the cause.
    pub(crate) fn is_sign(self) -> bool {
        self.is_counted() || matches!(self, Self::Success | Self::Nothing)
    }

    /// Returns whether lines of this role divide the log into steps.
    pub(crate) fn is_mark(self) -> bool {
        matches!(
            self,
            Self::StepBegins
                | Self::SetupBegins
                | Self::StepEnds
                | Self::StepPassed
                | Self::StepFailed
        )
    }

    /// Returns whether a line of this role can be the cause of a failure.
    pub(crate) fn is_blame(self) -> bool {
        match self {
            Self::Cause | Self::Symptom | Self::Wrapper => true,
            Self::Frame
            | Self::Passed
            | Self::Step
            | Self::Unit
            | Self::Success
            | Self::Nothing
            | Self::Aside
            | Self::Resume
            | Self::StepBegins
            | Self::SetupBegins
            | Self::StepEnds
            | Self::StepPassed
            | Self::StepFailed
            | Self::Harmless => false,
        }
    }
}
