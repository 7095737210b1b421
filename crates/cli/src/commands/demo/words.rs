//! What a newcomer is told before and after the run.

use std::path::{Path, PathBuf};

use regreen_workspace::{Programs, RealDisk};

use super::AGENT;
use super::plan_diff::plan_diff;
use super::project::{Project, RELEASE, TASKS};
use crate::output::printable;
use crate::spec_context::path_variable;

const BEFORE: &str = include_str!("../../../templates/demo/before.txt");
const AFTER: &str = include_str!("../../../templates/demo/after.txt");
const PLAN: &str = include_str!("../../../templates/demo/plan.txt");
const REPAIRS: &str = include_str!("../../../templates/demo/repairs.txt");
const REPAIRED: &str = include_str!("../../../templates/demo/repaired.txt");
const UNFINISHED: &str = include_str!("../../../templates/demo/unfinished.txt");
/// Nothing but a command stands on its line, so that it can be pasted.
const WHERE: &str = include_str!("../../../templates/demo/where.txt");
const WHERE_GIT: &str = include_str!("../../../templates/demo/where_git.txt");

#[derive(Debug)]
pub struct Words<'p> {
    project: &'p Project,
    /// How this program is called on a command line.
    program: String,
}

impl<'p> Words<'p> {
    pub fn about(project: &'p Project) -> Self {
        Self {
            program: program(&project.folder),
            project,
        }
    }

    pub fn before(&self) -> String {
        let text = BEFORE
            .replace("{tasks}", &indented(TASKS))
            .replace("{agent}", AGENT);
        self.fill(&text)
    }

    pub fn unfinished(&self) -> String {
        self.fill(UNFINISHED)
    }

    pub fn after(&self) -> String {
        let committed = match self.project.in_git {
            true => ", and the change committed",
            false => "",
        };
        self.fill(&AFTER.replace("{committed}", committed))
    }

    /// What became of the list.
    pub fn plan_diff(&self, now: &str) -> String {
        let diff = indented(&plan_diff(TASKS, now));
        printable(&PLAN.replace("{diff}", &diff))
    }

    pub fn before_repairs(&self) -> String {
        self.fill(&REPAIRS.replace("{tasks}", &indented(RELEASE)))
    }

    /// What became of the second list.
    pub fn repaired(&self, now: &str) -> String {
        let diff = indented(&plan_diff(RELEASE, now));
        printable(&REPAIRED.replace("{diff}", &diff))
    }

    pub fn onward(&self) -> String {
        let git = match self.project.in_git {
            true => WHERE_GIT,
            false => "",
        };
        self.fill(&WHERE.replace("{git}", git))
    }

    fn fill(&self, text: &str) -> String {
        text.replace("{regreen}", &self.program)
            .replace("{folder}", &quoted(&self.project.folder))
    }
}

/// The name alone, if that would start this program.
fn program(folder: &Path) -> String {
    const NAME: &str = "regreen";
    let Ok(own) = std::env::current_exe() else {
        return NAME.to_owned();
    };
    let found = Programs::new(&path_variable(), folder).find(&RealDisk, NAME);
    let is_own = |found: PathBuf| found.canonicalize().ok() == own.canonicalize().ok();
    match found.is_some_and(is_own) {
        true => NAME.to_owned(),
        false => quoted(&own),
    }
}

/// A path as a shell takes it.
fn quoted(path: &Path) -> String {
    let path = path.display().to_string();
    printable(&shell_words::quote(&path))
}

fn indented(text: &str) -> String {
    let lines = text.lines().map(|line| match line {
        "" => "\n".to_owned(),
        line => format!("  {line}\n"),
    });
    lines.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_was_cut_short_is_not_explained() {
        let project = Project {
            folder: PathBuf::from("/tmp/it's here"),
            in_git: true,
        };
        let said = Words::about(&project).unfinished();
        assert_eq!(
            said,
            "\nThe run did not come to its end. What there is of it is in:\n  '/tmp/it'\\''s here'\n"
        );
    }

    #[test]
    fn every_gap_in_the_words_is_filled() {
        for in_git in [true, false] {
            let project = Project {
                folder: PathBuf::from("/tmp/x"),
                in_git,
            };
            let words = Words::about(&project);
            let said = words.before() + &words.after() + &words.plan_diff("") + &words.onward();
            let said = said + &words.before_repairs() + &words.repaired("");
            assert!(!said.contains(['{', '}']), "{said}");
        }
    }
}
