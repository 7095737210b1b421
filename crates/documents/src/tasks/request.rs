//! Rows that an agent asked for.

use regreen_model::{
    ERROR_CHARS, Fields, Modification, ModificationRequest, NewTask, PlainLine, ProposedTask,
    TaskId, TaskKey, is_format_control,
};

use super::edit::{Change, EditError};
use super::insert::InsertPosition;
use super::row::RowId;
use super::task_file::TaskFile;
use super::verify::verify_commands;
use crate::state::StateDocument;

const ROWS: usize = 10;
const TITLE_CHARS: usize = 120;
/// Characters that may separate a row's id from its title.
const SEPARATORS: [char; 5] = ['-', '–', '—', ':', ' '];

impl TaskFile {
    /// Returns the rows that a request for a task yields. `name` identifies it: a request that was
    /// already granted yields the same rows again.
    ///
    /// A fix asks on behalf of its original: its prerequisites go before that.
    ///
    /// # Errors
    /// Returns the reason why the request is refused.
    pub fn grant(
        &self,
        state: &StateDocument,
        task: &TaskKey,
        name: &str,
        request: &ModificationRequest,
    ) -> Result<Vec<NewTask>, String> {
        let Some((row, original)) = self.original_of(task) else {
            return Err("the task is no longer in the file".to_owned());
        };
        let proposals = proposals(&original.id, request);
        let granted = state.modification_rows(&task.id, name);
        if granted.is_none() {
            self.judge(state, (task, &original), request, &proposals)?;
        }
        // A fix whose original is gone counts as an original, and keeps what it was granted before.
        let ids = granted.unwrap_or_else(|| {
            let first = self.next_number(state, row, &original.id);
            let numbers = (first..).take(proposals.len());
            numbers.map(|number| original.id.child(number)).collect()
        });
        // A part is committed like its original, unless it says otherwise.
        let commit = self.task(row).and_then(|task| task.fields.commit);
        let tasks = named(ids, proposals, commit.as_deref());
        match self.insert_granted(task, request.modification, &tasks) {
            Ok(_) => Ok(tasks),
            Err(_) => Err("adding its rows would change the meaning of others".to_owned()),
        }
    }

    /// Returns the original of a task, which may be the task itself.
    fn original_of(&self, task: &TaskKey) -> Option<(RowId, TaskKey)> {
        let root = self.root(self.resolve(task)?);
        Some((root, self.key(root)?))
    }

    /// Returns why a request is refused.
    fn judge(
        &self,
        state: &StateDocument,
        (task, original): (&TaskKey, &TaskKey),
        request: &ModificationRequest,
        proposals: &[Proposal],
    ) -> Result<(), String> {
        let asked = &request.original_task_id;
        if *asked != task.id && *asked != original.id {
            let run = &task.id;
            return Err(format!("it asks for task {asked}, but task {run} was run"));
        }
        let rows = proposals.len();
        if rows == 0 || rows > ROWS {
            return Err(format!("it proposes {rows} rows; 1 to {ROWS} are allowed"));
        }
        if proposals.iter().any(|row| row.title.is_empty()) {
            return Err("a row that it proposes has no title".to_owned());
        }
        // Two rows with ids would turn all rows without one into checklist items.
        if self.is_by_position(original) {
            return Err(
                "this list has no ids, so new rows would renumber its tasks; give them ids (1.1, 1.2, …) to allow it"
                    .to_owned(),
            );
        }
        let lineage = state.modification_lineage(&task.id);
        if lineage.depth >= state.max_modification_depth() {
            return Err("a part of a divided task cannot be divided again".to_owned());
        }
        let most = state.max_modifications();
        if lineage.requests >= most {
            let (root, noun) = (lineage.root, if most == 1 { "change" } else { "changes" });
            return Err(format!("task {root} already had its {most} {noun}"));
        }
        Ok(())
    }

    /// Returns whether a task's id comes from its position.
    fn is_by_position(&self, task: &TaskKey) -> bool {
        let row = self.resolve(task).and_then(|row| self.row(row));
        row.is_some_and(|row| row.numbered)
    }

    /// Returns the first number that no row, fix or earlier request has used.
    fn next_number(&self, state: &StateDocument, row: RowId, original: &TaskId) -> u32 {
        let free = self.next_fix_id(row, &state.fix_task_map());
        let free = free.and_then(|id| original.child_number(&id)).unwrap_or(1);
        let asked_for = state.rows_asked_for();
        let used = asked_for.filter_map(|id| original.child_number(&id)).max();
        used.map_or(free, |used| free.max(used.saturating_add(1)))
    }

    /// Inserts granted rows: parts and prerequisites before the original, follow-ups after it.
    /// `None` if all of them are already there.
    ///
    /// # Errors
    /// Returns an error if the task is gone, or a row can't be inserted.
    pub fn insert_granted(
        &self,
        task: &TaskKey,
        modification: Modification,
        tasks: &[NewTask],
    ) -> Result<Option<Self>, EditError> {
        let (_, original) = self.original_of(task).ok_or(EditError::NoSuchRow)?;
        let mut edited: Option<Self> = None;
        // Rows that go after another are inserted last to first, so that they end up in order.
        let in_order: Vec<&NewTask> = match modification {
            Modification::AddFollowup => tasks.iter().rev().collect(),
            Modification::SplitTask | Modification::AddPrerequisite => tasks.iter().collect(),
        };
        for new in in_order {
            let now = edited.as_ref().unwrap_or(self);
            let row = now.resolve(&original).ok_or(EditError::NoSuchRow)?;
            let place = match modification {
                Modification::AddFollowup => InsertPosition::After(row),
                Modification::SplitTask | Modification::AddPrerequisite => {
                    InsertPosition::Before(row)
                }
            };
            if let Change::Edited(made) = now.insert(new, place)? {
                edited = Some(made);
            }
        }
        Ok(edited)
    }

    /// Returns the keys of granted tasks, as they are in the file.
    #[must_use]
    pub fn granted_keys(&self, tasks: &[NewTask]) -> Vec<TaskKey> {
        let rows = tasks
            .iter()
            .filter_map(|task| self.rows_with_id(&task.id).next());
        rows.filter_map(|row| self.key(row)).collect()
    }
}

fn proposals(original: &TaskId, request: &ModificationRequest) -> Vec<Proposal> {
    let proposed = request.proposed_tasks.iter();
    proposed
        .map(|task| Proposal::read(original, task))
        .collect()
}

fn named(ids: Vec<TaskId>, proposals: Vec<Proposal>, commit: Option<&str>) -> Vec<NewTask> {
    let named = ids.into_iter().zip(proposals);
    named
        .map(|(id, mut proposal)| {
            let own = proposal.fields.commit.take();
            proposal.fields.commit = own.or(commit.map(str::to_owned));
            new_task(id, proposal)
        })
        .collect()
}

fn new_task(id: TaskId, proposal: Proposal) -> NewTask {
    let line = |text: Option<String>| {
        let line = text.map(|text| PlainLine::flatten(&text, ERROR_CHARS));
        line.filter(|line| !line.is_empty())
    };
    let verify = joined_verify(&proposal.fields);
    NewTask {
        id,
        markers: Vec::new(),
        title: proposal.title,
        action: line(proposal.fields.action),
        steps: Vec::new(),
        files: line(proposal.fields.files).map(|line| line.to_string()),
        done_when: line(proposal.fields.done_when),
        verify,
        commit: line(proposal.fields.commit),
    }
}

/// Joins several Verify fields into one script in which every line must pass, because a new task
/// has only one.
fn joined_verify(fields: &Fields) -> Option<String> {
    if fields.more_verify.is_empty() {
        return commands(fields.verify.as_deref()?);
    }
    let all = fields.verify_fields().flat_map(verify_commands);
    let lines: Vec<String> = all.map(|command| command.command).collect();
    commands(&lines.join("\n"))
}

/// Formats commands so that a person reads exactly what will run: a single command as a code span;
/// several, or one with backticks, in a fence.
fn commands(text: &str) -> Option<String> {
    let is_plain = |c: &char| *c == '\t' || !(c.is_control() || is_format_control(*c));
    let lines: Vec<String> = text
        .lines()
        .map(|line| line.chars().filter(is_plain).collect::<String>())
        .map(|line| line.trim_end().to_owned())
        .filter(|line| !line.is_empty() && !is_fence(line))
        .collect();
    match lines.as_slice() {
        [] => None,
        [line] if line.trim().starts_with('`') => Some(line.trim().to_owned()),
        [line] if !line.contains('`') => Some(format!("`{}`", line.trim())),
        lines => Some(format!("```bash\n{}\n```", lines.join("\n"))),
    }
}

fn is_fence(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("```") || line.starts_with("~~~")
}

/// A task as an agent proposes it, without the id it claims.
struct Proposal {
    title: PlainLine,
    fields: Fields,
}

impl Proposal {
    fn read(original: &TaskId, task: &ProposedTask) -> Self {
        match task {
            ProposedTask::Lines(lines) => Self::of_lines(original, lines),
            ProposedTask::Fields {
                title,
                action,
                files,
                done_when,
                verify,
                commit,
            } => Self {
                title: own_title(original, title),
                fields: Fields {
                    action: action.clone(),
                    files: files.clone(),
                    done_when: done_when.clone(),
                    verify: verify.clone(),
                    more_verify: Vec::new(),
                    commit: commit.clone(),
                    // Agents may ask for rows, but not for programs that regreen runs for all of
                    // them.
                    service: None,
                    ready: None,
                },
            },
        }
    }

    /// Parses the first row of the lines like any row of a task file; lines without a row are a
    /// title.
    fn of_lines(original: &TaskId, lines: &str) -> Self {
        let file = TaskFile::read(lines);
        let row = file.row(RowId(0)).zip(file.task(RowId(0)));
        let Some((row, task)) = row else {
            return Self {
                title: own_title(original, lines),
                fields: Fields::default(),
            };
        };
        let title = match row.id.as_ref().filter(|_| !row.numbered) {
            Some(id) => format!("{id} {}", task.title),
            None => task.title,
        };
        Self {
            title: own_title(original, &title),
            fields: task.fields,
        }
    }
}

/// Returns the title without the number that its author expected, because it gets the next free
/// one.
fn own_title(original: &TaskId, text: &str) -> PlainLine {
    let line = PlainLine::first_of(text, TITLE_CHARS);
    let words = line.as_str().trim_start_matches(SEPARATORS);
    let (first, rest) = words.split_once(' ').unwrap_or_default();
    let id = TaskId::parse(first.trim_end_matches([':', '.']));
    let words = match id.and_then(|id| original.child_number(&id)) {
        Some(_) => rest.trim_start_matches(SEPARATORS),
        None => words,
    };
    PlainLine::flatten(words, TITLE_CHARS)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "- [ ] 1.1 A\n- [ ] 1.2 B\n  - **Verify**: `true`\n- [ ] 1.2.1 [FIX 1.2] Fix: x\n- [ ] 1.3 C\n";

    fn id(text: &str) -> TaskId {
        TaskId::parse(text).unwrap()
    }

    fn key(file: &TaskFile, task: &str) -> TaskKey {
        let row = file.rows_with_id(&id(task)).next().unwrap();
        file.key(row).unwrap()
    }

    #[test]
    fn a_proposed_command_is_what_it_looks_like() {
        let shown = commands("make\ttest \u{202E}fr- mr\u{200B} x\u{1b}[2K");
        assert_eq!(shown.as_deref(), Some("`make\ttest fr- mr x[2K`"));
    }

    fn request(modification: Modification, task: &str, rows: &[&str]) -> ModificationRequest {
        ModificationRequest {
            modification,
            original_task_id: id(task),
            reasoning: String::new(),
            proposed_tasks: rows
                .iter()
                .map(|row| ProposedTask::Lines((*row).to_owned()))
                .collect(),
        }
    }

    /// Returns the file with the rows that `task` asked for.
    fn granted(
        file: &str,
        state: &StateDocument,
        task: &str,
        request: &ModificationRequest,
    ) -> Result<String, String> {
        let file = TaskFile::read(file);
        let task = key(&file, task);
        let rows = file.grant(state, &task, "run/1", request)?;
        let made = file
            .insert_granted(&task, request.modification, &rows)
            .map_err(|error| error.to_string())?;
        Ok(made.map_or_else(String::new, |file| file.text().to_owned()))
    }

    #[test]
    fn a_part_may_be_divided_once_more_unless_the_state_file_says_otherwise() {
        let file = "- [ ] 1.1 A\n- [ ] 1.1.1 Part\n- [ ] 1.1.1.1 Part of it\n";
        let ask = |state: &StateDocument, task: &str| {
            granted(
                file,
                state,
                task,
                &request(Modification::SplitTask, task, &["One"]),
            )
        };
        let mut state = StateDocument::default();
        state.record_modification(&id("1.1"), "run/1", &[id("1.1.1")]);
        assert!(ask(&state, "1.1.1").is_ok());
        state.record_modification(&id("1.1.1"), "run/2", &[id("1.1.1.1")]);
        let refused = Err("a part of a divided task cannot be divided again".to_owned());
        assert_eq!(ask(&state, "1.1.1.1"), refused);
        let (mut strict, _) = StateDocument::read(r#"{"maxModificationDepth":1}"#).unwrap();
        strict.record_modification(&id("1.1"), "run/1", &[id("1.1.1")]);
        assert_eq!(ask(&strict, "1.1.1"), refused);
    }

    #[test]
    fn the_state_file_says_how_many_changes_a_task_may_ask_for() {
        let ask = |state: &StateDocument| {
            let request = request(Modification::AddFollowup, "1.1", &["One"]);
            granted("- [ ] 1.1 A\n- [ ] 1.2 B\n", state, "1.1", &request)
        };
        let state = r#"{"maxModificationsPerTask":1}"#;
        let (mut state, _) = StateDocument::read(state).unwrap();
        assert!(ask(&state).is_ok());
        state.record_modification(&id("1.1"), "run/0", &[]);
        assert_eq!(
            ask(&state),
            Err("task 1.1 already had its 1 change".to_owned())
        );
    }

    #[test]
    fn rows_that_were_granted_are_not_added_again_when_the_original_is_gone() {
        let file = TaskFile::read(FILE);
        let fix = key(&file, "1.2.1");
        let request = request(Modification::SplitTask, "1.2.1", &["One", "Two"]);
        let mut state = StateDocument::default();
        let rows = file.grant(&state, &fix, "run/1", &request).unwrap();
        let ids: Vec<TaskId> = rows.iter().map(|row| row.id.clone()).collect();
        state.record_modification(&fix.id, "run/1", &ids);
        let divided = file.insert_granted(&fix, request.modification, &rows);
        let divided = divided.unwrap().unwrap();
        // regreen is killed before it records the answer, and a person removes the original.
        let without = divided
            .text()
            .replace("- [ ] 1.2 B\n  - **Verify**: `true`\n", "");
        let without = TaskFile::read(without);
        let again = without.grant(&state, &fix, "run/1", &request).unwrap();
        let made = without.insert_granted(&fix, request.modification, &again);
        assert!(made.unwrap().is_none());
    }

    #[test]
    fn a_fix_asks_on_behalf_of_its_original() {
        for asked in ["1.2", "1.2.1"] {
            let request = request(Modification::AddPrerequisite, asked, &["Install"]);
            let made = granted(FILE, &StateDocument::default(), "1.2.1", &request).unwrap();
            assert!(
                made.starts_with("- [ ] 1.1 A\n- [ ] 1.2.2 Install\n- [ ] 1.2 B\n"),
                "{made}"
            );
        }
        let request = request(Modification::AddFollowup, "1.2.1", &["Tidy"]);
        let made = granted(FILE, &StateDocument::default(), "1.2.1", &request).unwrap();
        assert!(
            made.ends_with("- [ ] 1.2.1 [FIX 1.2] Fix: x\n- [ ] 1.2.2 Tidy\n- [ ] 1.3 C\n"),
            "{made}"
        );
    }

    #[test]
    fn rows_as_they_stand_in_a_file_keep_what_they_say() {
        let row = "- [x] 1.1.7 [P] First\n  - **Do**: Read it\n  - **Files**: `a.rs`\n  - **Verify**: `cargo test` and `true`\n  - **Commit**: `feat: a`\n- [ ] 9.9 Evil";
        let script = "- [ ] 2.0 Second\n  - **Verify**:\n    ```bash\n    cd a\n    make\n    ```";
        let request = request(Modification::SplitTask, "1.1", &[row, script]);
        assert_eq!(
            granted(
                "- [ ] 1.1 A\n- [ ] 1.2 B\n",
                &StateDocument::default(),
                "1.1",
                &request
            )
            .unwrap(),
            "- [ ] 1.1.1 First
  - **Do**: Read it
  - **Files**: a.rs
  - **Verify**: `cargo test` and `true`
  - **Commit**: `feat: a`
- [ ] 1.1.2 2.0 Second
  - **Verify**:
    ```bash
    cd a
    make
    ```
- [ ] 1.1 A
- [ ] 1.2 B
"
        );
    }

    #[test]
    fn numbers_that_were_used_are_not_used_again() {
        let mut state = StateDocument::default();
        state.record_fix(&id("1.1"), &id("1.1.3"), "x");
        state.record_modification(&id("1.1"), "run/0", &[id("1.1.4"), id("1.1.5")]);
        let request = request(Modification::SplitTask, "1.1", &["Part"]);
        let made = granted(FILE, &state, "1.1", &request).unwrap();
        assert!(made.starts_with("- [ ] 1.1.6 Part\n"), "{made}");
    }

    #[test]
    fn a_list_without_ids_stays_as_it_is() {
        let request = request(Modification::SplitTask, "2", &["One"]);
        let refused = granted(
            "- [ ] A\n- [ ] B\n",
            &StateDocument::default(),
            "2",
            &request,
        )
        .unwrap_err();
        assert!(refused.starts_with("this list has no ids"), "{refused}");
    }

    #[test]
    fn a_file_never_says_more_than_it_was_meant_to() {
        for title in [
            "<!-- x",
            "[1.3]: x",
            "1.3 x",
            "# x",
            "**Verify**: x",
            "```",
            "* [ ] 6.6 x",
            "- - [ ] x",
            "- x",
            "```\n- [ ] 6.6 x\n```",
            "[FIX 1.1] x",
            "| x |",
            "\\",
            "> x",
            "~~~",
            "_x",
            ": x",
            "(x) [",
        ] {
            let request = request(Modification::SplitTask, "1.2", &[title]);
            match granted(FILE, &StateDocument::default(), "1.2", &request) {
                Ok(made) => {
                    let (before, after) = (TaskFile::read(FILE), TaskFile::read(made));
                    assert_eq!(after.rows().count(), before.rows().count() + 1, "{title}");
                }
                Err(why) => assert_eq!(why, "a row that it proposes has no title", "{title}"),
            }
        }
    }
}
