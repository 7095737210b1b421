//! Tells the user's `on_question` program what a run asks.

use regreen_model::{Event, Timestamp};
use regreen_overview::RunView;
use regreen_runtime::SpecPaths;

use crate::commands::questions::Entry;
use crate::user_program;

/// The program, and what is known of the run.
#[derive(Debug)]
pub struct QuestionProgram {
    argv: Vec<String>,
    paths: SpecPaths,
    run: RunView,
}

impl QuestionProgram {
    pub fn new(argv: &[String], paths: SpecPaths) -> Self {
        Self {
            argv: argv.to_vec(),
            paths,
            run: RunView::default(),
        }
    }

    /// Notes an event from before this process resumed the run.
    pub fn recall(&mut self, at: Timestamp, event: &Event) {
        self.run.apply(at, event);
    }

    /// Starts the program if the run asks something, and doesn't wait for it.
    pub fn event(&mut self, now: Timestamp, event: &Event) {
        let Event::PersonAsked { task, .. } = event else {
            return self.run.apply(now, event);
        };
        let known = self.run.task(task).and_then(|task| task.question.as_ref());
        let is_answered = known.is_some_and(|question| question.is_answered);
        self.run.apply(now, event);
        // A question that someone has answered is only asked to take the answer.
        if is_answered {
            return;
        }
        let asked = self.run.task(task);
        let asked = asked.and_then(|task| Some((task, task.question.as_ref()?)));
        if let Some((task, question)) = asked {
            let entry = Entry::new(&self.paths, &self.run.run, task, question, true);
            let json = serde_json::to_string(&entry).unwrap_or_default() + "\n";
            user_program::run_beside("on_question", &self.argv, &self.paths.root, &json);
        }
    }
}
