//! People, who edit the list at any time and make choices between processes.

use std::rc::Rc;

use regreen_documents::{RowId, TaskFile};
use regreen_model::{ChoiceKind, PersonAnswer, PersonChoice, Task, TaskKey, TaskKind};

use crate::task_lists;
use crate::world::World;
use crate::world::name_of;

impl World {
    pub(crate) fn people_may_edit(&mut self) {
        if self.rng.one_in(30) {
            self.people_edit();
        }
    }

    /// Lets people make more changes while no process is running.
    pub(crate) fn people_between_processes(&mut self) {
        while self.rng.one_in(4) {
            self.people_edit();
        }
        self.people_make_choices();
    }

    fn people_edit(&mut self) {
        let file = Rc::clone(&self.file);
        let tasks = file.tasks();
        let what = self.rng.below(8);
        let is_meant = |task: &&Task| task.id.is_some() && (what < 6 || task.is_fix());
        let Some(task) = self.rng.pick(tasks.iter().filter(is_meant)) else {
            return;
        };
        let text = match what {
            0 => self.retitled(&file, task, " more"),
            1 => task_lists::with_box(&file, task, true),
            2 => task_lists::with_box(&file, task, false),
            3 => {
                let number = self.new_number();
                let row = self.plan.row(&format!("new{number}"), number, false);
                task_lists::with_line_after(&file, task, &row)
            }
            4 => task_lists::moved_to_end(&file, task),
            _ => task_lists::without(&file, task),
        };
        let after = TaskFile::read(text);
        // While the plan is guarded, changes may be the agent's.
        if self.kept.is_none() {
            self.watch.people_edited(&file, &after, what == 4);
        }
        self.file = Rc::new(after);
    }

    pub(crate) fn people_make_choices(&mut self) {
        while self.rng.one_in(4) {
            let file = Rc::clone(&self.file);
            let task = self
                .rng
                .pick(file.rows().filter(|row| file.key(*row).is_some()));
            let what = self.rng.pick(ChoiceKind::ALL);
            let (Some(row), Some(what)) = (task, what) else {
                return;
            };
            self.say(&file, row, what);
        }
    }

    /// Makes a choice as `regreen skip`, `done` and `retry` do.
    fn say(&mut self, file: &TaskFile, row: RowId, what: ChoiceKind) {
        let all = with_tasks_below(file, row);
        let is_open = |row: &RowId| !file.is_done(*row);
        let open: Vec<RowId> = all.iter().copied().filter(is_open).collect();
        let rows = match what {
            ChoiceKind::Skip => open,
            ChoiceKind::Retry if !open.is_empty() => open,
            ChoiceKind::Retry | ChoiceKind::Done => all,
        };
        match what {
            ChoiceKind::Skip => {}
            ChoiceKind::Done => self.set_boxes(file, &rows, true),
            ChoiceKind::Retry => self.reopen(file, row, &rows),
        }
        for task in rows.iter().filter_map(|row| file.key(*row)) {
            self.choose(task, what);
        }
    }

    fn choose(&mut self, task: TaskKey, what: ChoiceKind) -> PersonChoice {
        let number = u64::try_from(self.choices.len()).unwrap_or(0) * 3 + 1;
        self.watch.chosen(&task, what);
        let choice = PersonChoice { number, task, what };
        self.choices.push(choice.clone());
        choice
    }

    /// Answers the question about a task as a person at a terminal would.
    pub(crate) fn person_answers(
        &mut self,
        task: &TaskKey,
    ) -> (PersonAnswer, Option<PersonChoice>) {
        let text = "look into src".to_owned();
        let answer = match self.rng.below(6) {
            0 => PersonAnswer::Stop,
            5 => PersonAnswer::Repair,
            1 => PersonAnswer::Skip,
            2 => PersonAnswer::Fix,
            3 => PersonAnswer::Context { text },
            _ => PersonAnswer::Edit,
        };
        if answer == PersonAnswer::Edit {
            self.people_may_edit();
            let file = Rc::clone(&self.file);
            self.forgive(&file, file.resolve(task).as_slice());
        }
        let choice = answer.choice().map(|what| self.choose(task.clone(), what));
        (answer, choice)
    }

    fn reopen(&mut self, file: &TaskFile, row: RowId, rows: &[RowId]) {
        let is_fix = |other: &RowId| file.fixed_by(*other).is_some() && *other != row;
        let mut emptied: Vec<RowId> = rows.iter().copied().filter(|row| !is_fix(row)).collect();
        emptied.push(row);
        emptied.extend(file.groups_around(row));
        self.set_boxes(file, &emptied, false);
        self.forgive(file, rows);
    }

    /// Clears the budgets of tasks and their fixes.
    fn forgive(&mut self, file: &TaskFile, rows: &[RowId]) {
        let with_fixes = rows
            .iter()
            .flat_map(|row| std::iter::once(*row).chain(file.all_fixes(*row)));
        let forgiven: Vec<RowId> = with_fixes.collect();
        self.memory.forgive_all(file, &forgiven);
        for key in forgiven.iter().filter_map(|row| file.key(*row)) {
            self.watch.forgiven(&name_of(&key));
        }
    }

    fn set_boxes(&mut self, file: &TaskFile, rows: &[RowId], done: bool) {
        let keys: Vec<TaskKey> = rows.iter().filter_map(|row| file.key(*row)).collect();
        for key in &keys {
            let before = Rc::clone(&self.file);
            if let Ok(Some(after)) = before.box_set(key, done) {
                if !self.is_agents_group(&before, key, &keys) {
                    self.watch.people_set_box(&before, &after);
                }
                self.file = Rc::new(after);
            }
        }
    }
}

impl World {
    /// Returns whether only an agent's unreviewed changes make a task a group around one of `rows`.
    /// Then reopening that row doesn't reopen the group.
    fn is_agents_group(&self, file: &TaskFile, key: &TaskKey, rows: &[TaskKey]) -> bool {
        let is_group = |file: &TaskFile| {
            let row = file.resolve(key);
            row.and_then(|row| file.kind(row)) == Some(TaskKind::Group)
        };
        let is_around = |file: &TaskFile| {
            let group = file.resolve(key);
            let mut rows = rows.iter().filter_map(|row| file.resolve(row));
            rows.any(|row| file.groups_around(row).any(|around| Some(around) == group))
        };
        self.kept.as_ref().is_some_and(|kept| {
            is_group(file) && !is_group(&kept.plan) || is_around(file) && !is_around(&kept.plan)
        })
    }
}

fn with_tasks_below(file: &TaskFile, row: RowId) -> Vec<RowId> {
    let is_below = |other: &RowId| file.groups_around(*other).any(|group| group == row);
    let below = file
        .rows()
        .filter(|other| file.key(*other).is_some() && is_below(other));
    std::iter::once(row).chain(below).collect()
}
