//! The JSON events of a run, as one short line per attempt.

use serde_json::Value;

/// The beginning of a warning about workspaces outside git, which few tests are about.
const NOT_IN_GIT: &str = "this folder is not in git";

/// Condenses the output of `regreen run --json` to a line per attempt, with its result.
///
/// Lines that aren't events stay as they are. Omits the start, the plan and the totals of a run,
/// and everything that follows from other events. Also returns the final message on standard error.
pub(crate) fn condense(json_lines: &str) -> (String, String) {
    let mut digest = Digest::default();
    for line in json_lines.lines() {
        match serde_json::from_str::<Value>(line) {
            Ok(event) if event.is_object() => digest.event(&event),
            _ => digest.line(line),
        }
    }
    let message = digest.message.take().unwrap_or_default();
    (digest.text() + &message, message)
}

#[derive(Default)]
struct Digest {
    lines: Vec<String>,
    /// The task that the last line is about.
    task: Option<String>,
    /// The warnings since that line started.
    warnings: Vec<String>,
    message: Option<String>,
}

impl Digest {
    fn event(&mut self, event: &Value) {
        let text = |field: &str| event[field].as_str().unwrap_or_default();
        match text("event") {
            "run_resumed" => self.line("resumed"),
            "warned" if text("message").starts_with(NOT_IN_GIT) => (),
            "warned" => self.warning(text("message")),
            "stop_asked" => self.line(&format!("stop: {}", text("signal"))),
            "run_ended" => {
                let message = event["summary"]["message"].as_str();
                self.message = message.map(|message| format!("{message}\n"));
                self.line(&ending(&event["summary"]));
            }
            "attempt_started" => {
                self.task = None;
                self.about(event, &attempt_start(event));
            }
            "attempt_ended" => attempt_end(event)
                .iter()
                .for_each(|part| self.about(event, part)),
            "claims_judged" => {
                for (field, verb) in [("kept", "kept"), ("taken_back", "took back")] {
                    self.tasks(event, verb, &event[field]);
                }
            }
            "verify_ended" => self.about(event, &with_text("verify", text("verdict"))),
            "task_failed" => self.about(event, &failure(event)),
            "commit_refused" => self.about(event, &format!("commit refused: {}", text("output"))),
            "task_done" => self.about(event, &done(event)),
            "fix_inserted" => self.about(event, &with_text("inserted", text("fix"))),
            "repair_inspected" if text("inspection") == "nothing" => (),
            "repair_inspected" => self.about(
                event,
                &format!(
                    "repair {}: {}{}",
                    text("inspection"),
                    text("does"),
                    text("why")
                ),
            ),
            "repair_ended" if event["done"] == true => {
                self.about(event, &format!("repaired: {}", text("did")));
            }
            "repair_ended" => self.about(event, &format!("not repaired: {}", text("why"))),
            "plan_modified" => self.tasks(event, "inserted", &event["added"]),
            "modification_refused" => self.about(event, &format!("refused: {}", text("why"))),
            "fixes_superseded" => self.tasks(event, "superseded", &event["fixes"]),
            "person_asked" => self.about(event, &format!("asked: {}", text("why"))),
            "person_answered" => {
                let answer = format!("answered {}", text("answer"));
                self.about(event, &with_text(&answer, text("text")));
            }
            "task_parked" => self.about(event, &format!("parked: {}", text("why"))),
            "chosen" => self.about(event, &with_text("chosen", text("choice"))),
            "task_gone" => self.about(event, "gone"),
            "task_skipped" => self.about(event, "skipped"),
            "wait_started" => self.about(event, &format!("waits: {}", text("why"))),
            _ => (),
        }
    }

    /// Adds a separate line.
    fn line(&mut self, text: &str) {
        self.task = None;
        self.lines.append(&mut self.warnings);
        self.lines.push(text.to_owned());
    }

    /// Adds a line below that of the current task, which continues.
    fn warning(&mut self, text: &str) {
        self.warnings.push(format!("  warning: {text}"));
        if self.task.is_none() {
            self.lines.append(&mut self.warnings);
        }
    }

    /// Adds to the line of the event's task, or starts one.
    fn about(&mut self, event: &Value, text: &str) {
        let task = event["task"]["id"].as_str().unwrap_or_default();
        let text = text.trim_end().replace('\n', "\n    ");
        match self.lines.last_mut() {
            Some(last) if self.task.as_deref() == Some(task) => {
                last.push_str("; ");
                last.push_str(&text);
            }
            _ => {
                self.lines.append(&mut self.warnings);
                self.lines.push(format!("{task} {text}"));
            }
        }
        self.task = Some(task.to_owned());
    }

    fn tasks(&mut self, event: &Value, verb: &str, tasks: &Value) {
        if let Some(text) = named(verb, tasks) {
            self.about(event, &text);
        }
    }

    fn text(mut self) -> String {
        self.lines.append(&mut self.warnings);
        for line in &mut self.lines {
            line.push('\n');
        }
        self.lines.concat()
    }
}

fn with_text(word: &str, text: &str) -> String {
    format!("{word} {text}").trim_end().to_owned()
}

/// Returns a verb and the ids of tasks; `None` if there are none.
fn named(verb: &str, tasks: &Value) -> Option<String> {
    let ids: Vec<&str> = tasks
        .as_array()?
        .iter()
        .filter_map(|task| task["id"].as_str())
        .collect();
    (!ids.is_empty()).then(|| format!("{verb} {}", ids.join(", ")))
}

fn attempt_start(event: &Value) -> String {
    let start = format!("attempt {} of {}", event["number"], event["limit"]);
    match event["prompt"].as_str() {
        Some("first" | "retry") | None => start,
        Some(prompt) => format!("{start} ({prompt})"),
    }
}

fn attempt_end(event: &Value) -> Vec<String> {
    let text = |field: &str| event[field].as_str().filter(|text| !text.is_empty());
    let mut parts: Vec<String> = Vec::new();
    match text("class") {
        Some("ordinary") | None => (),
        Some(class) => parts.push(match text("why") {
            Some(why) => format!("{class}: {why}"),
            None => class.to_owned(),
        }),
    }
    if event["timed_out"] == true {
        parts.push("timed out".to_owned());
    } else if let Some(code) = event["exit_code"].as_i64().filter(|code| *code != 0) {
        parts.push(format!("exit code {code}"));
    } else if let Some(signal) = event["signal"].as_i64() {
        parts.push(format!("signal {signal}"));
    }
    parts.extend(text("contradiction").map(|words| format!("contradiction: {words}")));
    for (field, verb) in [
        ("claimed", "ticked"),
        ("skipped", "removed again"),
        ("put_back", "removed"),
        ("added", "added"),
        ("edited", "edited"),
        ("reverted", "reverted"),
    ] {
        parts.extend(named(verb, &event["plan"][field]));
    }
    parts
}

fn failure(event: &Value) -> String {
    let error = event["error"].as_str().unwrap_or_default();
    match event["diagnosis"]["kind"].as_str() {
        Some(kind) if kind != "unknown" => format!("failed ({kind}): {error}"),
        _ => format!("failed: {error}"),
    }
}

fn done(event: &Value) -> String {
    let marks = event["marks"].as_array().map_or(&[][..], Vec::as_slice);
    let marks: Vec<&str> = marks.iter().filter_map(Value::as_str).collect();
    let mut text = "done".to_owned();
    if event["hash"].is_string() {
        text.push_str(", committed");
    }
    for mark in marks {
        text.push_str(", ");
        text.push_str(mark);
    }
    text
}

fn ending(summary: &Value) -> String {
    let of = |field: &str, part: &str, whole: &str| {
        format!("{} of {}", summary[field][part], summary[field][whole])
    };
    let outcome = summary["outcome"].as_str().unwrap_or("?");
    let done = of("originals", "done", "total");
    let fixes = match summary["fixes"]["made"].as_u64() {
        Some(1..) => format!(", {} fixes", of("fixes", "done", "made")),
        _ => String::new(),
    };
    let attempts = of("attempts", "charged", "limit");
    format!("ended: {outcome}, {done} done{fixes}, {attempts} attempts")
}
