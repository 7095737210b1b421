//! What a person decides: the dialogs that lead to an action.

use regreen_model::{ChoiceKind, TaskKey, visible_line};
use regreen_overview::{Action, AnswerChoice, OpenQuestion, RunDetails, TaskView};
use regreen_reporters::{headline, kind_and_place};

use crate::commands::refuse;
use crate::dialog::{Choice, Confirm, Dialog, Menu, MenuItem};
use crate::event::Effect;
use crate::list::Selection;
use crate::state::State;
use crate::words;

/// More characters of a reason than a box shows.
const REASON: usize = 600;

/// Asks what to answer: about the selected task, or else about the first task that waits.
pub(crate) fn answer(state: &mut State) -> Vec<Effect> {
    let menu = state.run.as_ref().and_then(|run| {
        let selected = state.row().map(|row| &row.key);
        let mut open = run.summary.questions.iter().map(|(key, _)| key);
        let first = open.clone().next();
        let key = open.find(|key| Some(*key) == selected).or(first)?;
        let task = run.view.task(key)?;
        Some(question(run, task, task.question.as_ref()?))
    });
    match menu {
        Some(menu) => {
            state.dialog = Some(Dialog::Menu(menu));
            Vec::new()
        }
        None => refuse(state, "this run asks nothing"),
    }
}

fn question(run: &RunDetails, task: &TaskView, asked: &OpenQuestion) -> Menu {
    let mut lines = vec![visible_line(&asked.why, REASON)];
    if let Some(failure) = &task.failure {
        lines.extend(kind_and_place(failure));
        lines.push(headline(failure));
    }
    if let Some(repair) = &asked.repair {
        lines.push(format!("proposed repair: {}", repair.does));
    }
    let possible = AnswerChoice::ALL
        .into_iter()
        .filter(|choice| choice.is_possible(run, task, asked));
    menu(
        words::name(&task.key),
        lines,
        possible
            .map(|choice| answer_item(run, &task.key, choice))
            .collect(),
    )
}

fn answer_item(run: &RunDetails, task: &TaskKey, choice: AnswerChoice) -> MenuItem {
    let key = run.summary.key.clone();
    let action = Action::Answer {
        task: task.clone(),
        choice,
        text: String::new(),
    };
    let effect = choice.effect();
    MenuItem {
        name: choice.name().to_owned(),
        effect: effect.to_owned(),
        choice: match choice {
            AnswerChoice::Context => Choice::WriteContext(key, task.clone()),
            AnswerChoice::Done => Choice::Confirm(Confirm {
                lines: vec![words::name(task), format!("{effect}?")],
                run: key,
                action,
            }),
            _ => Choice::Act(key, action),
        },
    }
}

/// Asks whether to decide about the selected task, outside of a question or as the answer to one.
pub(crate) fn decide(state: &mut State, what: ChoiceKind) -> Vec<Effect> {
    let (Some(run), Some(row)) = (&state.run, state.row()) else {
        return refuse(state, "no task is selected");
    };
    let task = row.key.clone();
    let choice = match what {
        ChoiceKind::Retry => AnswerChoice::Retry,
        ChoiceKind::Skip => AnswerChoice::Skip,
        ChoiceKind::Done => AnswerChoice::Done,
    };
    let is_asked = run.summary.questions.iter().any(|(key, _)| *key == task);
    let action = if is_asked {
        Action::Answer {
            task: task.clone(),
            choice,
            text: String::new(),
        }
    } else {
        Action::Choose {
            task: task.clone(),
            what,
        }
    };
    if run.summary.is_active() && (!is_asked || what == ChoiceKind::Done) {
        return refuse(
            state,
            "a run is at work here; stop it first with S, or answer its question with a",
        );
    }
    state.dialog = Some(Dialog::Confirm(Confirm {
        lines: vec![words::name(&task), format!("{}?", choice.effect())],
        run: run.summary.key.clone(),
        action,
    }));
    Vec::new()
}

/// Asks when to stop the run.
pub(crate) fn stop(state: &mut State) -> Vec<Effect> {
    let Some(run) = state.run.as_ref().filter(|run| run.summary.is_active()) else {
        return refuse(state, "no process is at work on this run");
    };
    let item = |name: &str, effect: &str, action: Action| MenuItem {
        name: name.to_owned(),
        effect: effect.to_owned(),
        choice: Choice::Act(run.summary.key.clone(), action),
    };
    state.dialog = Some(Dialog::Menu(menu(
        format!("Stop {}", run.summary.spec),
        vec!["`regreen run` resumes it later".to_owned()],
        vec![
            item(
                "after task",
                "Stop after the current task",
                Action::StopAfterTask,
            ),
            item(
                "now",
                "Stop now, in the middle of the attempt",
                Action::Stop,
            ),
        ],
    )));
    Vec::new()
}

/// Asks which of the earlier runs of the spec to show.
pub(crate) fn earlier_runs(state: &mut State) -> Vec<Effect> {
    let newest = state
        .kept_runs()
        .get(state.run_list.at)
        .map(|run| run.key.clone());
    let (Some(run), Some(newest)) = (&state.run, newest) else {
        return refuse(state, "no run is selected");
    };
    if run.earlier.is_empty() {
        return refuse(state, "this is the only run of its spec");
    }
    let other = |id: &str| {
        let mut key = run.summary.key.clone();
        id.clone_into(&mut key.run);
        key
    };
    let item = |(id, name): (&str, String)| MenuItem {
        name,
        effect: if id == newest.run { "the newest" } else { "" }.to_owned(),
        choice: Choice::Show(other(id)),
    };
    let others = run.earlier.iter();
    let named = others.map(|one| (one.run.as_str(), words::moment(one.started)));
    state.dialog = Some(Dialog::Menu(menu(
        format!("Other runs of {}", run.summary.spec),
        Vec::new(),
        named.map(item).collect(),
    )));
    Vec::new()
}

fn menu(title: String, lines: Vec<String>, items: Vec<MenuItem>) -> Menu {
    Menu {
        title,
        lines,
        items,
        selection: Selection::default(),
    }
}
