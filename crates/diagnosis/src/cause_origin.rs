use regreen_model::Failure;

use crate::rules::RuleBook;

/// The step of the ranking that uses only the exit code.
pub(crate) const EXIT_CODE: &str = "exit/code";
/// The step of the ranking that uses only the signal.
pub(crate) const EXIT_SIGNAL: &str = "exit/signal";
/// The origin for an attempt of which only the end is known.
pub(crate) const EXIT_UNFINISHED: &str = "exit/unfinished";
/// The step of the ranking that uses regreen's own time limit.
pub(crate) const TIME_LIMIT: &str = "time/limit";
/// The step of the ranking that uses an agent's failure block.
pub(crate) const FAILURE_BLOCK: &str = "agent_messages/failure-block";
/// The step of the ranking that uses the steps that an agent leaves open.
pub(crate) const OPEN_STEPS: &str = "agent_messages/open-steps";
/// The step of the ranking that uses what a harness adds to a message.
pub(crate) const HARNESS_WORDS: &str = "agent_messages/harness-words";
/// The step of the ranking that uses the tone of a whole message.
pub(crate) const MESSAGE_TONE: &str = "agent_messages/tone";
/// The step of the ranking that uses an admission which no rule names.
pub(crate) const UNFINISHED: &str = "agent_messages/unfinished";

/// The origin for an agent that was ended because it asked with a tool.
pub(crate) const QUESTION_TOOL: &str = "agent_messages/question-tool";
/// The origin for an agent whose message ends with a question.
pub(crate) const QUESTION: &str = "agent_messages/question";
/// The opinion of an agent that was asked about an output.
pub(crate) const SECOND_OPINION: &str = "agent/opinion";
/// The origin for a crash of the agent's own program.
pub(crate) const AGENT_CRASH: &str = "agent/crash";

/// The place where the cause of a failure was found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CauseOrigin {
    /// A line that a tool printed.
    #[default]
    Tool,
    /// An agent's own words.
    AgentMessage,
    /// The service or the program behind an agent.
    AgentService,
    /// A crash of the agent's own program.
    AgentCrash,
    /// A time limit, regreen's or a runner's.
    TimeLimit,
    /// The exit code or the signal, if no line explains it.
    Exit,
}

impl CauseOrigin {
    /// Returns where the cause of a failure was found.
    #[must_use]
    pub fn of(failure: &Failure) -> Self {
        match failure.rule.as_str() {
            EXIT_CODE | EXIT_SIGNAL | EXIT_UNFINISHED => Self::Exit,
            TIME_LIMIT => Self::TimeLimit,
            FAILURE_BLOCK | OPEN_STEPS | HARNESS_WORDS | MESSAGE_TONE | UNFINISHED
            | QUESTION_TOOL | QUESTION => Self::AgentMessage,
            AGENT_CRASH => Self::AgentCrash,
            name => RuleBook::ours()
                .rule(name)
                .map(|rule| rule.origin)
                .unwrap_or_default(),
        }
    }
}
