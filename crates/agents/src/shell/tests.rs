use regreen_model::{PromptKind, TaskId};

use super::*;

fn decoder(steps: &[&str]) -> ShellDecoder {
    let steps: Vec<String> = steps.iter().map(|step| (*step).to_owned()).collect();
    ShellDecoder::new(&steps)
}

/// Feeds lines. Returns what to write back, and the final events.
fn run(decoder: &mut ShellDecoder, output: &str, code: i32) -> (Vec<String>, Vec<AgentEvent>) {
    let mut written = Vec::new();
    for line in output.lines() {
        written.extend(decoder.on_line(Stream::Out, line.as_bytes()).write);
    }
    let ending = Ending {
        exit_code: Some(code),
        ..Ending::default()
    };
    (written, decoder.on_end(&ending))
}

fn message(events: &[AgentEvent]) -> Option<&str> {
    events.iter().find_map(|event| match event {
        AgentEvent::FinalMessage { text } => Some(text.as_str()),
        _ => None,
    })
}

#[test]
fn steps_are_arguments_and_nothing_in_them_is_quoted() {
    let id = TaskId::parse("1.3").unwrap();
    let steps = [
        "echo \"$HOME\" 'a' | cat <<'E'\n`x`\nE".to_owned(),
        "a\0b".to_owned(),
    ];
    let assignment = Assignment {
        task_id: id.as_str(),
        title: "Two\nlines `x`",
        attempt: 1,
        spec_dir: "specs/demo",
        root: "/project",
        session: None,
        prompt: "unused",
        kind: PromptKind::First,
        steps: &steps,
    };
    let found = invocation(Interpreter::Bash, &assignment);
    assert_eq!(found.argv[..2], ["bash", "-c"]);
    assert_eq!(found.argv[4..6], ["1.3", "Two lines x"]);
    assert_eq!(found.argv[7..], [steps[0].clone(), "ab".to_owned()]);
    assert_eq!(found.stdin, StdinContent::Protocol);
    assert!(
        found
            .env_set
            .contains(&("REGREEN_TASK_ID".into(), "1.3".into()))
    );
    let plain = invocation(Interpreter::Sh, &assignment);
    assert_eq!(plain.argv[0], "sh");
    assert!(!plain.argv[2].contains("bash"));
}

#[test]
fn only_the_last_words_of_the_script_are_the_message() {
    let mut decoder = decoder(&["make", "make test"]);
    let output = "[step 1/2] $ make\nTASK_COMPLETE\nrequires manual intervention\n\n[step 1/2] exit code 0\n[step 2/2] $ make test\nTask 1.3: x FAILED\n\n[step 2/2] exit code 0\nTASK_COMPLETE\n";
    let (written, events) = run(&mut decoder, output, 0);
    assert_eq!(written, Vec::<String>::new());
    assert_eq!(message(&events), Some("TASK_COMPLETE\n"));
    assert_eq!(events.last(), Some(&AgentEvent::Terminal { ok: true }));
}

#[test]
fn a_failed_step_is_answered_with_the_line_that_says_why() {
    let mut decoder = decoder(&["make"]);
    let output = "[step 1/1] $ make\na.c:1: error: boom\nmore\n\n[step 1/1] exit code 2\nTask 1.3: x FAILED\n- Error: a.c:1: error: boom\n";
    let (written, events) = run(&mut decoder, output, 1);
    assert_eq!(written, ["a.c:1: error: boom"]);
    assert_eq!(
        message(&events),
        Some("Task 1.3: x FAILED\n- Error: a.c:1: error: boom\n")
    );
    assert_eq!(events.last(), Some(&AgentEvent::Terminal { ok: false }));
}

#[test]
fn a_step_that_says_nothing_is_called_by_its_name() {
    let mut decoder = decoder(&["false\ntrue"]);
    let (written, _) = run(
        &mut decoder,
        "[step 1/1] $ false\n\n[step 1/1] exit code 1\n",
        1,
    );
    assert_eq!(
        written,
        ["false printed nothing and ended with exit code 1"]
    );
}

#[test]
fn steps_are_tools() {
    let mut decoder = decoder(&["make all"]);
    let started = decoder
        .on_line(Stream::Out, b"[step 1/1] $ make all")
        .events;
    assert_eq!(
        started,
        [AgentEvent::ToolStarted {
            call: "1".into(),
            name: "make all".into(),
            input: String::new(),
        }]
    );
    let ended = decoder
        .on_line(Stream::Out, b"[step 1/1] exit code 7")
        .events;
    assert_eq!(
        ended,
        [AgentEvent::ToolEnded {
            call: "1".into(),
            name: "make all".into(),
            ok: false,
            exit: Some(7)
        }]
    );
}

#[test]
fn output_of_an_ended_step_is_not_a_message() {
    let mut decoder = decoder(&["make", "x"]);
    for line in ["[step 1/2] $ make", "TASK_COMPLETE"] {
        assert_eq!(
            decoder.on_line(Stream::Out, line.as_bytes()).write,
            Vec::<String>::new()
        );
    }
    let ending = Ending {
        signal: Some(9),
        ..Ending::default()
    };
    assert_eq!(decoder.on_end(&ending), []);
}

#[test]
fn lines_that_only_look_like_ours_are_output() {
    for line in [
        "[step] $ x",
        "[step 1/2]",
        "[step a/b] $ x",
        "[step 1/2] exit code",
        "[step 1/2] exit code x",
        " [step 1/2] $ x",
        "[step 1/2] x",
    ] {
        assert_eq!(Marker::parse(line.as_bytes()), None, "{line}");
    }
    let long = [b"[step 1/2] $ ".as_slice(), "ä".repeat(100).as_bytes()].concat();
    assert_eq!(Marker::parse(&long), Some(Marker::Started { step: 1 }));
}
