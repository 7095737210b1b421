use std::io::{self, Write};

use regreen_model::{Event, RunConfig};
use regreen_reporters::{JsonLines, LineStyle, Lines, Palette, Reporter as _};
use snapbox::{assert_data_eq, str};

use crate::run::{Run, picked, row};
use crate::scripts;

fn text(view: &[u8]) -> &str {
    std::str::from_utf8(view).expect("it is text")
}

#[test]
fn a_run_is_shown_in_lines() {
    let mut out = Vec::new();
    scripts::well_in_the_end(Lines::new(&mut out, LineStyle::default())).finish();
    assert_data_eq!(
        text(&out),
        str![[r#"
   START  demo · 4 tasks · command:./agent.sh
    FAIL  [   13s] 1.2 Print it again                             attempt 1/5
          assertion `left == right` failed
    PLAN  agent added 1.5 Check the links
    WARN  task 1.3 had vanished from the plan and was put back
    WARN  the agent's tick of task 1.4 was taken back: nothing shows that it is done. If it is, run `regreen done 1.4`
    PASS  [ 1m02s] 1.2 Print it again                             flaky · 0a1b2c3
   RETRY  1.4 no completion signal; reminding the agent
    PASS  [    7s] 1.4 Write the guide                            unverified
    WAIT  1.5 until 04:51:40 UTC (5m 17s)
          429 rate limit
   RETRY  1.5 in a new session
          context window is full
    PASS  [    8s] 1.5 Check the links
     END  all tasks done, 1 of 3 unverified                       20261116-0445

"#]]
    );
}

#[test]
fn a_limit_is_shown_with_what_led_to_it() {
    let mut out = Vec::new();
    scripts::limit_reached(Lines::new(&mut out, LineStyle::default())).finish();
    assert_data_eq!(
        text(&out),
        str![[r#"
   START  demo · 4 tasks · command:./agent.sh
    FAIL  [    3s] 1.2 Print it again                             attempt 1/2
          CONTRADICTION: claimed completion while admitting failure: could not complete
    FAIL  [    4s] 1.2 Print it again                             attempt 2/2
          a commit hook refused the commit
          trailing space in src/print.rs
     END  limit reached · exit code 1                             20261116-0445

"#]]
    );
}

#[test]
fn a_resumed_run_says_so() {
    let (mut first, mut second) = (Vec::new(), Vec::new());
    let stopped = scripts::stopped(Lines::new(&mut first, LineStyle::default()));
    scripts::goes_on(stopped, Lines::new(&mut second, LineStyle::default())).finish();
    assert_data_eq!(
        text(&first),
        str![[r#"
   START  demo · 4 tasks · command:./agent.sh
    STOP  stopping; press Ctrl-C again to kill
     END  stopped; progress is saved · exit code 130              20261116-0445

"#]]
    );
    assert_data_eq!(
        text(&second),
        str![[r#"
  RESUME  demo · 4 tasks · command:./agent.sh
   RETRY  1.2 the attempt was interrupted
          regreen or the machine stopped during the attempt
    PASS  [    1s] 1.2 Print it again
     END  needs your decision · exit code 3                       20261116-0445

"#]]
    );
}

#[test]
fn colors_are_on_status_words_and_details_only() {
    let mut out = Vec::new();
    let style = LineStyle {
        palette: Palette::Coloured,
        columns: Some(80),
    };
    scripts::stopped(Lines::new(&mut out, style)).finish();
    assert_data_eq!(
        text(&out).replace('\u{1b}', "^"),
        str![[r#"
   ^[1mSTART^[0m  demo · 4 tasks · command:./agent.sh
    ^[1m^[33mSTOP^[0m  stopping; press Ctrl-C again to kill
     ^[1m^[33mEND^[0m  stopped; progress is saved · exit code 130             ^[2m20261116-0445^[0m

"#]]
    );
}

#[test]
fn without_recovery_a_task_that_no_longer_passes_has_failed_and_is_not_called_a_retry() {
    let mut out = Vec::new();
    scripts::breaks_what_passed(Lines::new(&mut out, LineStyle::default())).finish();
    assert_data_eq!(
        text(&out),
        str![[r#"
   START  demo · 4 tasks · command:./agent.sh
    PASS  [    4s] 1.1 Parse the file
    PASS  [    4s] 1.2 Print it again
    FAIL  [   10s] 1.1 Parse the file                             no longer passes
          Verify failed: `make parse` ended with exit code 1
          ran since it passed: 1.2
     END  finished tasks no longer pass · exit code 1             20261116-0445

"#]]
    );
}

/// A pipe whose reader goes away after a few lines.
#[derive(Debug, Default)]
struct ClosedSoon {
    lines: Vec<String>,
    refused: usize,
}

impl Write for &mut ClosedSoon {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.lines.len() == 3 {
            self.refused += 1;
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        self.lines.push(String::from_utf8_lossy(bytes).into_owned());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_run_continues_when_no_one_reads_its_lines() {
    let mut pipe = ClosedSoon::default();
    scripts::well_in_the_end(Lines::new(&mut pipe, LineStyle::default())).finish();
    assert_eq!((pipe.lines.len(), pipe.refused), (3, 1));
}

#[test]
fn a_run_continues_when_no_one_reads_its_json() {
    let mut pipe = ClosedSoon::default();
    scripts::well_in_the_end(JsonLines::new(&mut pipe)).finish();
    assert_eq!((pipe.lines.len(), pipe.refused), (3, 1));
    assert!(pipe.lines.iter().all(|line| line.ends_with("}\n")));
}

#[test]
fn the_first_line_counts_the_tasks_also_if_a_warning_comes_first() {
    let config = RunConfig {
        spec: "demo".to_owned(),
        ..RunConfig::default()
    };
    let rows = [row("1.1", "Parse the file")];
    let mut out = Vec::new();
    let mut run = Run::start(Lines::new(&mut out, LineStyle::default()), config);
    let message = "the disk is almost full".to_owned();
    run.view.event(run.now, &Event::Warned { message });
    run.plan(&rows, Some(picked(&rows[0], &["cargo test"], None)));
    drop(run);
    let expected = "   START  demo · 4 tasks\n    WARN  the disk is almost full\n";
    assert_eq!(text(&out), expected);
}
