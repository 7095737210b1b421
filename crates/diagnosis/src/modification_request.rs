//! A wish to change the plan, in an agent's final message.

use anstream::adapter::strip_str;
use regreen_model::ModificationRequest;
use serde_json::Deserializer;

use crate::prose::{is_quote, unfenced_lines};
use crate::signal::without_emphasis;

const MARKER: &str = "TASK_MODIFICATION_REQUEST";

/// The request that the message makes: the marker on a line of its own, outside fences and
/// quotes, and a JSON object below it, fenced or bare. Of several the last one counts.
///
/// `Some(Err(…))` says why a request could not be read.
#[must_use]
pub fn modification_request(message: &str) -> Option<Result<ModificationRequest, String>> {
    let plain: String = strip_str(message).collect();
    let (marker, _) = unfenced_lines(&plain)
        .filter(|(_, line)| !is_quote(line) && is_marker(line))
        .last()?;
    let below: Vec<&str> = plain.lines().skip(marker + 1).collect();
    Some(read_object(&below.join("\n")))
}

/// `TASK_MODIFICATION_REQUEST`, also as a heading, bold, or with a colon.
fn is_marker(line: &str) -> bool {
    let line = line.trim().trim_start_matches('#').trim();
    without_emphasis(line.trim_end_matches(':')).trim_end_matches(':') == MARKER
}

fn read_object(text: &str) -> Result<ModificationRequest, String> {
    let text = text.trim_start();
    let json = match text.strip_prefix("```") {
        Some(fenced) => fenced.split_once('\n').map_or("", |(_, body)| body),
        None => text,
    };
    if !json.trim_start().starts_with('{') {
        return Err(format!("no JSON object follows {MARKER}"));
    }
    let mut objects = Deserializer::from_str(json).into_iter::<ModificationRequest>();
    match objects.next() {
        Some(Ok(request)) => Ok(request),
        Some(Err(error)) => Err(format!(
            "the JSON object after {MARKER} is not one: {error}"
        )),
        None => Err(format!("no JSON object follows {MARKER}")),
    }
}

#[cfg(test)]
mod tests {
    use regreen_model::{Modification, ProposedTask};

    use super::*;

    const OBJECT: &str = r#"{
  "type": "SPLIT_TASK",
  "originalTaskId": "1.3",
  "reasoning": "Two things at once",
  "proposedTasks": ["- [ ] 1.3.1 First\n  - **Verify**: `true`", {"title": "Second", "do": "x", "doneWhen": "y"}]
}"#;

    #[track_caller]
    fn check(message: &str) {
        let request = modification_request(message)
            .expect("a request")
            .expect("a readable one");
        assert_eq!(request.modification, Modification::SplitTask, "{message}");
        assert_eq!(request.original_task_id.as_str(), "1.3");
        assert_eq!(request.reasoning, "Two things at once");
        let [
            ProposedTask::Lines(first),
            ProposedTask::Fields {
                title, done_when, ..
            },
        ] = request.proposed_tasks.as_slice()
        else {
            panic!("{:?}", request.proposed_tasks);
        };
        assert!(first.starts_with("- [ ] 1.3.1 First\n"));
        assert_eq!(
            (title.as_str(), done_when.as_deref()),
            ("Second", Some("y"))
        );
    }

    #[test]
    fn the_object_may_be_bare_or_fenced_and_the_marker_decorated() {
        check(&format!("TASK_MODIFICATION_REQUEST\n{OBJECT}"));
        check(&format!(
            "I see.\n\n**TASK_MODIFICATION_REQUEST**:\n\n```json\n{OBJECT}\n```\nBye."
        ));
        check(&format!(
            "## TASK_MODIFICATION_REQUEST\r\n```\r\n{OBJECT}\r\n```\r\n"
        ));
        check(&format!(
            "TASK_MODIFICATION_REQUEST\n{{}}\n\nTASK_MODIFICATION_REQUEST:\n{OBJECT} and more"
        ));
    }

    #[test]
    fn a_mention_a_quote_and_a_fenced_example_are_no_request() {
        for message in [
            "",
            "I considered a TASK_MODIFICATION_REQUEST but did not need it.",
            &format!("> TASK_MODIFICATION_REQUEST\n{OBJECT}"),
            &format!("````\nTASK_MODIFICATION_REQUEST\n```json\n{OBJECT}\n```\n````"),
            OBJECT,
        ] {
            assert_eq!(modification_request(message), None, "{message}");
        }
    }

    #[test]
    fn what_cannot_be_read_says_why() {
        for (message, why) in [
            ("TASK_MODIFICATION_REQUEST", "no JSON object follows"),
            (
                "TASK_MODIFICATION_REQUEST\nplease",
                "no JSON object follows",
            ),
            (
                "TASK_MODIFICATION_REQUEST\n{\"type\": \"EXPLODE\"}",
                "unknown variant `EXPLODE`",
            ),
            (
                "TASK_MODIFICATION_REQUEST\n{\"type\": \"SPLIT_TASK\"",
                "EOF while parsing",
            ),
            (
                "TASK_MODIFICATION_REQUEST\n{\"type\":\"SPLIT_TASK\",\"originalTaskId\":\"no id\",\"proposedTasks\":[]}",
                "no id",
            ),
        ] {
            let error = modification_request(message)
                .expect("a request")
                .unwrap_err();
            assert!(error.contains(why), "{error}");
        }
    }
}
