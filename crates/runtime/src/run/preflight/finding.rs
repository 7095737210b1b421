use std::fmt;

use regreen_model::TaskId;
use regreen_redaction::Masks;

/// How many tasks a finding names; the rest are only counted.
const NAMED: usize = 4;

/// Everything that would stop a run, or may, found before it begins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Preflight {
    /// The findings, in the order of the plan.
    pub findings: Vec<PreflightFinding>,
}

/// One thing that would stop a run, or may.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PreflightFinding {
    /// Whether it is certain, so that no run should begin.
    pub is_error: bool,
    /// Whether a text can't be read, rather than something missing on this machine.
    pub is_unreadable: bool,
    /// The tasks that it is about; empty if it is about all of them.
    pub tasks: Vec<TaskId>,
    /// What is wrong.
    pub what: String,
    /// What to do about it; may be empty.
    pub help: String,
}

impl Preflight {
    /// Returns whether a run should not begin.
    #[must_use]
    pub fn has_errors(&self) -> bool {
        self.findings.iter().any(|finding| finding.is_error)
    }

    /// Returns whether all that is in the way are texts that can't be read.
    #[must_use]
    pub fn is_only_unreadable(&self) -> bool {
        let mut errors = self.findings.iter().filter(|finding| finding.is_error);
        errors.all(|finding| finding.is_unreadable)
    }

    /// Adds a finding, or its tasks if there is one like it already.
    pub(super) fn add(&mut self, finding: PreflightFinding) {
        let mut found = self.findings.iter_mut();
        let same = found.find(|other| (&other.what, &other.help) == (&finding.what, &finding.help));
        match same {
            Some(same) => {
                let new = finding.tasks.into_iter();
                let new: Vec<_> = new.filter(|task| !same.tasks.contains(task)).collect();
                same.tasks.extend(new);
            }
            None => self.findings.push(finding),
        }
    }

    pub(super) fn merge(&mut self, other: Self) {
        for finding in other.findings {
            self.add(finding);
        }
    }

    pub(super) fn masked(mut self, masks: &Masks) -> Self {
        for finding in &mut self.findings {
            finding.what = masks.mask(&finding.what);
            finding.help = masks.mask(&finding.help);
        }
        self
    }
}

impl PreflightFinding {
    pub(super) fn error(what: impl Into<String>, help: impl Into<String>) -> Self {
        Self {
            is_error: true,
            ..Self::warning(what, help)
        }
    }

    pub(super) fn warning(what: impl Into<String>, help: impl Into<String>) -> Self {
        Self {
            is_error: false,
            is_unreadable: false,
            tasks: Vec::new(),
            what: what.into(),
            help: help.into(),
        }
    }

    pub(super) fn of(self, task: &TaskId) -> Self {
        Self {
            tasks: vec![task.clone()],
            ..self
        }
    }
}

impl fmt::Display for Preflight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("this run can't succeed:")?;
        let errors = self.findings.iter().filter(|finding| finding.is_error);
        errors
            .into_iter()
            .try_for_each(|error| write!(f, "\n{error}"))
    }
}

impl std::error::Error for Preflight {}

impl fmt::Display for PreflightFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.tasks.is_empty() {
            let named = self.tasks.iter().take(NAMED).map(TaskId::as_str);
            write!(f, "{}", named.collect::<Vec<_>>().join(", "))?;
            if let Some(more) = self.tasks.len().checked_sub(NAMED).filter(|more| *more > 0) {
                write!(f, " and {more} more")?;
            }
            f.write_str(": ")?;
        }
        f.write_str(&self.what)?;
        if !self.help.is_empty() {
            write!(f, "; {}", self.help)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_of_many_tasks_is_told_once() {
        let mut found = Preflight::default();
        for id in ["1.1", "1.2", "1.2", "1.3", "1.4", "1.5"] {
            let id = TaskId::parse(id).unwrap();
            found.add(PreflightFinding::error("`x` is missing", "install it").of(&id));
        }
        found.add(PreflightFinding::warning("low disk", ""));
        assert!(found.has_errors() && !found.is_only_unreadable());
        assert_eq!(
            found.to_string(),
            "this run can't succeed:\n1.1, 1.2, 1.3, 1.4 and 1 more: `x` is missing; install it"
        );
        assert_eq!(found.findings[1].to_string(), "low disk");
    }
}
