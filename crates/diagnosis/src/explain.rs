use regreen_model::{Ending, Evidence, Excerpt, Failure, Finding, Output, Source};
use serde_json::{Map, Value, json};

use crate::excerpt::{belonging, first_command};
use crate::line_prefix::without_prefix;
use crate::own_rules::OwnRules;
use crate::place::SourcePlace;
use crate::rank;
use crate::report::Report;
use crate::report::child_failure::ChildFailure;
use crate::rules::RuleBook;
use crate::rules::rule::Role;
use crate::steps::{RUNNING_TASK, STEP_TITLE};

/// Fields of a failure that a log can't provide.
const OF_RUNS: [&str; 2] = ["tool_usage", "last_successful_tool"];

/// The answer of `explain`: a failure, or that there is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// The failure, if there is one.
    pub failure: Option<Failure>,
    /// The finding whose line is quoted, with its neighbours.
    quoted: Option<Finding>,
    /// The failed step, or the command that printed the cause.
    step: Option<String>,
    /// The command or task inside the step that printed the cause.
    command: Option<String>,
    /// The user's own rule that named the cause.
    named_by: Option<String>,
    duration_ms: u64,
}

/// Creates evidence from a log and what is known about the end of its program.
#[must_use]
pub fn evidence_of(
    output: Output,
    source: Source,
    command: Option<String>,
    ending: Ending,
) -> Evidence {
    Evidence {
        source,
        command,
        ending,
        output,
        ..Evidence::default()
    }
}

impl Explanation {
    /// The maximum number of other failures of the same kind to count.
    pub const MAX_OTHERS: u64 = 30;

    /// Explains the evidence.
    #[must_use]
    pub fn of(evidence: &Evidence) -> Self {
        Self::with_own_rules(evidence, &OwnRules::default())
    }

    /// Explains the evidence, letting the user's own rules name the cause.
    #[must_use]
    pub fn with_own_rules(evidence: &Evidence, own: &OwnRules) -> Self {
        let mut failure = rank(evidence);
        let named_by = failure
            .as_mut()
            .and_then(|failure| own.name_cause(failure, &evidence.output))
            .map(str::to_owned);
        let line = failure
            .as_ref()
            .and_then(|failure| u64::try_from(failure.line?).ok());
        let output = &evidence.output;
        let of_rule = |finding: &&Finding| {
            let is_rule = failure
                .as_ref()
                .is_some_and(|failure| failure.rule == finding.rule);
            Some(finding.line) == line && is_rule
        };
        let on_line =
            |finding: &&Finding| Some(finding.line) == line && !finding.excerpt.lines.is_empty();
        let all = || output.own_findings.iter().chain(&output.findings);
        let quoted = all().find(of_rule).or_else(|| all().find(on_line)).cloned();
        let quoted = quoted.or_else(|| end_around(output, line?));
        let step = output
            .failed_step
            .clone()
            .or_else(|| quoted.as_ref()?.command.clone());
        let command = quoted
            .as_ref()
            .and_then(|finding| command_of(finding, step.as_deref(), output));
        Self {
            command,
            step,
            named_by,
            quoted,
            failure,
            duration_ms: evidence.ending.duration_ms,
        }
    }

    /// Returns one object with all fields, whether it failed or not. It omits the use of tools,
    /// which only a run knows.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let Some(failure) = &self.failure else {
            return Value::Object(no_failure());
        };
        let mut fields = serde_json::to_value(failure).unwrap_or(Value::Null);
        if let Value::Object(fields) = &mut fields {
            fields.retain(|name, _| !OF_RUNS.contains(&name.as_str()));
            let more = json!({
                "place": self.place(),
                "step": self.step,
                "command": self.command,
                "others": self.others(),
                "excerpt": self.excerpt(),
                "named_by": self.named_by,
            });
            fields.extend(more.as_object().cloned().unwrap_or_default());
        }
        fields
    }

    /// Returns the location in the source that the failure is about, if the output names one.
    #[must_use]
    pub fn place(&self) -> Option<SourcePlace> {
        let quoted = self
            .failure
            .as_ref()?
            .blocked_on
            .as_deref()
            .unwrap_or_default();
        SourcePlace::in_line(quoted).or_else(|| {
            let quoted = self.quoted.as_ref()?;
            let excerpt = &quoted.excerpt;
            let at = quoted.line.checked_sub(excerpt.first_line)?;
            let lines: Vec<&str> = excerpt.lines.iter().map(String::as_str).collect();
            SourcePlace::around(&lines, usize::try_from(at).ok()?)
        })
    }

    /// Returns the failed step, or the command that printed the cause.
    #[must_use]
    pub fn step(&self) -> Option<&str> {
        self.step.as_deref()
    }

    /// Returns the innermost command or task that printed the cause, if it isn't the step itself.
    #[must_use]
    pub fn command(&self) -> Option<&str> {
        self.command.as_deref()
    }

    /// Returns how many other failures of the same kind there are; counting stops at 30.
    #[must_use]
    pub fn others(&self) -> u64 {
        let count = self.quoted.as_ref().map_or(0, |finding| finding.count);
        count.saturating_sub(1).min(Self::MAX_OTHERS)
    }

    /// Returns the lines that belong to the cause.
    #[must_use]
    pub fn excerpt(&self) -> Option<Excerpt> {
        let quoted = self.quoted.as_ref()?;
        let is_kept = !quoted.excerpt.lines.is_empty();
        is_kept.then(|| belonging(&quoted.excerpt, quoted.line))
    }

    /// Returns the user's own rule that named the cause.
    #[must_use]
    pub fn named_by(&self) -> Option<&str> {
        self.named_by.as_deref()
    }

    /// Returns the failure as a report with metadata.
    #[must_use]
    pub fn report_text(&self) -> String {
        match &self.failure {
            Some(failure) => Report::new(ChildFailure::of(failure, "", self.duration_ms)).render(),
            None => "It did not fail.\n".to_owned(),
        }
    }

    /// Returns the finding whose line is quoted, with its neighbours.
    #[must_use]
    pub fn quoted(&self) -> Option<&Finding> {
        self.quoted.as_ref()
    }
}

/// Returns the command inside the step that was running when a line was printed, or the task that a
/// report below the line names.
fn command_of(quoted: &Finding, step: Option<&str>, output: &Output) -> Option<String> {
    let names_task = |finding: &&Finding| {
        let rule = RuleBook::ours().rule(&finding.rule);
        rule.is_some_and(|rule| rule.role == Role::Ran) && finding.line > quoted.line
    };
    let task = || {
        let finding = output.findings.iter().find(names_task)?;
        finding.captures.get(STEP_TITLE).cloned()
    };
    let running = quoted
        .captures
        .get(RUNNING_TASK)
        .or(quoted.command.as_ref());
    let is_inside = |command: &&String| step != Some(command.as_str());
    running.filter(is_inside).cloned().or_else(task)
}

/// How many lines around a line at the end of an output are shown.
const SHOWN_AROUND: u64 = 3;

/// Returns a line at the end of the output that no rule matches, with the lines around it.
fn end_around(output: &Output, line: u64) -> Option<Finding> {
    let last = output.tail_ends_at.unwrap_or(output.lines);
    let lines: Vec<&str> = output.end().lines().collect();
    let first = (last + 1).checked_sub(lines.len() as u64)?;
    let from = line.saturating_sub(SHOWN_AROUND).max(first);
    let to = (line + SHOWN_AROUND).min(last);
    let text = |number: u64| {
        lines
            .get(usize::try_from(number.checked_sub(first)?).ok()?)
            .copied()
    };
    let shown = (from..=to).filter_map(text).map(str::to_owned);
    let command_at = output.last_command_at.filter(|at| *at <= line);
    let command = command_at.and_then(text).map(without_prefix);
    Some(Finding {
        command: command.and_then(|line| first_command(line.as_bytes())),
        line,
        text: text(line)?.to_owned(),
        count: 1,
        excerpt: Excerpt {
            first_line: from,
            last_line: to,
            lines: shown.collect(),
        },
        ..Finding::default()
    })
}

fn no_failure() -> Map<String, Value> {
    let nothing = json!({
        "category": null,
        "kind": null,
        "message": "It did not fail",
        "blocked_on": null,
        "line": null,
        "retryable": false,
        "retry_mode": "never",
        "completed_steps": [],
        "files_modified": [],
        "suggested_actions": [],
        "repair": null,
        "rule": null,
        "confidence": null,
        "fingerprint": null,
        "place": null,
        "step": null,
        "command": null,
        "others": 0,
        "excerpt": null,
        "named_by": null,
    });
    match nothing {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn explained(text: &str, exit_code: i32) -> Explanation {
        let ending = Ending {
            exit_code: Some(exit_code),
            ..Ending::default()
        };
        let output = crate::scan(text.as_bytes(), Source::Command);
        Explanation::of(&evidence_of(output, Source::Command, None, ending))
    }

    #[test]
    fn the_quoted_line_has_its_context() {
        let explanation = explained(
            "installing\nbash: line 3: jq: command not found\nbye\n",
            127,
        );
        let quoted = explanation.quoted().unwrap();
        assert_eq!(quoted.line, 2);
        assert_eq!(quoted.before, ["installing"]);
        assert_eq!(quoted.after, ["bye"]);
        let report = explanation.report_text();
        assert!(report.contains("Category: tool_error\n"), "{report}");
    }

    #[test]
    fn where_the_exit_code_is_unknown_the_text_decides() {
        let failed = |text: &str| {
            let output = crate::scan(text.as_bytes(), Source::Command);
            let evidence = evidence_of(output, Source::Command, None, Ending::default());
            Explanation::of(&evidence).failure.is_some()
        };
        for text in [
            "Error: something odd happened\n",
            "make: *** [Makefile:3: all] Error 2\n",
            "job failed: the gadget is not calibrated\n",
            "step 1\nProcess completed with exit code 1.\n",
            "Failed to start the gadget\n\n",
        ] {
            assert!(failed(text), "{text}");
        }
        for text in [
            "compiled, 0 errors\n",
            "warning: failed to load x, using the default\n",
            "Error: retrying\nbuilt in 3 s\n",
            "errors: 0\n",
            "hello\n",
        ] {
            assert!(!failed(text), "{text}");
        }
    }

    #[test]
    fn the_answer_has_the_same_fields_whether_it_failed_or_not() {
        let keys = |explanation: &Explanation| -> Vec<String> {
            explanation
                .to_json()
                .as_object()
                .unwrap()
                .keys()
                .cloned()
                .collect()
        };
        assert_eq!(
            keys(&explained("error: x\n", 1)),
            keys(&explained("fine\n", 0))
        );
        assert_eq!(
            keys(&explained("fine\n", 0)),
            [
                "category",
                "kind",
                "message",
                "blocked_on",
                "line",
                "retryable",
                "retry_mode",
                "completed_steps",
                "files_modified",
                "suggested_actions",
                "repair",
                "rule",
                "confidence",
                "fingerprint",
                "place",
                "step",
                "command",
                "others",
                "excerpt",
                "named_by"
            ]
        );
        assert_eq!(explained("fine\n", 0).report_text(), "It did not fail.\n");
    }
}
