//! The tools as clients see them.

use rmcp::model::{JsonObject, Tool};

/// The tools, as the protocol writes them.
const TOOLS: &str = include_str!("tools.json");

/// The tool that is only there if the user's configuration allows it.
const ANSWER: &str = "answer";

/// Returns the tools that clients may use.
pub(crate) fn tools(may_answer: bool) -> Vec<Tool> {
    let all: Vec<Tool> = serde_json::from_str(TOOLS).unwrap_or_default();
    let is_offered = |tool: &Tool| may_answer || tool.name != ANSWER;
    all.into_iter().filter(is_offered).collect()
}

/// Returns the schema of a tool's arguments.
pub(crate) fn input_schema(tool: &Tool) -> &JsonObject {
    &tool.input_schema
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calls;

    #[test]
    fn every_tool_is_read_and_has_a_command() {
        let names: Vec<String> = tools(true).into_iter().map(|one| one.name.into()).collect();
        assert_eq!(
            names,
            [
                "delegate_task",
                "run",
                "status",
                "why",
                "explain",
                "failures",
                "stats",
                "questions",
                "stop",
                "answer"
            ]
        );
        for name in names {
            assert!(calls::is_known(&name), "{name}");
        }
    }

    #[test]
    fn questions_can_only_be_answered_where_the_user_allows_it() {
        assert!(tools(false).iter().all(|tool| tool.name != ANSWER));
    }

    #[test]
    fn every_tool_says_whether_it_changes_anything() {
        for tool in tools(true) {
            let annotations = tool.annotations.expect("annotations");
            let reads = annotations.read_only_hint.expect("whether it only reads");
            assert!(
                reads || annotations.destructive_hint.is_some(),
                "{}",
                tool.name
            );
            assert!(annotations.open_world_hint.is_some(), "{}", tool.name);
        }
    }
}
