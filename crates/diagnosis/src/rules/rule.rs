use std::collections::BTreeMap;

use regreen_model::{FailureKind, RetryMode, Source};

use crate::cause_origin::CauseOrigin;
use crate::rules::lazy_regex::LazyRegex;
use crate::rules::template::RepairTemplate;

/// The capture that holds all that the pattern matched.
pub(crate) const MATCHED: &str = "matched";

/// What a line of output means. Rules are written in `rules/*.toml`.
#[derive(Debug)]
pub(crate) struct Rule {
    /// `family/name`.
    pub(crate) name: &'static str,
    /// Whose texts it reads; both if `None`.
    pub(crate) source: Option<Source>,
    pub(crate) role: Role,
    /// Whose words its file is about.
    pub(crate) origin: CauseOrigin,
    pub(crate) kind: Option<FailureKind>,
    /// Texts, in lower case, of which at least one is in every line the pattern can match;
    /// each with the place of the four characters in it by which it is searched for.
    pub(crate) needs: &'static [(&'static str, usize)],
    /// Whether the pattern is tried on the line as it is, instead of the message in it
    /// without decoration (time stamps, log prefixes, indentation).
    pub(crate) raw: bool,
    pub(crate) pattern: LazyRegex,
    /// Lines the rule does not speak about although the pattern matches.
    pub(crate) unless: Option<LazyRegex>,
    /// Must match somewhere in the lines before, or after.
    pub(crate) before: Option<LazyRegex>,
    pub(crate) after: Option<LazyRegex>,
    /// Must not match in the lines around.
    pub(crate) not_near: Option<LazyRegex>,
    /// How sure the line is to be the cause, up to 100.
    pub(crate) weight: u8,
    /// Of several lines the last one counts, not the first.
    pub(crate) last: bool,
    /// Counts fully also in a warning, a log line or a retry message.
    pub(crate) steady: bool,
    /// Proves a failure even if the exit code is 0.
    pub(crate) proves: bool,
    /// What to quote: text with `{capture}`, `{line}`, `{next}`.
    pub(crate) blocker: Option<&'static str>,
    pub(crate) repair: Option<RepairTemplate>,
    /// Whether who provides the captured `command`, `library` or `header` can be looked up.
    pub(crate) provider: bool,
    pub(crate) suggest: &'static [&'static str],
    /// For a frame: the kinds of causes that it gives its own kind to.
    pub(crate) absorbs: &'static [FailureKind],
    /// Where the rule knows better than its kind.
    pub(crate) retry: Option<RetryMode>,
    #[cfg(test)]
    pub(crate) examples: Examples,
}

/// Texts that a rule must match, and such that it must not.
#[cfg(test)]
#[derive(Debug)]
pub(crate) struct Examples {
    pub(crate) matching: &'static [&'static str],
    pub(crate) ignore: &'static [&'static str],
}

/// The lines around one, nearest last before and nearest first after.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SurroundingLines {
    pub(crate) before: Vec<String>,
    pub(crate) after: Vec<String>,
}

impl Rule {
    /// Whether the rule reads texts from this source.
    pub(crate) fn reads(&self, source: Source) -> bool {
        self.source.is_none_or(|own| own == source)
    }

    /// Whether the rule has something to say about a line, as far as the line alone tells.
    pub(crate) fn matches(&self, text: &str) -> bool {
        let is_excluded = || self.unless.as_ref().is_some_and(|no| no.is_match(text));
        self.pattern.is_match(text) && !is_excluded()
    }

    /// Whether the lines around have a say.
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

    /// What the rule takes out of a line that it matches.
    pub(crate) fn captures(&self, text: &str) -> BTreeMap<String, String> {
        let Some((whole, named)) = self.pattern.captures(text) else {
            return BTreeMap::new();
        };
        let taken = named.into_iter().map(|(name, value)| {
            // A name can be given once only; `path2` is another place for a `path`.
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
    /// The patterns of this rule that do not compile.
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
    /// Where it failed: gives its own kind to causes of certain kinds, which keep their line.
    Frame,
    /// A test that passed, or a count of them.
    Passed,
    /// A step of the work that is done.
    Step,
    /// A unit that was compiled or is about to be.
    Unit,
    /// That it went well in the end.
    Success,
    /// That nothing at all was done.
    Nothing,
    /// What follows is what a tested program printed, not what the test runner says.
    Aside,
    /// The runner speaks again.
    Resume,
    /// Looks like an error and is none: no other rule may speak about this line.
    Harmless,
}

impl Role {
    /// Whether lines of this role are only counted.
    pub(crate) fn is_counted(self) -> bool {
        matches!(self, Self::Passed | Self::Step | Self::Unit)
    }

    /// Whether lines of this role tell how it went and are never blamed.
    pub(crate) fn is_sign(self) -> bool {
        self.is_counted() || matches!(self, Self::Success | Self::Nothing)
    }

    /// Whether a line of this role can be what a failure is blamed on.
    pub(crate) fn is_blame(self) -> bool {
        match self {
            Self::Cause | Self::Symptom => true,
            Self::Frame
            | Self::Passed
            | Self::Step
            | Self::Unit
            | Self::Success
            | Self::Nothing
            | Self::Aside
            | Self::Resume
            | Self::Harmless => false,
        }
    }
}
