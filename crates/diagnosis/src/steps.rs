//! The steps of a log. A CI system frames what it runs, so the cause of a failure stands in the
//! step that failed; checkout, caches and clean-up explain it only if no step does.
//!
//! The marks of each system are rules (`rules/framing.toml`). Marks with a name nest; one without
//! a name ends the step before it. A log without marks is one step.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use regreen_model::Finding;

use crate::rules::RuleBook;
use crate::rules::rule::{Role, Rule};
use crate::shortlist::{Shortlist, score};

/// The capture of a mark that pairs the beginning of a step with its end.
const NAME: &str = "step";
/// The captures of a mark that name a step for people.
const TITLES: [&str; 2] = [STEP_TITLE, "label"];
pub(crate) const STEP_TITLE: &str = "command";
/// Steps that are nested deeper count as part of the one around them.
const MAX_DEPTH: usize = 8;

/// Whose work a step is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Owner {
    Project,
    /// The CI system's own: machine, checkout, caches, clean-up.
    System,
}

/// A step that has begun, with the findings in it.
#[derive(Debug)]
struct Step {
    /// None if the next mark ends it.
    name: Option<String>,
    title: Option<String>,
    owner: Owner,
    first_line: u64,
    findings: Shortlist,
}

/// A step whose output has ended.
#[derive(Debug)]
pub(crate) struct EndedStep {
    pub(crate) findings: Vec<Finding>,
    /// The end of its output, and the numbers of its lines.
    pub(crate) tail: Vec<u8>,
    pub(crate) lines: RangeInclusive<u64>,
    /// What the system calls it: its command or its name.
    pub(crate) title: Option<String>,
}

/// The findings of a log, step by step.
#[derive(Debug)]
pub(crate) struct Steps {
    /// The innermost last; the first is the log itself.
    open: Vec<Step>,
    /// What ended steps had, by owner.
    of_project: Shortlist,
    of_system: Shortlist,
    /// The project's step that ended last, until another begins: a mark may follow that says how it
    /// ended.
    ended: Option<EndedStep>,
    /// The step that failed first, and the line of the mark that says so.
    failed: Option<EndedStep>,
    failed_at: Option<u64>,
    is_framed: bool,
}

/// A line that divides a log into steps.
#[derive(Debug)]
pub(crate) struct Mark<'a> {
    pub(crate) role: Role,
    pub(crate) captures: &'a BTreeMap<String, String>,
    /// The number of its line.
    pub(crate) line: u64,
    /// The end of the output before it.
    pub(crate) tail: &'a [u8],
}

impl Mark<'_> {
    fn title(&self) -> Option<String> {
        let named = TITLES.iter().filter_map(|name| self.captures.get(*name));
        named.into_iter().next().cloned()
    }
}

impl Steps {
    pub(crate) fn new() -> Self {
        Self {
            open: vec![Step::new(None, None, Owner::Project, 1)],
            of_project: no_findings(),
            of_system: no_findings(),
            ended: None,
            failed: None,
            failed_at: None,
            is_framed: false,
        }
    }

    /// Returns the findings of the current step.
    pub(crate) fn current(&self) -> &Shortlist {
        self.open
            .last()
            .map_or(&self.of_project, |step| &step.findings)
    }

    pub(crate) fn add(&mut self, n: usize, rule: &Rule, finding: Finding) {
        // The mark itself may say why: its exit code is that of a time limit.
        if self.failed_at == Some(finding.line)
            && let Some(failed) = &mut self.failed
        {
            failed.findings.push(finding);
            return;
        }
        let findings = match self.open.last_mut() {
            Some(step) => &mut step.findings,
            None => &mut self.of_project,
        };
        findings.add(n, rule, finding);
    }

    pub(crate) fn mark(&mut self, mark: &Mark<'_>) {
        let name = mark.captures.get(NAME);
        self.is_framed = true;
        match mark.role {
            Role::StepBegins => self.begin(mark, Owner::Project),
            Role::SetupBegins => self.begin(mark, Owner::System),
            Role::StepEnds => self.end(name, mark),
            Role::StepPassed => self.ended = None,
            Role::StepFailed => self.fail(mark),
            _ => {}
        }
    }

    fn begin(&mut self, mark: &Mark<'_>, owner: Owner) {
        let name = mark.captures.get(NAME).cloned();
        // A system may clean up before it says that a step failed.
        if owner == Owner::Project {
            self.ended = None;
        }
        while self.open.len() > 1
            && let Some(step) = self.open.last().filter(|step| step.name.is_none())
        {
            if owner == Owner::System && step.owner == Owner::Project {
                self.ended = Some(EndedStep::of(step, mark));
            }
            self.close();
        }
        if self.open.len() < MAX_DEPTH {
            let around = self.open.last().map_or(Owner::Project, |step| step.owner);
            let owner = if around == Owner::System {
                around
            } else {
                owner
            };
            self.open
                .push(Step::new(name, mark.title(), owner, mark.line));
        }
    }

    /// Ends the step of this name, and what is open inside it. A name that no step has is ignored.
    fn end(&mut self, name: Option<&String>, mark: &Mark<'_>) {
        let Some(depth) = self
            .open
            .iter()
            .rposition(|step| step.name.as_ref() == name)
        else {
            return;
        };
        while self.open.len() > depth + 1 {
            self.close();
        }
        let ended = self.open.last().filter(|step| step.owner == Owner::Project);
        if let Some(step) = ended {
            self.ended = Some(EndedStep::of(step, mark));
        }
        self.close();
    }

    /// Closes the innermost step. Its findings are those of the step around it as well.
    fn close(&mut self) {
        let Some(step) = self.open.pop() else {
            return;
        };
        let all = match (self.open.len(), step.owner) {
            (2.., _) => self.open.last_mut().map(|around| &mut around.findings),
            (_, Owner::Project) => Some(&mut self.of_project),
            (_, Owner::System) => Some(&mut self.of_system),
        };
        if let Some(all) = all {
            all.absorb(step.findings);
        }
        if self.open.is_empty() {
            self.open.push(Step::new(None, None, Owner::Project, 1));
        }
    }

    /// The first step that failed counts: what follows may be its consequence. A later one counts
    /// instead if the first explains nothing.
    fn fail(&mut self, mark: &Mark<'_>) {
        let ended = self.ended.take();
        if self.failed.as_ref().is_some_and(EndedStep::explains) {
            return;
        }
        let failed = ended.or_else(|| Some(EndedStep::of(self.open.last()?, mark)));
        let says_more = failed.as_ref().is_some_and(EndedStep::explains);
        if self.failed.is_none() || says_more {
            self.failed = failed.map(|step| step.titled(mark.title()));
            self.failed_at = Some(mark.line);
        }
    }

    /// Returns the findings to choose the cause from, and the step that failed, if a mark named one.
    pub(crate) fn into_findings(mut self) -> (Vec<Finding>, Option<EndedStep>) {
        if !self.is_framed {
            let only = self.open.pop().map(|step| step.findings.into_findings());
            return (only.unwrap_or_default(), None);
        }
        if let Some(failed) = self.failed.take_if(|failed| failed.has_output()) {
            return (failed.findings.clone(), Some(failed));
        }
        while self.open.len() > 1 {
            self.close();
        }
        self.close();
        let of_project = self.of_project.clone().into_findings();
        if explains(&of_project) {
            return (of_project, None);
        }
        self.of_project.absorb(self.of_system);
        (self.of_project.into_findings(), None)
    }
}

impl Step {
    fn new(name: Option<String>, title: Option<String>, owner: Owner, first_line: u64) -> Self {
        Self {
            first_line,
            name,
            title,
            owner,
            findings: no_findings(),
        }
    }
}

impl EndedStep {
    fn of(step: &Step, end: &Mark<'_>) -> Self {
        Self {
            findings: step.findings.clone().into_findings(),
            tail: end.tail.to_vec(),
            lines: step.first_line..=end.line.saturating_sub(1),
            title: step.title.clone(),
        }
    }

    /// The mark at the end knows the whole command.
    fn titled(self, title: Option<String>) -> Self {
        Self {
            title: title.or(self.title),
            ..self
        }
    }

    fn explains(&self) -> bool {
        explains(&self.findings)
    }

    fn has_output(&self) -> bool {
        self.explains() || !self.tail.trim_ascii().is_empty()
    }
}

/// Returns whether one of the findings may be a cause.
fn explains(findings: &[Finding]) -> bool {
    findings.iter().any(|finding| {
        let rule = RuleBook::ours().rule(&finding.rule);
        rule.is_some_and(|rule| rule.role.is_blame() && score(rule, finding) > 0)
    })
}

fn no_findings() -> Shortlist {
    Shortlist::new(RuleBook::ours().rules.len())
}
