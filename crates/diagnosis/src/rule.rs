use std::collections::BTreeMap;

use regreen_model::{FailureKind, RetryMode, Source};
use serde::Deserialize;

use crate::lazy_regex::LazyRegex;
use crate::repair_template::RepairTemplate;
use crate::role::Role;

/// How a rule is written in its file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RuleText {
    pub(crate) name: String,
    pub(crate) kind: Option<FailureKind>,
    #[serde(default)]
    pub(crate) role: Role,
    /// Texts of which at least one is in every line the pattern can match, whatever the case.
    pub(crate) needs: Vec<String>,
    /// Tried on the line without its decoration (time stamps, log prefixes, indentation).
    pub(crate) pattern: String,
    /// Tried on the line as it is instead.
    #[serde(default)]
    pub(crate) raw: bool,
    /// Lines the rule does not speak about although the pattern matches.
    pub(crate) unless: Option<String>,
    /// Must match somewhere in the lines before, or after.
    pub(crate) before: Option<String>,
    pub(crate) after: Option<String>,
    /// Must not match in the lines around.
    pub(crate) not_near: Option<String>,
    /// How sure the line is to be the cause, up to 100.
    pub(crate) weight: Option<u8>,
    /// Of several lines the last one counts, not the first.
    #[serde(default)]
    pub(crate) last: bool,
    /// Counts fully also in a warning, a log line or a retry message.
    #[serde(default)]
    pub(crate) steady: bool,
    /// Proves a failure even if the exit code is 0.
    #[serde(default)]
    pub(crate) proves: bool,
    /// What to quote: text with `{capture}`, `{line}`, `{next}`.
    pub(crate) blocker: Option<String>,
    pub(crate) repair: Option<RepairTemplate>,
    /// Whether who provides the captured `command`, `library` or `header` can be looked up.
    #[serde(default)]
    pub(crate) provider: bool,
    #[serde(default)]
    pub(crate) suggest: Vec<String>,
    /// For a frame: the kinds of causes that it gives its own kind to.
    #[serde(default)]
    pub(crate) absorbs: Vec<FailureKind>,
    /// Where the rule knows better than its kind.
    pub(crate) retry: Option<RetryMode>,
    /// Texts that must match, and such that must not; one of each at least.
    #[serde(rename = "match")]
    pub(crate) matching: Vec<String>,
    pub(crate) ignore: Vec<String>,
}

/// One file of rules.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FamilyText {
    /// For rules that say nothing else.
    pub(crate) weight: u8,
    /// Its rules count fully in any mood.
    #[serde(default)]
    pub(crate) steady: bool,
    /// Whose texts these rules read; both if missing.
    pub(crate) source: Option<Source>,
    pub(crate) rule: Vec<RuleText>,
}

/// The capture that holds all that the pattern matched.
pub(crate) const MATCHED: &str = "matched";

/// A rule ready to be used.
#[derive(Clone, Debug)]
pub(crate) struct Rule {
    /// `family/name`.
    pub(crate) name: String,
    pub(crate) source: Option<Source>,
    pub(crate) weight: u8,
    pub(crate) steady: bool,
    pub(crate) text: RuleText,
    pattern: LazyRegex,
    unless: Option<LazyRegex>,
    before: Option<LazyRegex>,
    after: Option<LazyRegex>,
    not_near: Option<LazyRegex>,
}

/// The lines around one, nearest last before and nearest first after.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Neighbours {
    pub(crate) before: Vec<String>,
    pub(crate) after: Vec<String>,
}

impl Rule {
    pub(crate) fn new(family: &str, text: RuleText, defaults: &FamilyText) -> Self {
        Self {
            name: format!("{family}/{}", text.name),
            source: defaults.source,
            weight: text.weight.unwrap_or(defaults.weight),
            steady: text.steady || defaults.steady,
            pattern: LazyRegex::new(text.pattern.clone()),
            unless: multi_line(text.unless.as_deref()),
            before: multi_line(text.before.as_deref()),
            after: multi_line(text.after.as_deref()),
            not_near: multi_line(text.not_near.as_deref()),
            text,
        }
    }

    pub(crate) fn role(&self) -> Role {
        self.text.role
    }

    /// Whether the rule reads texts from this source.
    pub(crate) fn reads(&self, source: Source) -> bool {
        self.source.is_none_or(|own| own == source)
    }

    /// What the rule takes out of the line, if it speaks about it at all.
    pub(crate) fn captures(
        &self,
        line: &str,
        body: &str,
        around: &Neighbours,
    ) -> Option<BTreeMap<String, String>> {
        let body = if self.text.raw { line } else { body };
        let pattern = self.pattern.get()?;
        let found = pattern.captures(body)?;
        if self.unless.as_ref().is_some_and(|no| no.is_match(body)) || !self.fits(around) {
            return None;
        }
        let named = pattern.capture_names().flatten();
        let taken = named.filter_map(|name| {
            let value = found.name(name)?.as_str().trim();
            // A name can be given once only; `path2` is another place for a `path`.
            let name = name.trim_end_matches(|c: char| c.is_ascii_digit());
            Some((name.to_owned(), value.to_owned()))
        });
        let mut captures: BTreeMap<String, String> = taken.collect();
        captures.insert(MATCHED.to_owned(), found[0].to_owned());
        Some(captures)
    }

    fn fits(&self, around: &Neighbours) -> bool {
        let says = |regex: &Option<LazyRegex>, lines: &[String]| {
            regex.as_ref().is_none_or(|r| r.is_match(&lines.join("\n")))
        };
        let is_near = self.not_near.as_ref().is_some_and(|no| {
            no.is_match(&around.before.join("\n")) || no.is_match(&around.after.join("\n"))
        });
        says(&self.before, &around.before) && says(&self.after, &around.after) && !is_near
    }

    /// Whether the lines around have a say.
    pub(crate) fn looks_around(&self) -> bool {
        self.before.is_some() || self.after.is_some() || self.not_near.is_some()
    }
}

fn multi_line(pattern: Option<&str>) -> Option<LazyRegex> {
    pattern.map(|pattern| LazyRegex::new(format!("(?m){pattern}")))
}

#[cfg(test)]
impl Rule {
    /// The patterns of this rule that do not compile.
    pub(crate) fn broken_patterns(&self) -> Vec<String> {
        let optional = [&self.unless, &self.before, &self.after, &self.not_near];
        let all = optional.into_iter().flatten().chain([&self.pattern]);
        all.filter(|lazy| lazy.get().is_none())
            .map(|lazy| format!("{lazy:?}"))
            .collect()
    }
}
