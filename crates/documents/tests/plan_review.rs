//! Whatever an agent does to a plan, nothing that must be kept is lost.

use std::collections::BTreeSet;

use proptest::prelude::*;
use regreen_documents::{PlanReview, RowId, TaskFile, review};
use regreen_model::{Task, TaskId, TaskKey, TaskKind};

/// A plan with phases: with or without ids, flat or in groups, with fixes.
fn plan() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        Just("  - **Do**: one\n  - **Verify**: `make test`\n  - **Commit**: `feat: one`\n"),
        Just("  - **Verify**:\n    ```sh\n    make\n\n    # test\n    ```\n"),
        Just("  text that goes on\n"),
        Just("  - [ ] a checklist item\n"),
        Just(""),
        Just(""),
    ];
    let after = prop_oneof![4 => Just(""), 2 => Just("\n"), 1 => Just("\n## Phase\n\n"), 1 => Just("\nA note.\n\n---\n\n")];
    let task = (part, any::<bool>(), after, 0_u8..6);
    let style = prop_oneof![Just("1."), Just("T00"), Just("")];
    let eol = prop_oneof![3 => Just("\n"), 1 => Just("\r\n")];
    let last = any::<bool>();
    (style, eol, last, prop::collection::vec(task, 1..9)).prop_map(|(style, eol, last, tasks)| {
        let mut text = String::from("# Plan\n\n");
        for (at, (part, done, after, shape)) in tasks.into_iter().enumerate() {
            let n = at + 1;
            let mark = if done { 'x' } else { ' ' };
            match (shape, style) {
                (_, "") => text += &format!("- [{mark}] Task {}\n{part}", n % 4),
                (0, _) => text += &format!("- [{mark}] {style}{n} Group\n  - [{mark}] {style}{n}.1 Part\n  - [ ] {style}{n}.2 Part\n"),
                (1, _) => text += &format!("- [ ] {style}{n} Task\n{part}- [{mark}] {style}{n}.1 [FIX {style}{n}] Fix: it\n"),
                _ => text += &format!("- [{mark}] {style}{n} Task {n}\n{part}"),
            }
            text += after;
        }
        let text = text.replace('\n', eol);
        if last { text } else { text.trim_end().to_owned() }
    })
}

/// One edit by an agent.
#[derive(Clone, Debug)]
enum AgentEdit {
    Delete(usize, usize),
    Copy(usize, usize),
    Move(usize, usize),
    Tick(usize),
    Untick(usize),
    Write(usize, &'static str),
    Append(usize, &'static str),
    Indent(usize),
    Redefine(usize, &'static str, &'static str),
    Endings,
    Truncate(usize),
    Replace(&'static str),
}

fn agent_edit() -> impl Strategy<Value = AgentEdit> {
    let line = 0_usize..60;
    let text = prop::sample::select(vec![
        "- [ ] 9.9 New",
        "- [x] 1.1 Task 1",
        "- [ ] Task 2",
        "## Phase",
        "```",
        "<!--",
        "-->",
        "---",
        "words",
        "  - [x] 1.2.9 Nested",
        "  - **Verify**: `true`",
        "",
    ]);
    let garbage = prop::sample::select(vec![
        "",
        "\u{FEFF}",
        "done\n",
        "- [x] 1.1 a\n- [x] 1.2 b\n",
        "\r\r\n\0",
    ]);
    prop_oneof![
        4 => (line.clone(), 1_usize..5).prop_map(|(at, n)| AgentEdit::Delete(at, n)),
        1 => (line.clone(), line.clone()).prop_map(|(from, to)| AgentEdit::Copy(from, to)),
        2 => (line.clone(), line.clone()).prop_map(|(from, to)| AgentEdit::Move(from, to)),
        4 => line.clone().prop_map(AgentEdit::Tick),
        2 => line.clone().prop_map(AgentEdit::Untick),
        4 => (line.clone(), text.clone()).prop_map(|(at, text)| AgentEdit::Write(at, text)),
        2 => (line.clone(), text).prop_map(|(at, text)| AgentEdit::Append(at, text)),
        1 => line.clone().prop_map(AgentEdit::Indent),
        6 => (line.clone(), redefinition()).prop_map(|(at, (from, to))| AgentEdit::Redefine(at, from, to)),
        1 => Just(AgentEdit::Endings),
        1 => line.prop_map(AgentEdit::Truncate),
        1 => garbage.prop_map(AgentEdit::Replace),
    ]
}

/// Changes to parts that make a row a task.
fn redefinition() -> impl Strategy<Value = (&'static str, &'static str)> {
    prop::sample::select(vec![
        ("] ", "]* "),
        ("Task", "[FIX 1.1] Task"),
        ("Task", "[FIX T001] Task"),
        ("] ", "] [VERIFY] "),
        ("[FIX 1.1]", ""),
        (".1", ".7"),
        ("make", "true"),
        ("**Verify**", "**Verified**"),
        ("feat", "chore"),
        ("- [ ]", "  - [ ]"),
        ("  - [ ]", "- [ ]"),
    ])
}

fn done_to(text: &str, agent_edits: &[AgentEdit]) -> String {
    let mut lines: Vec<String> = text.split_inclusive('\n').map(str::to_owned).collect();
    for agent_edit in agent_edits {
        let count = lines.len().max(1);
        let line = |at: usize| at % count;
        match *agent_edit {
            AgentEdit::Delete(at, n) => {
                let end = (line(at) + n).min(lines.len());
                drop(lines.drain(line(at).min(end)..end));
            }
            AgentEdit::Copy(from, to) => {
                if let Some(copy) = lines.get(line(from)).cloned() {
                    lines.insert(line(to), copy);
                }
            }
            AgentEdit::Move(from, to) => {
                if line(from) < lines.len() {
                    let moved = lines.remove(line(from));
                    lines.insert(line(to).min(lines.len()), moved);
                }
            }
            AgentEdit::Tick(at) => edit(&mut lines, line(at), |text| text.replace("[ ]", "[x]")),
            AgentEdit::Untick(at) => edit(&mut lines, line(at), |text| text.replace("[x]", "[ ]")),
            AgentEdit::Write(at, new) => {
                lines.insert(line(at).min(lines.len()), format!("{new}\n"));
            }
            AgentEdit::Append(at, new) => edit(&mut lines, line(at), |text| {
                format!("{} {new}\n", text.trim_end())
            }),
            AgentEdit::Indent(at) => edit(&mut lines, line(at), |text| format!("  {text}")),
            AgentEdit::Redefine(at, from, to) => {
                edit(&mut lines, line(at), |text| text.replacen(from, to, 1));
            }
            AgentEdit::Endings => lines.iter_mut().for_each(|line| {
                *line = if line.ends_with("\r\n") {
                    line.replace("\r\n", "\n")
                } else {
                    line.replace('\n', "\r\n")
                };
            }),
            AgentEdit::Truncate(at) => lines.truncate(line(at)),
            AgentEdit::Replace(text) => lines = vec![text.to_owned()],
        }
    }
    lines.concat()
}

fn edit(lines: &mut [String], at: usize, change: impl Fn(&str) -> String) {
    if let Some(line) = lines.get_mut(at) {
        *line = change(line);
    }
}

/// The task being worked on, its root and all of their fixes.
fn running(file: &TaskFile, choice: usize) -> Vec<TaskKey> {
    let runnable: Vec<RowId> = file
        .rows()
        .filter(|row| {
            file.task(*row)
                .is_some_and(|task| task.kind == TaskKind::Task)
        })
        .collect();
    let Some(row) = runnable.get(choice % runnable.len().max(1)) else {
        return Vec::new();
    };
    let root = file.root(*row);
    let rows = [*row, root].into_iter().chain(file.all_fixes(root));
    rows.filter_map(|row| file.key(row)).collect()
}

fn named(file: &TaskFile) -> Vec<(RowId, Task)> {
    file.rows()
        .filter_map(|row| Some((row, file.task(row)?)))
        .filter(|(_, task)| task.id.is_some())
        .collect()
}

/// The ids of all tasks or, if the file has none, their titles, sorted.
fn names(tasks: &[(RowId, Task)], has_ids: bool) -> Vec<String> {
    let mut names: Vec<String> = tasks
        .iter()
        .map(|(_, task)| match &task.id {
            Some(id) if has_ids => id.to_string(),
            _ => task.title.clone(),
        })
        .collect();
    names.sort_unstable();
    names
}

fn without(mut names: Vec<String>, lost: Vec<String>) -> Vec<String> {
    for name in lost {
        if let Some(at) = names.iter().position(|other| *other == name) {
            names.remove(at);
        }
    }
    names
}

/// The parts that make a row a task, as any reader sees them.
fn frozen(task: &Task) -> String {
    let fixes = task.fix_of.as_ref().map(|key| &key.id);
    let (verify, commit) = (&task.fields.verify, &task.fields.commit);
    let (markers, kind) = (&task.markers, task.kind);
    format!(
        "{kind:?} done={} optional={} {markers:?} fixes={fixes:?} {verify:?} {commit:?}",
        task.done, task.optional
    )
}

/// The id of the nearest task that a row is nested below.
fn group(file: &TaskFile, row: RowId) -> Option<TaskId> {
    let mut above = std::iter::successors(file.parent(row), |row| file.parent(*row));
    above.find_map(|row| file.id(row).cloned())
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: ProptestConfig::default().cases * 4,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn nothing_that_must_stay_is_lost(
        text in plan(),
        agent_edits in prop::collection::vec(agent_edit(), 1..8),
        choice in 0_usize..20,
        again in any::<bool>(),
    ) {
        let before = TaskFile::read(text.as_str());
        let after_text = done_to(&text, &agent_edits);
        let after = TaskFile::read(after_text.as_str());
        let running = running(&before, choice);
        let put_back: BTreeSet<TaskKey> = match again {
            true => named(&before).iter().filter_map(|(row, _)| before.key(*row)).collect(),
            false => BTreeSet::new(),
        };
        let found: PlanReview = review(&before, &after, &running, &put_back);
        let result = TaskFile::read(found.text.clone().unwrap_or(after_text));
        let old = named(&before);
        let new = named(&result);
        let has_ids = text.contains("1.") || text.contains("T00");

        // Every task is still there, except those removed twice. In a list without ids, another
        // title at the same position is an edit.
        let skipped: Vec<String> = found.skipped.iter().map(|key| if has_ids { key.id.to_string() } else { key.title.clone() }).collect();
        let needed = without(names(&old, has_ids), skipped);
        let missing = without(needed, names(&new, has_ids));
        let renamed = if has_ids { 0 } else { found.edited.len() };
        prop_assert!(missing.len() <= renamed, "{missing:?} in {}\n{found:?}", result.text());

        // Finished tasks stay finished, with the same words.
        let done: Vec<&str> = old.iter().filter(|(row, task)| task.done && before.rows().all(|other| before.parent(other) != Some(*row))).filter_map(|(row, _)| before.block(*row)).collect();
        let still: Vec<&str> = new.iter().filter(|(_, task)| task.done).filter_map(|(row, _)| result.block(*row)).collect();
        for block in done {
            prop_assert!(still.contains(&block), "{block:?} in {:?}", result.text());
        }

        // Tasks being worked on keep their bytes and are found by key.
        for key in &running {
            let (was, is) = (before.resolve(key).unwrap(), result.resolve(key));
            prop_assert!(is.is_some());
            prop_assert_eq!(before.block(was), is.and_then(|is| result.block(is)));
            let is = result.task(is.unwrap()).unwrap();
            prop_assert_eq!(is.done, before.task(was).unwrap().done);
            prop_assert_eq!(is.fix_of.map(|key| key.title), before.task(was).unwrap().fix_of.map(|key| key.title));
        }

        // The parts that make a row a task are unchanged, also in rows that haven't run yet.
        let is_left = |(row, _): &&(RowId, Task)| {
            before.key(*row).is_some_and(|key| !found.skipped.contains(&key))
        };
        let left: Vec<(RowId, Task)> = old.iter().filter(is_left).cloned().collect();
        for (row, was) in &left {
            let id = was.id.as_ref().unwrap();
            let is_it = |(now, is): &&(RowId, Task)| if has_ids {
                let is_there = is.id.as_ref() == Some(id) && group(&result, *now) == group(&before, *row);
                is_there && frozen(is) == frozen(was)
            } else {
                frozen(is) == frozen(was)
            };
            let needed = if has_ids { 1 } else { left.iter().filter(is_it).count() };
            prop_assert!(new.iter().filter(is_it).count() >= needed, "{id}: {} in {}\n{found:?}", frozen(was), result.text());
        }

        // Nothing new is ticked; ticks are claims.
        let old_done = old.iter().filter(|(_, task)| task.done).count();
        let new_done = new.iter().filter(|(_, task)| task.done).count();
        prop_assert_eq!(old_done, new_done, "{:?}", found);
        for claim in &found.claims {
            let row = result.resolve(&claim.key);
            prop_assert!(row.is_some_and(|row| !result.is_done(row)), "{:?}", found);
        }

        // A second review finds nothing more to revert.
        let second = review(&before, &result, &running, &put_back);
        // The line ending of a file may become clear only once the copy of a row is gone.
        let words = |text: &str| text.replace(['\r', '\n'], "\n").replace("\n\n", "\n");
        if let Some(text) = &second.text {
            prop_assert_eq!(words(text), words(result.text()));
        }
        prop_assert_eq!(second.reverted, vec![]);
        prop_assert_eq!(second.vanished, vec![]);
    }

    #[test]
    fn any_two_texts_can_be_compared(before in "(- \\[[ x]\\] |1\\.[1-3] |T[12] |\n|  |```|a|\r|# ){0,40}", after in "(- \\[[ x]\\] |1\\.[1-3] |T[12] |\n|  |```|a|\r|# ){0,40}", choice in 0_usize..5) {
        let before = TaskFile::read(before);
        let running = running(&before, choice);
        let after = TaskFile::read(after);
        let found = review(&before, &after, &running, &BTreeSet::new());
        let result = TaskFile::read(found.text.unwrap_or_else(|| after.text().to_owned()));
        for key in &running {
            prop_assert!(result.resolve(key).is_some());
        }
    }
}
