use std::collections::BTreeMap;

use regreen_model::{FailureKind, RetryMode, Source};

use crate::cause_origin::CauseOrigin;
use crate::rules::lazy_regex::LazyRegex;
use crate::rules::template::RepairTemplate;

/// The capture that holds the whole match.
pub(crate) const MATCHED: &str = "matched";

/// The meaning of a line of output. Rules are written in `rules/*.toml`.
#[derive(Debug)]
pub(crate) struct Rule {
    /// `family/name`.
    pub(crate) name: &'static str,
    /// The source it reads; both if `None`.
    pub(crate) source: Option<Source>,
    pub(crate) role: Role,
    /// The origin that its file declares.
    pub(crate) origin: CauseOrigin,
    pub(crate) kind: Option<FailureKind>,
    /// Texts in lower case, at least one of which is in every line that the pattern can match; each
    /// with the position of its key, the four characters by which it is searched for.
    pub(crate) needs: &'static [(&'static str, usize)],
    /// Whether the pattern is tried on the raw line instead of on its message without prefixes
    /// (timestamps, log levels, indentation).
    pub(crate) raw: bool,
    pub(crate) pattern: LazyRegex,
    /// Lines that the rule ignores although the pattern matches.
    pub(crate) unless: Option<LazyRegex>,
    /// Must match somewhere in the lines before, or after.
    pub(crate) before: Option<LazyRegex>,
    pub(crate) after: Option<LazyRegex>,
    /// Must not match in the surrounding lines.
    pub(crate) not_near: Option<LazyRegex>,
    /// How certain it is that the line is the cause, up to 100.
    pub(crate) weight: u8,
    /// Whether the last of several matching lines counts instead of the first.
    pub(crate) last: bool,
    /// Whether it counts fully even in a warning, a log line or a retry message.
    pub(crate) steady: bool,
    /// Whether it proves a failure even if the exit code is 0.
    pub(crate) proves: bool,
    /// The text to quote, with `{capture}`, `{line}`, `{next}`. For the start of a step, the name
    /// of the step.
    pub(crate) blocker: Option<&'static str>,
    pub(crate) repair: Option<RepairTemplate>,
    /// Whether the package of the captured `command`, `library` or `header` can be looked up.
    pub(crate) provider: bool,
    pub(crate) suggest: &'static [&'static str],
    /// For a frame: the kinds of causes to which it gives its own kind.
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

/// The lines around a line, in output order.
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

    /// Returns whether the rule matches a line, regardless of the lines around it.
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
    /// Returns the patterns of this rule that don't compile.
    pub(crate) fn broken_patterns(&self) -> Vec<String> {
        let optional = [&self.unless, &self.before, &self.after, &self.not_near];
        let all = optional.into_iter().flatten().chain([&self.pattern]);
        all.filter(|lazy| !lazy.compiles())
            .map(|lazy| format!("{}: {lazy:?}", self.name))
            .collect()
    }
}

/// The role of a matching line: what it is evidence of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// The cause of the failure.
    Cause,
    /// A sign that it failed, but not why; quoted only if nothing better is found.
    Symptom,
    /// A report that something above it failed. It loses to everything but silence, and quotes the
    /// line above.
    Wrapper,
    /// The context of the failure. It gives its own kind to causes of certain kinds, which keep
    /// their line.
    Frame,
    /// A test that passed, or a count of such tests.
    Passed,
    /// A step of the work that is done.
    Step,
    /// A unit that was compiled or is about to be.
    Unit,
    /// The first words of a tool that runs tests or builds: what stands above was survived.
    Began,
    /// A report that it succeeded in the end.
    Success,
    /// A report that nothing at all was done.
    Nothing,
    /// The start of a tested program's output inside a test report.
    Aside,
    /// The end of a tested program's output.
    Resume,
    /// The start of a step in a framed log.
    StepBegins,
    /// The start of the CI system's own work: machine, checkout, caches, clean-up.
    SetupBegins,
    /// The end of a step's output.
    StepEnds,
    /// A report that the step above passed.
    StepPassed,
    /// A report that the step above failed.
    StepFailed,
    /// A tool says which command or task it runs from here on.
    Runs,
    /// A report that names the task to which the lines above belong.
    Ran,
    /// Something that looks like an error but is harmless: no other rule may match this line.
    Harmless,
}

impl Role {
    /// Returns whether lines with this role are only counted.
    pub(crate) fn is_counted(self) -> bool {
        matches!(self, Self::Passed | Self::Step | Self::Unit | Self::Began)
    }

    /// Returns whether lines with this role show how it went and are never the cause.
    pub(crate) fn is_sign(self) -> bool {
        self.is_counted() || matches!(self, Self::Success | Self::Nothing | Self::Ran)
    }

    /// Returns whether lines with this role divide the log into steps.
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

    /// Returns whether lines with this role name the task to which others belong.
    pub(crate) fn names_task(self) -> bool {
        matches!(self, Self::Runs | Self::Ran)
    }

    /// Returns whether a line with this role can be the cause of a failure.
    pub(crate) fn is_blame(self) -> bool {
        match self {
            Self::Cause | Self::Symptom | Self::Wrapper => true,
            Self::Frame
            | Self::Passed
            | Self::Step
            | Self::Unit
            | Self::Began
            | Self::Success
            | Self::Nothing
            | Self::Aside
            | Self::Resume
            | Self::StepBegins
            | Self::SetupBegins
            | Self::StepEnds
            | Self::StepPassed
            | Self::StepFailed
            | Self::Runs
            | Self::Ran
            | Self::Harmless => false,
        }
    }
}
