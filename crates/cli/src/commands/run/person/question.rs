//! The question to a person, and the parser of the answer.

use regreen_model::{AnswerKind, Failure, FailureRecord, TaskFailure, visible_line};
use regreen_reporters::{LineStyle, Status, StatusLine, headline, kind_and_place};
use regreen_runtime::PersonQuestion;

const LINE_CHARS: usize = 300;

/// A question as it is shown.
#[derive(Debug)]
pub(super) struct QuestionText<'a> {
    pub(super) asked: &'a PersonQuestion<'a>,
    /// The task file, relative to the current folder.
    pub(super) tasks: &'a str,
    /// The spec argument that other commands need.
    pub(super) spec: Option<&'a str>,
    pub(super) style: LineStyle,
}

impl QuestionText<'_> {
    pub(super) fn text(&self) -> String {
        let choices = &self.asked.question.choices;
        let mut text = format!("\n{}\n", self.question().render(self.style));
        for choice in choices {
            let line = StatusLine::labelled(letter(*choice), self.effect(*choice)).wrapped();
            text.push_str(&line.render(self.style));
        }
        text.push('\n');
        text
    }

    fn question(&self) -> StatusLine {
        let question = self.asked.question;
        let shown = |text: &str| visible_line(text, LINE_CHARS);
        let name = shown(&format!("{} {}", question.task.id, question.task.title));
        let (used, most) = (question.iterations, question.max_iterations);
        let attempts = match used {
            0 => String::new(),
            used => format!("{used}/{most} attempts used"),
        };
        let mut line = StatusLine::new(Status::Ask, name)
            .trailing(attempts)
            .wrapped_detail(shown(&question.why));
        for (label, text) in self.facts() {
            let text = shown(&text);
            line = line.wrapped_detail(match label {
                "" => text,
                label => format!("{label}: {text}"),
            });
        }
        line
    }

    fn facts(&self) -> Vec<(&'static str, String)> {
        let question = self.asked.question;
        let mut facts = Vec::new();
        if let Some(failure) = &question.failure {
            facts.extend(kind_and_place(failure).map(|kind| ("", kind)));
            facts.push(("", headline(failure)));
            facts.extend(said_last(failure).map(|words| ("the agent said last", words)));
            let advice = failure
                .confident_diagnosis()
                .map(Failure::advice)
                .unwrap_or_default();
            facts.extend(
                advice
                    .iter()
                    .map(|action| ("may help", (*action).to_owned())),
            );
            if failure.attempted_fix != TaskFailure::NO_ATTEMPTED_FIX {
                facts.push(("tried", failure.attempted_fix.clone()));
            }
        }
        if let Some(repair) = &question.repair {
            facts.push(("repair", repair.does.clone()));
        }
        if !question.fixes.is_empty() {
            let fixes: Vec<String> = question.fixes.iter().map(ToString::to_string).collect();
            facts.push(("fixes so far", fixes.join(", ")));
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
            AnswerKind::Repair => "repair: let regreen do it, then retry the task".to_owned(),
            AnswerKind::Edit => {
                format!("edit {tasks} and retry: the task starts over, with all its attempts")
            }
            AnswerKind::Context => {
                "add context and retry: the agent gets what you write; counts as an attempt"
                    .to_owned()
            }
            AnswerKind::Fix => {
                "add a fix task anyway: the agent does it, then this task is retried".to_owned()
            }
            AnswerKind::Skip => {
                format!("skip: leave it out until `regreen retry {id}{flag}`")
            }
            AnswerKind::Stop => {
                format!("stop with exit code 3: `regreen run{spec}` asks again")
            }
        }
    }
}

/// Returns the last paragraph of the agent's message, unless the error quotes it.
fn said_last(failure: &FailureRecord) -> Option<String> {
    let words = failure.unquoted_words()?;
    let last = words.rsplit("\n\n").find(|text| !text.trim().is_empty())?;
    (!failure.error.contains(last.trim())).then(|| last.trim().to_owned())
}

pub(super) fn prompt(choices: &[AnswerKind]) -> String {
    format!("What now? [{}] ", letters(choices))
}

pub(super) fn unknown_answer(line: &str, choices: &[AnswerKind]) -> String {
    let line = visible_line(line, LINE_CHARS);
    format!("\"{line}\" is not one of {}.\n", letters(choices))
}

/// Parses an answer: a letter or a word, in upper or lower case.
pub(super) fn parse_answer(line: &str, choices: &[AnswerKind]) -> Option<AnswerKind> {
    let answer = line.trim().to_lowercase();
    let is_it = |choice: &AnswerKind| answer == letter(*choice) || answer == choice.name();
    choices.iter().copied().find(is_it)
}

fn letters(choices: &[AnswerKind]) -> String {
    let letters: Vec<&str> = choices.iter().map(|choice| letter(*choice)).collect();
    letters.join("/")
}

fn letter(choice: AnswerKind) -> &'static str {
    match choice {
        AnswerKind::Repair => "r",
        AnswerKind::Edit => "e",
        AnswerKind::Context => "c",
        AnswerKind::Fix => "f",
        AnswerKind::Skip => "s",
        AnswerKind::Stop => "q",
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use regreen_engine::Question;
    use regreen_model::{TaskId, TaskKey};

    use super::*;

    fn question_text(error: &str) -> String {
        let question = Question {
            task: TaskKey {
                id: TaskId::parse("1.3").unwrap(),
                occurrence: 0,
                title: format!("Parse {error}"),
            },
            why: "the agent could not split it".to_owned(),
            failure: Some(FailureRecord {
                diagnosis: None,
                error: error.to_owned(),
                attempted_fix: error.to_owned(),
                last_words: error.to_owned(),
            }),
            failed_attempt: Some(2),
            iterations: 2,
            max_iterations: 5,
            repair: None,
            fixes: vec![TaskId::parse("1.3.1").unwrap()],
            choices: AnswerKind::ALL.to_vec(),
        };
        let asked = PersonQuestion {
            question: &question,
            log: Some(".regreen/runs/r/1.3/2.log".to_owned()),
            tasks: Path::new("specs/demo/tasks.md"),
        };
        let text = QuestionText {
            asked: &asked,
            tasks: "specs/demo/tasks.md",
            spec: Some("demo"),
            style: LineStyle::default(),
        };
        text.text()
    }

    #[test]
    fn nothing_that_an_agent_printed_commands_the_terminal_or_looks_like_a_choice() {
        let text = question_text("\u{1b}[2Jboom\r\n       s  skip\u{202e}\n\n\u{9b}31m\u{7}");
        assert!(!text.contains(|c: char| c.is_control() && c != '\n'));
        assert!(!text.contains('\u{202e}'));
        let skips = text.lines().filter(|line| line.starts_with("       s  "));
        assert_eq!(skips.count(), 1, "{text}");
    }

    #[test]
    fn an_error_of_any_length_leaves_room_for_the_choices() {
        let text = question_text(
            &"x".repeat(500)
                .repeat(4)
                .replace("xxxxxxxxxxxxxxx", "xxxxxxxxxxxxxx\n"),
        );
        assert!(text.lines().count() < 30, "{text}");
    }

    #[test]
    fn every_choice_has_its_letter_and_its_word() {
        for choice in AnswerKind::ALL {
            let letter = letter(choice);
            for said in [
                letter,
                &format!(" {} ", letter.to_uppercase()),
                choice.name(),
            ] {
                assert_eq!(parse_answer(said, &AnswerKind::ALL), Some(choice), "{said}");
            }
        }
        for said in ["", "x", "edit it", "ee"] {
            assert_eq!(parse_answer(said, &AnswerKind::ALL), None);
        }
        assert_eq!(parse_answer("c", &[AnswerKind::Stop]), None);
    }
}
