//! Questions to a person, and the answers.

use regreen_model::{
    AgentIdentity, ChoiceKind, Event, PersonAnswer, PersonChoice, RunConfig, RunOutcome, Timestamp,
};
use regreen_reporters::{LineStyle, Lines, Live, Palette, Reporter, Summary};
use snapbox::{assert_data_eq, str};

use crate::run::{key, row};
use crate::terminal::Emulator;

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
        lost: Vec::new(),
        earlier: Vec::new(),
        environment: Vec::new(),
    }
}

fn asked(id: &str) -> Event {
    Event::PersonAsked {
        seq: 1,
        task: key(id, "Find it"),
        why: "the agent could not split it".to_owned(),
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
fn an_answer_is_shown_once() {
    let mut out = Vec::new();
    let mut view = Lines::new(&mut out, LineStyle::default());
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
            // This choice was made outside the run.
            chosen("2", ChoiceKind::Skip),
        ],
    );
    view.finish(now());
    assert_data_eq!(
        String::from_utf8(out).expect("it is text"),
        str![[r#"
  RESUME  demo · shell
     ASK  1 Find it
          the agent could not split it
   RETRY  1 edited; starting over
   RETRY  1 with your context
          under the rug
     FIX  1 fix task requested
    SKIP  1 skipped by you
    STOP  1 not decided yet
    SKIP  2 Find it                                               your choice

"#]]
    );
}

#[test]
fn while_a_person_is_asked_the_terminal_is_theirs() {
    let mut terminal = Emulator::new(24, 60);
    let mut live = Live::new(terminal.clone(), Palette::Plain);
    live.outline(&[row("1", "Find it")]);
    tell(&mut live, [started(None)]);
    live.redraw();
    assert!(terminal.contents().contains("reading the plan"));
    tell(&mut live, [asked("1")]);
    std::io::Write::write_all(&mut terminal, b"What now? q\n").expect("it is written");
    live.redraw();
    assert_data_eq!(
        terminal.contents(),
        str![[r#"
   START  demo · shell
     ASK  1 Find it
          the agent could not split it
What now? q
"#]]
    );
    let go_on = Event::PlanAsked { seq: 2 };
    tell(&mut live, [answered("1", PersonAnswer::Fix), go_on]);
    live.redraw();
    assert_data_eq!(
        terminal.contents(),
        str![[r#"
   START  demo · shell
     ASK  1 Find it
          the agent could not split it
What now? q
     FIX  1 fix task requested

  ○ 1 Find it
⠋ reading the plan
  0/1 done · 0s
"#]]
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
fn the_summary_has_the_next_commands() {
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
        summary.text(LineStyle::default()),
        str![[r#"
A person must decide: these tasks wait for a person: 1, 2
   Tasks  0 of 4 done in 0s
Attempts  0 of 100
     ASK  1, 2
    Next  once 1 is edited or repaired:           regreen retry 1 --spec 'my list.md'
          if 1 is done already:                   regreen done 1 --spec 'my list.md'
          leave 1 out:                            regreen skip 1 --spec 'my list.md'
          once 2 is edited or repaired:           regreen retry 2 --spec 'my list.md'
          if 2 is done already:                   regreen done 2 --spec 'my list.md'
          leave 2 out:                            regreen skip 2 --spec 'my list.md'
          then continue (on a terminal it asks):  regreen run 'my list.md'

"#]]
    );
}
