//! What the tasks of a plan may provide before a check needs it.

use std::rc::Rc;

use regreen_model::{CommandInput, Task};

/// Words of tasks that set something up: what they install can't be told from their text.
const SETTING_UP: &[&str] = &[
    "bootstrap",
    "dependenc",
    "initiali",
    "install",
    "npm ci",
    "npm i ",
    "pip ",
    "poetry add",
    "provision",
    "requirements",
    "scaffold",
    "set up",
    "setup",
    "toolchain",
    "uv add",
    "uv sync",
    "venv",
    "virtual env",
];

/// The words of the open tasks of a plan, without their checks.
#[derive(Debug, Default)]
pub(super) struct TaskWords {
    words: String,
}

impl TaskWords {
    /// Adds the next task. Returns where its words end.
    pub(super) fn add(&mut self, task: &Task) -> usize {
        let fields = &task.fields;
        let fields = [&fields.action, &fields.files, &fields.done_when];
        let texts = [Some(&task.title)].into_iter();
        for text in texts.chain(fields.map(Option::as_ref)).flatten() {
            self.words.push_str(&text.to_lowercase());
            self.words.push('\n');
        }
        self.words.len()
    }

    pub(super) fn share(self) -> Rc<str> {
        self.words.into()
    }
}

/// The words of a task and of the open tasks before it. All tasks of a plan share them: together, they
/// would be as long as the square of the plan.
#[derive(Clone, Debug)]
pub(super) struct Makers {
    of_plan: Rc<str>,
    end: usize,
}

impl Makers {
    pub(super) fn until(of_plan: &Rc<str>, end: usize) -> Self {
        let of_plan = Rc::clone(of_plan);
        Self { of_plan, end }
    }

    fn words(&self) -> &str {
        &self.of_plan[..self.end]
    }

    /// Returns whether a task names what is missing: it will be there.
    pub(super) fn name(&self, missing: &CommandInput) -> bool {
        match missing {
            CommandInput::Program(_) => false,
            CommandInput::Module { name, .. } => {
                self.has_word(&format!("{name}.py"))
                    || self.words().contains(&format!("{}/", name.to_lowercase()))
            }
            CommandInput::Path(path) => {
                let path = path.trim_start_matches("./");
                let name = path.rsplit('/').next().unwrap_or(path);
                self.has_word(path) || self.has_word(name)
            }
            CommandInput::Target { runner, name, .. } => {
                let file = match runner.as_str() {
                    "just" => "justfile",
                    "make" | "gmake" => "makefile",
                    _ => "package.json",
                };
                self.has_word(file) || self.has_word(name)
            }
        }
    }

    /// Returns whether a task installs or sets up something.
    pub(super) fn set_up(&self) -> bool {
        SETTING_UP.iter().any(|word| self.words().contains(word))
    }

    fn has_word(&self, word: &str) -> bool {
        let word = word.to_lowercase();
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
        let words = self.words();
        words.match_indices(&word).any(|(at, _)| {
            let before = words[..at].chars().next_back();
            let after = words[at + word.len()..].chars().next();
            !before.is_some_and(is_part) && !after.is_some_and(is_part)
        })
    }
}

#[cfg(test)]
mod tests {
    use regreen_documents::TaskFile;

    use super::*;

    fn makers(plan: &str) -> Makers {
        let mut words = TaskWords::default();
        let ends = TaskFile::read(plan).tasks();
        let end = ends.iter().map(|task| words.add(task)).last();
        Makers::until(&words.share(), end.unwrap())
    }

    #[test]
    fn a_task_knows_nothing_of_the_tasks_after_it() {
        let mut words = TaskWords::default();
        let tasks = TaskFile::read("- [ ] 1.1 A\n- [ ] 1.2 Install the tools\n").tasks();
        let ends: Vec<usize> = tasks.iter().map(|task| words.add(task)).collect();
        let shared = words.share();
        let set_up = ends.iter().map(|end| Makers::until(&shared, *end).set_up());
        assert_eq!(set_up.collect::<Vec<_>>(), [false, true]);
    }

    #[test]
    fn a_task_provides_the_files_and_targets_that_it_names_outside_of_its_check() {
        let path = CommandInput::Path("./scripts/check.sh".to_owned());
        let target = CommandInput::Target {
            runner: "npm".to_owned(),
            name: "lint:css".to_owned(),
            folder: String::new(),
        };
        let names = |plan: &str| (makers(plan).name(&path), makers(plan).name(&target));
        assert_eq!(names("- [ ] 1.1 Write `check.sh`\n"), (true, false));
        assert_eq!(
            names("- [ ] 1.1 A\n  - **Files**: scripts/check.sh, package.json\n"),
            (true, true)
        );
        assert_eq!(
            names("- [ ] 1.1 A\n  - **Do**: add a script lint:css\n"),
            (false, true)
        );
        let verify = "- [ ] 1.1 Check\n  - **Verify**: `scripts/check.sh && npm run lint:css`\n";
        assert_eq!(names(verify), (false, false));
        assert_eq!(names("- [ ] 1.1 recheck.sh é\n"), (false, false));
    }

    #[test]
    fn a_task_that_installs_something_may_install_anything() {
        assert!(makers("- [ ] 1.1 Install the tools\n").set_up());
        assert!(makers("- [ ] 1.1 A\n  - **Do**: run `uv sync`\n").set_up());
        assert!(!makers("- [ ] 1.1 Write pytest tests\n").set_up());
    }
}
