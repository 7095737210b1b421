use regreen_supervisor::{Exit, Stdin, StdinClosed};

use crate::check::{run, run_with, spec, start};

#[test]
fn an_empty_stdin_ends_at_once() {
    assert_eq!(run(spec(&["cat"])).stdout, "");
}

#[test]
fn bytes_arrive_and_then_the_end() {
    let mut spec = spec(&["cat"]);
    spec.stdin = Stdin::Bytes(b"a prompt\nof two lines".to_vec());
    assert_eq!(run(spec).stdout, "a prompt\nof two lines");
}

#[test]
fn a_megabyte_each_way_does_not_block() {
    const MEGABYTE: usize = 1 << 20;
    let mut spec = spec(&["talk-over", &MEGABYTE.to_string()]);
    spec.stdin = Stdin::Bytes(vec![b'x'; MEGABYTE]);
    let run = run(spec);
    assert_eq!(run.stdout.len(), MEGABYTE);
    assert_eq!(run.stderr, MEGABYTE.to_string());
    assert_eq!(run.ended.stdout_bytes, MEGABYTE as u64);
}

#[test]
fn a_child_that_does_not_read_its_input_does_no_harm() {
    let mut spec = spec(&["exit", "7"]);
    spec.stdin = Stdin::Bytes(vec![b'x'; 1 << 20]);
    assert_eq!(run(spec).ended.exit, Exit::Exited(7));
}

#[test]
fn lines_go_back_and_forth_until_stdin_is_closed() {
    let mut spec = spec(&["echo-lines"]);
    spec.stdin = Stdin::Pipe;
    let running = start(spec);
    let handle = running.handle();
    handle.write_line("one").unwrap();
    let mut output = String::new();
    let answers = handle.clone();
    running
        .wait(&mut |chunk: regreen_supervisor::Chunk<'_>| {
            output.push_str(std::str::from_utf8(chunk.bytes).unwrap());
            match output.as_str() {
                "got one\n" => answers.write_line("two").unwrap(),
                "got one\ngot two\n" => answers.close_stdin(),
                _ => {}
            }
        })
        .unwrap();
    assert_eq!(output, "got one\ngot two\nend\n");
    assert_eq!(handle.write_line("three"), Err(StdinClosed));
}

#[test]
fn without_a_pipe_nothing_can_be_written() {
    let mut refused = None;
    run_with(spec(&["print", "10"]), |handle, _| {
        refused = Some(handle.write_line("hello"));
    });
    assert_eq!(refused, Some(Err(StdinClosed)));
}
