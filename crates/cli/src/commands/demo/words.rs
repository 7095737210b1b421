//! The texts of the demo.

use std::path::{Path, PathBuf};

use regreen_reporters::{Palette, Tone};
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
/// On a terminal, the demo has three acts in about 40 lines; the commands that it names show the
/// rest.
const SHORT_BEFORE: &str = include_str!("../../../templates/demo/short_before.txt");
const SHORT_AFTER: &str = include_str!("../../../templates/demo/short_after.txt");
const SHORT_GIT: &str = include_str!("../../../templates/demo/short_git.txt");
const UNFINISHED: &str = include_str!("../../../templates/demo/unfinished.txt");
/// Commands are alone on their lines, so that they can be pasted.
const WHERE: &str = include_str!("../../../templates/demo/where.txt");
const WHERE_GIT: &str = include_str!("../../../templates/demo/where_git.txt");

#[derive(Debug)]
pub struct DemoText<'p> {
    project: &'p Project,
    /// This program's name on a command line.
    program: String,
}

impl<'p> DemoText<'p> {
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

    /// Returns the first act, and the heading of the second.
    pub fn short_before(&self, palette: Palette) -> String {
        let rows = TASKS.lines().filter(|line| is_row(line));
        let rows: String = rows.map(|row| format!("  {row}\n")).collect();
        let heading = |text: &str| palette.paint(Tone::Strong, text);
        let run = format!("2. The run: regreen run hello --agent '{AGENT}' --recovery-mode");
        let text = SHORT_BEFORE
            .replace("{act1}", &heading("1. The plan: specs/hello/tasks.md"))
            .replace("{act2}", &heading(&run));
        self.fill(&text.replace("{tasks}", &rows))
    }

    /// Returns the third act, and where to look next.
    pub fn short_after(&self, now: &str, palette: Palette) -> String {
        let diff = plan_diff(TASKS, now);
        let rows = diff.lines().filter(|line| line.starts_with("+ - ["));
        let rows: String = rows
            .map(|row| format!("  {}\n", palette.paint(Tone::Added, &printable(row))))
            .collect();
        let act = "3. What regreen changed in the plan";
        let text = SHORT_AFTER
            .replace("{act3}", &palette.paint(Tone::Strong, act))
            .replace("{git}", if self.project.in_git { SHORT_GIT } else { "" });
        let text = with_comments(&text, palette);
        self.fill(&text.replace("{diff}", &rows))
    }

    pub fn unfinished(&self) -> String {
        self.fill(UNFINISHED)
    }

    pub fn after(&self) -> String {
        let committed = if self.project.in_git {
            " and commit the change"
        } else {
            ""
        };
        self.fill(&AFTER.replace("{committed}", committed))
    }

    /// Shows the changes to the plan.
    pub fn plan_diff(&self, now: &str) -> String {
        let diff = indented(&plan_diff(TASKS, now));
        printable(&PLAN.replace("{diff}", &diff))
    }

    pub fn before_repairs(&self) -> String {
        self.fill(&REPAIRS.replace("{tasks}", &indented(RELEASE)))
    }

    /// Shows the changes to the second plan.
    pub fn repaired(&self, now: &str) -> String {
        let diff = indented(&plan_diff(RELEASE, now));
        printable(&REPAIRED.replace("{diff}", &diff))
    }

    pub fn onward(&self) -> String {
        let git = if self.project.in_git { WHERE_GIT } else { "" };
        self.fill(&WHERE.replace("{git}", git))
    }

    fn fill(&self, text: &str) -> String {
        text.replace("{regreen}", &self.program)
            .replace("{folder}", &quoted(&self.project.folder))
    }
}

/// Colors the comments after commands, written as `{# so}`.
fn with_comments(text: &str, palette: Palette) -> String {
    let mut pieces = text.split("{#");
    let first = pieces.next().unwrap_or_default().to_owned();
    pieces.fold(first, |painted, piece| {
        let (comment, rest) = piece.split_once('}').unwrap_or((piece, ""));
        painted + &palette.paint(Tone::Dim, &format!("#{comment}")) + rest
    })
}

fn is_row(line: &str) -> bool {
    line.starts_with("- [")
}

/// Returns the bare name if that would start this program, or else its path.
fn program(folder: &Path) -> String {
    const NAME: &str = "regreen";
    let Ok(own) = std::env::current_exe() else {
        return NAME.to_owned();
    };
    let found = Programs::new(&path_variable(), folder).find(&RealDisk, NAME);
    let is_own = |found: PathBuf| found.canonicalize().ok() == own.canonicalize().ok();
    if found.is_some_and(is_own) {
        NAME.to_owned()
    } else {
        quoted(&own)
    }
}

/// Quotes a path for a shell.
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
    fn an_unfinished_run_is_not_explained() {
        let project = Project {
            folder: PathBuf::from("/tmp/it's here"),
            in_git: true,
        };
        let said = DemoText::about(&project).unfinished();
        assert_eq!(
            said,
            "\nThe run did not finish. Its project is in:\n  '/tmp/it'\\''s here'\n"
        );
    }

    #[test]
    fn every_placeholder_is_filled() {
        for in_git in [true, false] {
            let project = Project {
                folder: PathBuf::from("/tmp/x"),
                in_git,
            };
            let text = DemoText::about(&project);
            let said = text.before() + &text.after() + &text.plan_diff("") + &text.onward();
            let said = said + &text.before_repairs() + &text.repaired("");
            let plain = Palette::Plain;
            let said = said + &text.short_before(plain) + &text.short_after("", plain);
            assert!(!said.contains(['{', '}']), "{said}");
        }
    }
}
