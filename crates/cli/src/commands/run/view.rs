//! The view of a run: lines, JSON, or a live view on a terminal, followed by a summary.

use std::ffi::OsString;
use std::io::{self, Write as _};

use regreen_model::{Event, OutlineRow, Timestamp};
use regreen_redaction::Masks;
use regreen_reporters::{JsonLines, Lines, Live, Reporter, Summary};
use regreen_runtime::RunObserver;

use super::question_program::QuestionProgram;
use crate::output::{self, StdoutTerminal};

/// Flags that the command to continue a run leaves out, and whether a value follows each.
const LEFT_OUT: [(&str, bool); 6] = [
    ("--only", true),
    ("--color", true),
    ("--json", false),
    ("--no-input", false),
    ("--detach", false),
    ("--detached", false),
];

/// Shows a run while it is active, and its summary at the end.
pub struct View {
    reporter: Box<dyn Reporter>,
    summary: Summary,
    /// Whether to print the summary for people.
    is_for_people: bool,
    /// Runs once the run has started.
    on_begin: Option<Box<dyn FnOnce()>>,
    /// Is told what the run asks.
    on_question: Option<QuestionProgram>,
}

impl View {
    pub fn choose(json: bool) -> Self {
        let style = output::line_style();
        let reporter: Box<dyn Reporter> = if json {
            Box::new(JsonLines::new(io::stdout()))
        } else if output::is_live() {
            Box::new(Live::new(StdoutTerminal::default(), style.palette))
        } else {
            Box::new(Lines::new(io::stdout(), style))
        };
        let command = run_command(std::env::args_os().skip(1));
        Self {
            reporter,
            summary: command.map_or_else(Summary::default, Summary::new),
            is_for_people: !json,
            on_begin: None,
            on_question: None,
        }
    }

    /// Sets an action for when the run has started: a run that can't start leaves nothing behind.
    pub fn on_begin(&mut self, action: impl FnOnce() + 'static) {
        self.on_begin = Some(Box::new(action));
    }

    /// Sets the program that is told what the run asks.
    pub fn on_question(&mut self, program: QuestionProgram) {
        self.on_question = Some(program);
    }

    /// Prints the summary, and returns it as JSON.
    pub fn finish(mut self, now: Timestamp) -> String {
        self.reporter.finish(now);
        if self.is_for_people {
            self.print_summary();
        }
        serde_json::to_string(&self.summary).unwrap_or_default() + "\n"
    }

    /// Tells the view the time, after events that are older.
    pub fn set_clock(&mut self, now: Timestamp) {
        self.reporter.set_clock(now);
    }

    /// Ends the view of a run that goes on, or that has left no result.
    pub fn leave(mut self, now: Timestamp) {
        self.reporter.finish(now);
    }

    /// The numbers go to stdout as a result; a headline that is not a success goes to stderr.
    fn print_summary(&self) {
        let Some(headline) = self.summary.headline() else {
            return;
        };
        let is_success = self.summary.figures().exit_code == Some(0);
        if is_success {
            let _ = writeln!(io::stdout(), "\n{headline}");
        } else {
            let _ = writeln!(io::stdout());
            output::say(&headline);
        }
        // If the reader is gone, it has read enough.
        let _ = output::print_lines(&self.summary.details());
    }
}

/// Returns the command line that continues a run, built from the one that started it; `None` if
/// that was not `regreen run`.
fn run_command(arguments: impl Iterator<Item = OsString>) -> Option<String> {
    let mut words = vec!["regreen".to_owned()];
    let mut arguments = arguments.map(|argument| argument.to_string_lossy().into_owned());
    let mut is_run = false;
    while let Some(argument) = arguments.next() {
        let name = argument.split('=').next().unwrap_or_default();
        let left_out = LEFT_OUT.iter().find(|(flag, _)| *flag == name);
        if let Some((_, has_value)) = left_out {
            if *has_value && name == argument {
                arguments.next();
            }
            continue;
        }
        is_run |= argument == "run";
        words.push(argument);
    }
    let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    is_run.then(|| Masks::built_in().mask(&words.join(" ")))
}

/// Quotes a word for a shell, if needed.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-./:=,@%+".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    shell_words::quote(word).into_owned()
}

impl RunObserver for View {
    fn outline(&mut self, rows: &[OutlineRow]) {
        self.reporter.outline(rows);
        self.summary.outline(rows);
    }

    fn recall(&mut self, at: Timestamp, event: &Event) {
        if let Some(program) = &mut self.on_question {
            program.recall(at, event);
        }
        self.reporter.recall(at, event);
        self.summary.recall(at, event);
    }

    fn event(&mut self, now: Timestamp, event: &Event) {
        if let Some(action) = self.on_begin.take() {
            action();
        }
        if let Some(program) = &mut self.on_question {
            program.event(now, event);
        }
        self.reporter.event(now, event);
        self.summary.event(now, event);
    }

    fn activity(&mut self, line: &str) {
        self.reporter.activity(line);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(arguments: &[&str], expected: Option<&str>) {
        let arguments = arguments.iter().map(OsString::from);
        assert_eq!(run_command(arguments).as_deref(), expected);
    }

    #[test]
    fn the_command_to_continue_has_the_agent_and_the_flags() {
        check(
            &[
                "run",
                "login",
                "--agent",
                "command:sh agent.sh",
                "--recovery-mode",
            ],
            Some("regreen run login --agent 'command:sh agent.sh' --recovery-mode"),
        );
        check(
            &[
                "--color",
                "always",
                "run",
                "--only",
                "1.2",
                "--no-input",
                "--agent=shell",
            ],
            Some("regreen run --agent=shell"),
        );
        check(
            &["run", "--only=1.2", "my list.md"],
            Some("regreen run 'my list.md'"),
        );
        check(&["demo"], None);
    }
}
