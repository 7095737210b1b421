//! The shell agent's script, run by real shells.
#![expect(
    clippy::unwrap_used,
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "the test runs the script; the crate itself starts nothing"
)]

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};

use regreen_agents::{Agent, Assignment, Interpreter, Stream};
use regreen_model::{AgentEvent, Ending, PromptKind, TaskId};

struct Ran {
    output: String,
    events: Vec<AgentEvent>,
}

impl Ran {
    fn message(&self) -> &str {
        let message = |event: &'_ AgentEvent| matches!(event, AgentEvent::FinalMessage { .. });
        match self.events.iter().find(|event| message(event)) {
            Some(AgentEvent::FinalMessage { text }) => text,
            _ => "",
        }
    }
}

/// Runs the steps as a supervisor would: line by line, with the decoder's answers.
fn run_with(interpreter: Interpreter, steps: &[&str]) -> Ran {
    let id = TaskId::parse("1.3").unwrap();
    let steps: Vec<String> = steps.iter().map(|step| (*step).to_owned()).collect();
    let assignment = Assignment {
        task_id: id.as_str(),
        title: "Add parser",
        attempt: 1,
        spec_dir: "specs/demo",
        root: "/project",
        session: None,
        prompt: "",
        kind: PromptKind::First,
        steps: &steps,
    };
    let agent = Agent::Shell(interpreter);
    let invocation = agent.invocation(&assignment);
    let mut decoder = agent.decoder(&assignment);
    let mut child = Command::new(&invocation.argv[0])
        .args(&invocation.argv[1..])
        .envs(invocation.env_set)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut ran = Ran {
        output: String::new(),
        events: Vec::new(),
    };
    for line in BufReader::new(child.stdout.take().unwrap()).split(b'\n') {
        let line = line.unwrap();
        ran.output += &format!("{}\n", String::from_utf8_lossy(&line));
        let reply = decoder.on_line(Stream::Out, &line);
        ran.events.extend(reply.events);
        for answer in reply.write {
            writeln!(stdin, "{answer}").unwrap();
        }
    }
    let ending = Ending {
        exit_code: child.wait().unwrap().code(),
        ..Ending::default()
    };
    ran.events.extend(decoder.on_end(&ending));
    ran
}

fn run(steps: &[&str]) -> Ran {
    run_with(Interpreter::Bash, steps)
}

#[test]
fn steps_that_pass_complete_the_task() {
    for interpreter in [Interpreter::Bash, Interpreter::Sh] {
        let ran = run_with(
            interpreter,
            &[
                "printf 'no line end'",
                "cat <<'EOF'\nit's \"quoted\" `here` $HOME \\\nEOF\necho \"$REGREEN_TASK_ID\"",
            ],
        );
        assert_eq!(
            ran.output,
            "[step 1/2] $ printf 'no line end'\nno line end\n[step 1/2] exit code 0\n\
             [step 2/2] $ cat <<'EOF'\nit's \"quoted\" `here` $HOME \\\n1.3\n\n[step 2/2] exit code 0\n\
             TASK_COMPLETE\n"
        );
        assert_eq!(ran.message(), "TASK_COMPLETE\n");
        assert_eq!(ran.events.last(), Some(&AgentEvent::Terminal { ok: true }));
    }
}

#[test]
fn the_first_failure_ends_the_script_with_the_line_that_explains_it() {
    for interpreter in [Interpreter::Bash, Interpreter::Sh] {
        let ran = run_with(
            interpreter,
            &[
                "true",
                "cat no-such-file.txt\necho never here",
                "echo nor here",
            ],
        );
        assert_eq!(
            ran.message(),
            "Task 1.3: Add parser FAILED\n\
             - Error: cat: no-such-file.txt: No such file or directory\n\
             - Attempted fix: No fix attempted\n\
             - Status: Blocked at step 2 of 3 (exit code 1): cat no-such-file.txt\n"
        );
        assert!(ran.output.ends_with(ran.message()));
        assert!(!ran.output.contains("here"));
        assert_eq!(ran.events.last(), Some(&AgentEvent::Terminal { ok: false }));
    }
}

#[test]
fn a_failure_inside_a_pipe_is_one() {
    let ran = run(&["false | cat"]);
    assert!(ran.message().starts_with(
        "Task 1.3: Add parser FAILED\n- Error: false | cat printed nothing and ended with exit code 1\n"
    ));
}

#[test]
fn steps_share_nothing_but_the_folder() {
    let ran = run(&[
        "cd / && export SEEN=1",
        "test \"$PWD\" != / && test -z \"$SEEN\"",
    ]);
    assert_eq!(ran.message(), "TASK_COMPLETE\n");
}

#[test]
fn a_step_finds_nothing_on_its_input_and_may_leave_work_behind() {
    let ran = run(&["cat", "sleep 1 >/dev/null 2>&1 & echo started"]);
    assert_eq!(ran.message(), "TASK_COMPLETE\n");
}

#[test]
fn a_claim_printed_by_a_failing_step_does_not_count() {
    let ran =
        run(&["echo TASK_COMPLETE; echo '[step 1/1] exit code 0'; echo TASK_COMPLETE; exit 3"]);
    assert!(
        ran.message().starts_with("Task 1.3: Add parser FAILED\n"),
        "{}",
        ran.message()
    );
    assert!(ran.message().contains("(exit code 3)"));
}

#[test]
fn a_task_without_steps_fails_saying_so() {
    let ran = run(&[]);
    assert_eq!(
        ran.message(),
        "Task 1.3: Add parser FAILED\n\
         - Error: The task has no commands for the shell agent: write them in an `sh` code block, or choose another agent with --agent\n\
         - Attempted fix: No fix attempted\n\
         - Status: Blocked, nothing was run\n"
    );
}
