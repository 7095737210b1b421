//! A person is asked, and answers.

use indicatif::InMemoryTerm;
use regreen_model::{
    AgentIdentity, ChoiceKind, Event, PersonAnswer, PersonChoice, RunConfig, RunOutcome, Timestamp,
};
use regreen_reporters::{Lines, Live, Palette, Reporter, Summary, TermLike as _};
use snapbox::{assert_data_eq, str};

use crate::run::{key, row};

fn now() -> Timestamp {
    Timestamp::from_millis(1_000)
}

fn started(spec_argument: Option<&str>) -> Event {
    Event::RunStarted {
        run: "r".to_owned(),
        config: RunConfig {
            spec: "demo".to_owned(),
            agent: AgentIdentity::new("shell", None),
            spec_argument: spec_argument.map(str::to_owned),
            ..RunConfig::default()
        },
        after_limit: false,
    }
}

fn asked(id: &str) -> Event {
    Event::PersonAsked {
        seq: 1,
        task: key(id, "Find it"),
        why: "it could not be split".to_owned(),
        repair: None,
    }
}

fn answered(id: &str, answer: PersonAnswer) -> Event {
    Event::PersonAnswered {
        task: key(id, "Find it"),
        answer,
    }
}

fn chosen(id: &str, what: ChoiceKind) -> Event {
    let (number, task) = (1, key(id, "Find it"));
    let choice = PersonChoice { number, task, what };
    Event::Chosen { choice }
}

fn tell(view: &mut impl Reporter, events: impl IntoIterator<Item = Event>) {
    for event in events {
        view.event(now(), &event);
    }
}

#[test]
fn what_is_answered_is_told_once() {
    let mut out = Vec::new();
    let mut view = Lines::new(&mut out, Palette::Plain);
    let text = "under\nthe \u{1b}[31mrug".to_owned();
    tell(
        &mut view,
        [
            started(None),
            Event::RunResumed {
                config: None,
                at: None,
            },
            asked("1"),
            answered("1", PersonAnswer::Edit),
            chosen("1", ChoiceKind::Retry),
            answered("1", PersonAnswer::Context { text }),
            answered("1", PersonAnswer::Fix),
            answered("1", PersonAnswer::Skip),
            chosen("1", ChoiceKind::Skip),
            answered("1", PersonAnswer::Stop),
            chosen("1", ChoiceKind::Retry),
            // This one was said outside of the run.
            chosen("2", ChoiceKind::Skip),
        ],
    );
    view.finish(now());
    assert_data_eq!(
        String::from_utf8(out).expect("it is text"),
        str![[r#"
run r: spec demo, agent shell
run r goes on: spec demo, agent shell
1: a person must decide: it could not be split
1: a person said: edited, so it is tried as if for the first time
1: a person said: tried again, with this: under the rug
1: a person said: a fix is to be made for it
1: a person said: to be skipped
1: a person said: not decided yet
2 Find it: to be skipped, as a person said

"#]]
    );
}

#[test]
fn while_a_person_is_asked_the_terminal_is_theirs() {
    let terminal = InMemoryTerm::new(24, 60);
    let mut live = Live::new(terminal.clone(), Palette::Plain);
    live.outline(&[row("1", "Find it")]);
    tell(&mut live, [started(None)]);
    live.redraw();
    assert!(terminal.contents().contains("reading the plan"));
    tell(&mut live, [asked("1")]);
    terminal
        .write_line("What is to be done? q")
        .expect("it is written");
    live.redraw();
    assert_data_eq!(
        terminal.contents(),
        str![[r#"
run r: spec demo, agent shell
1: a person must decide: it could not be split
What is to be done? q
"#]]
    );
    let go_on = Event::PlanAsked { seq: 2 };
    tell(&mut live, [answered("1", PersonAnswer::Fix), go_on]);
    live.redraw();
    let contents = terminal.contents();
    let lines: Vec<&str> = contents.lines().map(str::trim_end).collect();
    assert_eq!(
        lines[2..5],
        [
            "What is to be done? q",
            "1: a person said: a fix is to be made for it",
            "○ 1 Find it"
        ]
    );
    live.finish(now());
}

#[test]
fn the_time_that_a_person_takes_is_theirs() {
    let mut summary = Summary::default();
    let second = |at: u64| Timestamp::from_millis(at * 1_000);
    summary.event(second(1), &started(None));
    summary.event(second(3), &asked("1"));
    summary.event(second(9_000), &answered("1", PersonAnswer::Fix));
    summary.event(second(9_001), &Event::PlanAsked { seq: 2 });
    assert_eq!(summary.figures().time_ms, 3_000);
}

#[test]
fn the_summary_has_the_commands_to_go_on_with() {
    let mut summary = Summary::default();
    let rows = ["1", "2", "3", "4"].map(|id| row(id, "Find it"));
    summary.outline(&rows);
    let why = "these tasks wait for a person: 1, 2".to_owned();
    tell(
        &mut summary,
        [
            started(Some("'my list.md'")),
            asked("1"),
            asked("2"),
            asked("3"),
            answered("3", PersonAnswer::Fix),
            asked("4"),
            chosen("4", ChoiceKind::Retry),
            answered("1", PersonAnswer::Stop),
            Event::RunEnded {
                outcome: RunOutcome::NeedsPerson { why },
            },
        ],
    );
    assert_data_eq!(
        summary.text(),
        str![[r#"
A person must decide: these tasks wait for a person: 1, 2
Originals:       0 of 4 done
Attempts:        0 (limit 100)
Time:            0s
Waiting:         1, 2
Next:            `regreen retry 1 --spec 'my list.md'` once it is edited or repaired, or `regreen done 1 --spec 'my list.md'`, or `regreen skip 1 --spec 'my list.md'`
Next:            `regreen retry 2 --spec 'my list.md'` once it is edited or repaired, or `regreen done 2 --spec 'my list.md'`, or `regreen skip 2 --spec 'my list.md'`
Next:            `regreen run 'my list.md'` goes on then; on a terminal it asks

"#]]
    );
}
