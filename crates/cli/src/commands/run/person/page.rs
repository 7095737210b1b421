//! What a person is told before they decide.

use std::fmt::Write as _;

use regreen_model::{AnswerKind, TaskFailure, visible_line};
use regreen_reporters::Palette;
use regreen_runtime::Asked;

const LINE_CHARS: usize = 160;
const TITLE_CHARS: usize = 60;
/// More of what was printed is in the log.
const MOST_LINES: usize = 6;

/// A question as it is shown.
#[derive(Debug)]
pub(super) struct Page<'a> {
    pub(super) asked: &'a Asked<'a>,
    /// The task file, as it is called here.
    pub(super) tasks: &'a str,
    pub(super) spec: Option<&'a str>,
    pub(super) palette: Palette,
}

impl Page<'_> {
    pub(super) fn text(&self) -> String {
        let question = self.asked.question;
        let id = &question.task.id;
        let title = visible_line(&question.task.title, TITLE_CHARS);
        let heading = format!("Task {id} needs a decision: {title}");
        let mut text = format!("\n{}\n", self.palette.emphasised(&heading));
        for (label, value) in self.facts() {
            let mut label = label;
            let lines = value.lines().filter(|line| !line.trim().is_empty());
            for line in lines.take(MOST_LINES) {
                let line = visible_line(line, LINE_CHARS);
                let _ = writeln!(text, "  {label:<10}{line}");
                label = "";
            }
        }
        text.push('\n');
        for choice in &question.choices {
            let key = self.palette.emphasised(&letter(*choice).to_string());
            let _ = writeln!(text, "  {key}  {}", self.effect(*choice));
        }
        text
    }

    fn facts(&self) -> Vec<(&'static str, String)> {
        let question = self.asked.question;
        let mut facts = vec![("why", question.why.clone())];
        if let Some(failure) = &question.failure {
            facts.push(("error", failure.error.clone()));
            if let Some(found) = failure.told() {
                facts.push(("kind", found.kind.words().to_owned()));
                let actions = found.suggested_actions.iter();
                facts.extend(actions.map(|action| ("may help", action.clone())));
            }
            if failure.attempted_fix != TaskFailure::NO_ATTEMPTED_FIX {
                facts.push(("tried", failure.attempted_fix.clone()));
            }
        }
        if let Some(repair) = &question.repair {
            facts.push(("repair", repair.does.clone()));
        }
        let (used, most) = (question.iterations, question.max_iterations);
        if used > 0 {
            facts.push(("attempts", format!("{used} of {most} used up")));
        }
        if !question.fixes.is_empty() {
            let fixes: Vec<String> = question.fixes.iter().map(ToString::to_string).collect();
            facts.push(("fixes", format!("{} made", fixes.join(", "))));
        }
        facts.extend(self.asked.log.clone().map(|log| ("log", log)));
        facts
    }

    fn effect(&self, choice: AnswerKind) -> String {
        let (id, tasks) = (&self.asked.question.task.id, self.tasks);
        let (flag, spec) = match self.spec {
            Some(spec) => (format!(" --spec {spec}"), format!(" {spec}")),
            None => (String::new(), String::new()),
        };
        match choice {
            AnswerKind::Repair => "repair: let regreen do it, then try the task again".to_owned(),
            AnswerKind::Edit => {
                format!("edit and retry: change {tasks}; the task starts afresh, with all its attempts")
            }
            AnswerKind::Context => {
                "add context and retry: the agent is told what you write; counts as an attempt".to_owned()
            }
            AnswerKind::Fix => {
                "make a fix task anyway: it is written into the plan and done, then this one is tried again".to_owned()
            }
            AnswerKind::Skip => {
                format!("skip: leave it out from now on, until `regreen retry {id}{flag}`")
            }
            AnswerKind::Stop => {
                format!("stop: end here with exit code 3; `regreen run{spec}` asks again")
            }
        }
    }
}

pub(super) fn prompt(choices: &[AnswerKind]) -> String {
    format!("What is to be done? [{}] ", letters(choices))
}

pub(super) fn unknown(line: &str, choices: &[AnswerKind]) -> String {
    let line = visible_line(line, TITLE_CHARS);
    format!("\"{line}\" is none of {}.\n", letters(choices))
}

/// A letter or the word, whatever its case.
pub(super) fn understood(line: &str, choices: &[AnswerKind]) -> Option<AnswerKind> {
    let said = line.trim().to_lowercase();
    let is_it = |choice: &AnswerKind| said == letter(*choice).to_string() || said == choice.name();
    choices.iter().copied().find(is_it)
}

fn letters(choices: &[AnswerKind]) -> String {
    let letters = choices.iter().map(|choice| letter(*choice).to_string());
    letters.collect::<Vec<_>>().join("/")
}

fn letter(choice: AnswerKind) -> char {
    match choice {
        AnswerKind::Repair => 'r',
        AnswerKind::Edit => 'e',
        AnswerKind::Context => 'c',
        AnswerKind::Fix => 'f',
        AnswerKind::Skip => 's',
        AnswerKind::Stop => 'q',
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use regreen_engine::Question;
    use regreen_model::{FailureRecord, TaskId, TaskKey};

    use super::*;

    fn page(error: &str) -> String {
        let question = Question {
            task: TaskKey {
                id: TaskId::parse("1.3").unwrap(),
                occurrence: 0,
                title: format!("Parse {error}"),
            },
            why: "it could not be split".to_owned(),
            failure: Some(FailureRecord {
                diagnosis: None,
                error: error.to_owned(),
                attempted_fix: error.to_owned(),
            }),
            failed_attempt: Some(2),
            iterations: 2,
            max_iterations: 5,
            repair: None,
            fixes: vec![TaskId::parse("1.3.1").unwrap()],
            choices: AnswerKind::ALL.to_vec(),
        };
        let asked = Asked {
            question: &question,
            log: Some(".regreen/runs/r/1.3/2.log".to_owned()),
            tasks: Path::new("specs/demo/tasks.md"),
        };
        let page = Page {
            asked: &asked,
            tasks: "specs/demo/tasks.md",
            spec: Some("demo"),
            palette: Palette::Plain,
        };
        page.text()
    }

    #[test]
    fn nothing_that_an_agent_printed_commands_the_terminal_or_looks_like_a_choice() {
        let text = page("\u{1b}[2Jboom\r\n  s  skip\u{202e}\n\n\u{9b}31m\u{7}");
        assert!(!text.contains(|c: char| c.is_control() && c != '\n'));
        assert!(!text.contains('\u{202e}'));
        let skips = text.lines().filter(|line| line.starts_with("  s  "));
        assert_eq!(skips.count(), 1, "{text}");
    }

    #[test]
    fn an_error_of_any_length_leaves_room_for_the_choices() {
        let text = page(
            &"x".repeat(500)
                .repeat(4)
                .replace("xxxxxxxxxxxxxxx", "xxxxxxxxxxxxxx\n"),
        );
        assert!(text.lines().count() < 30, "{text}");
    }

    #[test]
    fn every_choice_has_its_letter_and_its_word() {
        for choice in AnswerKind::ALL {
            let letter = letter(choice).to_string();
            for said in [
                &letter,
                &format!(" {} ", letter.to_uppercase()),
                choice.name(),
            ] {
                assert_eq!(understood(said, &AnswerKind::ALL), Some(choice), "{said}");
            }
        }
        for said in ["", "x", "edit it", "ee"] {
            assert_eq!(understood(said, &AnswerKind::ALL), None);
        }
        assert_eq!(understood("c", &[AnswerKind::Stop]), None);
    }
}
