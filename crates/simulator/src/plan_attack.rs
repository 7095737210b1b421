//! Attacks on the task file by agents, in an attempt or through a check or hook that they wrote.

use std::rc::Rc;

use regreen_documents::TaskFile;
use regreen_model::{Task, TaskKey};

use crate::task_lists;
use crate::world::World;

/// A change to the task file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PlanAttack {
    /// Ticks every row, including its own.
    TicksAll,
    UnticksDone,
    DeletesRow,
    EmptiesFile,
    AddsRow,
    AddsTickedRow,
    EditsTitle,
    /// Writes a Verify that can't fail.
    ForgesVerify,
    RemovesVerify,
    EditsCommit,
    /// Makes a row optional.
    StarsRow,
    /// Makes a row a fix of another task.
    MarksAsFix,
    ChangesId,
    /// Nests a row below the one above.
    NestsRow,
    /// Indents a row until it is code.
    IndentsRow,
    /// Puts the rest of the list into a comment.
    HidesInComment,
    /// Puts the rest of the list into a code block.
    HidesInFence,
    /// Turns the box into a marker.
    RemovesBox,
    /// Turns a row into a group with one finished part.
    AddsTickedPart,
    /// Writes the file with other line endings.
    ChangesLineEndings,
}

impl PlanAttack {
    pub(crate) const ALL: [Self; 20] = [
        Self::TicksAll,
        Self::UnticksDone,
        Self::DeletesRow,
        Self::EmptiesFile,
        Self::AddsRow,
        Self::AddsTickedRow,
        Self::EditsTitle,
        Self::ForgesVerify,
        Self::RemovesVerify,
        Self::EditsCommit,
        Self::StarsRow,
        Self::MarksAsFix,
        Self::ChangesId,
        Self::NestsRow,
        Self::IndentsRow,
        Self::HidesInComment,
        Self::HidesInFence,
        Self::RemovesBox,
        Self::AddsTickedPart,
        Self::ChangesLineEndings,
    ];
}

impl World {
    pub(crate) fn attack_plan(&mut self, attack: PlanAttack) {
        let file = Rc::clone(&self.file);
        let tasks = file.tasks();
        let rows = tasks.iter().filter(|task| task.id.is_some());
        let text = match (attack, self.rng.pick(rows)) {
            (PlanAttack::TicksAll, _) => with_all_boxes(&file, true),
            (PlanAttack::UnticksDone, _) => with_all_boxes(&file, false),
            (PlanAttack::EmptiesFile, _) => String::new(),
            (PlanAttack::ChangesLineEndings, _) => match file.text().contains("\r\n") {
                true => file.text().replace("\r\n", "\n"),
                false => file.text().replace('\n', "\r\n"),
            },
            (_, None) => return,
            (attack, Some(row)) => self.attacked_row(attack, &file, row),
        };
        self.file = Rc::new(TaskFile::read(text));
    }

    fn attacked_row(&mut self, attack: PlanAttack, file: &TaskFile, row: &Task) -> String {
        match attack {
            PlanAttack::DeletesRow => task_lists::without(file, row),
            PlanAttack::AddsRow | PlanAttack::AddsTickedRow => {
                let number = self.new_number();
                let is_ticked = attack == PlanAttack::AddsTickedRow;
                let line = self.plan.row(&format!("extra{number}"), number, is_ticked);
                task_lists::with_line_after(file, row, &line)
            }
            PlanAttack::EditsTitle => self.retitled(file, row, " edited"),
            PlanAttack::ForgesVerify => task_lists::with_forged_verify(file, row),
            PlanAttack::RemovesVerify => task_lists::without_verify(file, row),
            PlanAttack::EditsCommit => task_lists::with_other_commit(file, row),
            PlanAttack::StarsRow => task_lists::with_star(file, row),
            PlanAttack::MarksAsFix => {
                let tasks = file.tasks();
                let others = tasks.iter().filter(|other| other.line != row.line);
                let ids: Vec<_> = others.filter_map(|other| other.id.clone()).collect();
                // Without ids, the row is now a checklist item, and its title is another task's.
                let title = match self.plan.has_ids() {
                    true => row.title.clone(),
                    false => format!("title{} f", self.new_number()),
                };
                match self.rng.pick(ids) {
                    Some(id) => task_lists::with_title(file, row, &format!("[FIX {id}] {title}")),
                    None => task_lists::with_star(file, row),
                }
            }
            PlanAttack::ChangesId => {
                let id = format!("9.{}", self.new_number());
                // Where its title names a row, it is another task with another id.
                let is_named_by_title = self.plan.has_ids() && !self.is_named_by_id(file, row);
                let file = TaskFile::read(task_lists::with_id(file, row, &id));
                let row = file.row_on_line(row.line).and_then(|row| file.task(row));
                match row.filter(|_| is_named_by_title) {
                    Some(row) => self.retitled(&file, &row, " i"),
                    None => file.text().to_owned(),
                }
            }
            PlanAttack::NestsRow => task_lists::indented(file, row, 2),
            PlanAttack::IndentsRow => task_lists::indented(file, row, 8),
            // Hidden rows are put back, and may reappear later. Without ids, rows with equal titles
            // are different tasks.
            PlanAttack::HidesInComment | PlanAttack::HidesInFence if !self.plan.has_ids() => {
                task_lists::without(file, row)
            }
            PlanAttack::HidesInComment => task_lists::hidden_between(file, row, ["<!--", "-->"]),
            PlanAttack::HidesInFence => task_lists::hidden_between(file, row, ["```", "```"]),
            PlanAttack::RemovesBox => task_lists::without_box(file, row),
            PlanAttack::AddsTickedPart => {
                let number = self.new_number();
                let line = self.plan.row(&format!("part{number}"), number, true);
                task_lists::with_line_after(file, row, &format!("  {line}"))
            }
            PlanAttack::TicksAll
            | PlanAttack::UnticksDone
            | PlanAttack::EmptiesFile
            | PlanAttack::ChangesLineEndings => file.text().to_owned(),
        }
    }

    /// Ticks the row of a task, as working agents sometimes do.
    pub(crate) fn tick_own_row(&mut self, own: &TaskKey) {
        let file = Rc::clone(&self.file);
        let row = file.resolve(own).and_then(|row| file.task(row));
        if let Some(row) = row {
            let text = task_lists::with_box(&file, &row, true);
            self.file = Rc::new(TaskFile::read(text));
        }
    }
}

fn with_all_boxes(file: &TaskFile, done: bool) -> String {
    let tasks = file.tasks();
    tasks.iter().fold(file.text().to_owned(), |text, task| {
        task_lists::with_box(&TaskFile::read(text), task, done)
    })
}
