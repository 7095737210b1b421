//! The steps of a log. A CI system frames what it runs, so the cause of a failure is in the step
//! that failed; checkout, caches and clean-up explain it only if no step does.
//!
//! The marks of each system are rules (`rules/framing.toml`). Marks with a name nest; one without
//! a name ends the step before it. A log without marks is one step.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use memchr::memrchr_iter;
use regreen_model::Finding;

use crate::line::LastKind;
use crate::rules::RuleBook;
use crate::rules::rule::{Role, Rule};
use crate::shortlist::{Shortlist, score};

/// The capture of a mark that pairs the start of a step with its end.
const NAME: &str = "step";
/// The captures of a mark that name a step for people.
const TITLES: [&str; 2] = [STEP_TITLE, "label"];
pub(crate) const STEP_TITLE: &str = "command";
/// The capture that holds the task that a tool said it runs.
pub(crate) const RUNNING_TASK: &str = "running task";
/// Steps nested deeper count as part of the one around them.
const MAX_DEPTH: usize = 8;

/// Whose work a step is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Owner {
    Project,
    /// The CI system's own: machine, checkout, caches, clean-up.
    System,
}

/// A step that has started, with its findings.
#[derive(Debug)]
struct Step {
    /// `None` if the next mark ends it.
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
    /// The end of its output, and its line numbers.
    pub(crate) tail: Vec<u8>,
    pub(crate) lines: RangeInclusive<u64>,
    /// The system's title for it: its command or its name.
    pub(crate) title: Option<String>,
    /// The line of the last command that a shell echoed in it.
    pub(crate) last_command_at: Option<u64>,
}

/// The findings of a log, step by step.
#[derive(Debug)]
pub(crate) struct Steps {
    /// The open steps, innermost last; the first is the log itself.
    open: Vec<Step>,
    /// The findings of ended steps, by owner.
    of_project: Shortlist,
    of_system: Shortlist,
    /// The project's step that ended last, until another starts: a mark may follow that says how it
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
    /// The last command that a shell echoed before it, with its line number.
    pub(crate) last_command: Option<&'a (u64, String)>,
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
            of_project: Shortlist::default(),
            of_system: Shortlist::default(),
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

    pub(crate) fn add(&mut self, n: usize, rule: &Rule, finding: Finding, kinds: &LastKind) {
        // The mark itself may explain it: its exit code is that of a time limit.
        if self.failed_at == Some(finding.line)
            && let Some(failed) = &mut self.failed
        {
            failed.findings.push(finding);
            return;
        }
        let Some(step) = self.open.last_mut() else {
            self.of_project.add(n, rule, finding, kinds);
            return;
        };
        let command = finding.command.or_else(|| step.title.clone());
        let finding = Finding { command, ..finding };
        step.findings.add(n, rule, finding, kinds);
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
        let owner = self.owner_inside(owner);
        // A system may clean up before it reports that a step failed.
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
            self.open
                .push(Step::new(name, mark.title(), owner, mark.line));
        }
    }

    /// Returns whose work a step is that begins now: inside the system's own work, all is its own.
    fn owner_inside(&self, owner: Owner) -> Owner {
        let mut named = self.open.iter().filter(|step| step.name.is_some());
        if named.any(|step| step.owner == Owner::System) {
            Owner::System
        } else {
            owner
        }
    }

    /// Ends the step with this name, and everything open inside it. An unknown name is ignored.
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

    /// Closes the innermost step. Its findings also belong to the step around it.
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

    /// Records a failed step. The first one counts, because others may follow from it; a later one
    /// counts instead if the first explains nothing.
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

    /// Returns the findings to choose the cause from, and the failed step, if a mark named one.
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
            findings: Shortlist::default(),
        }
    }
}

impl EndedStep {
    fn of(step: &Step, end: &Mark<'_>) -> Self {
        let lines = step.first_line..=end.line.saturating_sub(1);
        let command = end.last_command.filter(|(line, _)| lines.contains(line));
        Self {
            findings: step.findings.clone().into_findings(),
            tail: last_lines(end.tail, lines.clone().count()).to_vec(),
            last_command_at: command.map(|(line, _)| *line),
            title: step.title.clone().or_else(|| Some(command?.1.clone())),
            lines,
        }
    }

    /// Sets the title from the mark at the end, which has the whole command.
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

/// Returns the last `count` lines of a text that ends with a line ending.
fn last_lines(text: &[u8], count: usize) -> &[u8] {
    let ends = memrchr_iter(b'\n', text);
    // The last line ending belongs to the last line.
    let start = ends.skip(1).nth(count.saturating_sub(1));
    start.map_or(text, |end| &text[end + 1..])
}

/// Returns whether one of the findings may be a cause.
fn explains(findings: &[Finding]) -> bool {
    let kinds = LastKind::default();
    findings.iter().any(|finding| {
        let rule = RuleBook::ours().rule(&finding.rule);
        rule.is_some_and(|rule| {
            matches!(rule.role, Role::Cause | Role::Symptom) && score(rule, finding, &kinds) > 0
        })
    })
}
