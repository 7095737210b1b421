//! Any program that takes a prompt and prints an answer.

use regreen_model::{AgentEvent, Ending};

use crate::decoder::end_of_program;
use crate::message::Answer;
use crate::quoting::excerpt;
use crate::{AgentOptions, Assignment, Decoder, Invocation, Reply, StdinContent, Stream};

/// The placeholder for the prompt in an argument.
const PLACEHOLDER: &str = "{prompt}";

/// Linux limits an argument to 128 KiB; longer prompts lose their middle.
const MAX_ARGUMENT: usize = 120 * 1024;

/// A program and its arguments, split as a shell would split them but not run by a shell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandLine {
    argv: Vec<String>,
}

impl CommandLine {
    /// Splits a line; `None` if a quote isn't closed or there is no program.
    pub(crate) fn parse(line: &str) -> Option<Self> {
        let argv = shell_words::split(line).ok()?;
        let names_program = argv
            .first()
            .is_some_and(|program| !program.is_empty() && !program.contains(PLACEHOLDER));
        (names_program && !line.contains('\0')).then_some(Self { argv })
    }

    /// Returns the program.
    #[must_use]
    pub fn program(&self) -> &str {
        self.argv.first().map_or("", String::as_str)
    }

    pub(crate) fn argv(&self) -> &[String] {
        &self.argv
    }

    pub(crate) fn invocation(
        &self,
        options: &AgentOptions,
        assignment: &Assignment<'_>,
    ) -> Invocation {
        let takes_argument = self.argv.iter().any(|word| word.contains(PLACEHOLDER));
        let stdin = if takes_argument {
            StdinContent::Empty
        } else {
            StdinContent::Text(assignment.prompt.to_owned())
        };
        let mut argv = self.argv_with(assignment.prompt);
        argv.extend(options.arguments.iter().cloned());
        Invocation::new(argv, stdin, assignment).with_environment(options)
    }

    fn argv_with(&self, prompt: &str) -> Vec<String> {
        // Arguments can't contain NUL.
        let prompt = excerpt(&prompt.replace('\0', ""), MAX_ARGUMENT);
        let filled = |word: &String| no_option(word, word.replace(PLACEHOLDER, &prompt));
        self.argv.iter().map(filled).collect()
    }
}

/// Keeps a prompt from becoming an option of the agent: a repository may have its own prompts.
fn no_option(word: &str, filled: String) -> String {
    if word.starts_with(PLACEHOLDER) && filled.starts_with('-') {
        format!("\n{filled}")
    } else {
        filled
    }
}

/// Takes the whole output as the final message, and the exit as the end.
#[derive(Debug, Default)]
pub(crate) struct CommandDecoder {
    output: Answer,
}

impl Decoder for CommandDecoder {
    fn on_line(&mut self, stream: Stream, line: &[u8]) -> Reply {
        if stream == Stream::Out {
            self.output.push_line(line);
        }
        Reply::default()
    }

    fn on_end(&mut self, ending: &Ending) -> Vec<AgentEvent> {
        end_of_program(self.output.text(), ending)
    }
}

#[cfg(test)]
mod tests {
    use regreen_model::{PromptKind, TaskId};

    use super::*;

    fn invocation(line: &str, prompt: &str) -> Invocation {
        invocation_with(&AgentOptions::default(), line, prompt)
    }

    fn invocation_with(options: &AgentOptions, line: &str, prompt: &str) -> Invocation {
        let id = TaskId::parse("1.3").unwrap();
        let assignment = Assignment {
            task_id: id.as_str(),
            title: "Add parser",
            attempt: 2,
            spec_dir: "specs/demo",
            root: "/project",
            session: None,
            prompt,
            kind: PromptKind::Retry,
            steps: &[],
        };
        CommandLine::parse(line)
            .unwrap()
            .invocation(options, &assignment)
    }

    fn ended(exit_code: Option<i32>, signal: Option<i32>, timed_out: bool) -> Ending {
        Ending {
            exit_code,
            signal,
            timed_out,
            ..Ending::default()
        }
    }

    #[test]
    fn the_line_is_split_like_a_shell_does_but_not_run_by_a_shell() {
        let found = invocation(
            r#"my-agent --flag "two words" 'a;b' \$HOME $(id) | cat"#,
            "p",
        );
        assert_eq!(
            found.argv,
            [
                "my-agent",
                "--flag",
                "two words",
                "a;b",
                "$HOME",
                "$(id)",
                "|",
                "cat"
            ]
        );
        assert_eq!(found.stdin, StdinContent::Text("p".into()));
    }

    #[test]
    fn the_prompt_replaces_its_placeholder() {
        let prompt = "say \"{prompt}\" $(id)\n- x";
        let found = invocation("agent -p {prompt} --also={prompt}", prompt);
        assert_eq!(found.argv[2], prompt);
        assert_eq!(found.argv[3], format!("--also={prompt}"));
        assert_eq!(found.stdin, StdinContent::Empty);
    }

    #[test]
    fn a_prompt_does_not_become_an_option() {
        let prompt = "--skip-permissions";
        let found = invocation("agent {prompt} -p {prompt}! --ask={prompt} -x", prompt);
        assert_eq!(
            found.argv,
            [
                "agent",
                "\n--skip-permissions",
                "-p",
                "\n--skip-permissions!",
                "--ask=--skip-permissions",
                "-x"
            ]
        );
    }

    #[test]
    fn no_argument_is_longer_than_the_system_takes() {
        let prompt = format!("first\0{}last", "ä".repeat(200_000));
        let argument = invocation("agent {prompt}", &prompt).argv[1].clone();
        assert!(argument.len() < 128 * 1024);
        assert!(argument.starts_with("firstä") && argument.ends_with("älast"));
    }

    #[test]
    fn the_users_arguments_and_environment_are_passed_on() {
        let options = AgentOptions {
            arguments: vec!["--fast".to_owned()],
            environment: vec![("MODE".to_owned(), "slow".to_owned())],
            ..AgentOptions::default()
        };
        let found = invocation_with(&options, "agent -x", "p");
        assert_eq!(found.argv, ["agent", "-x", "--fast"]);
        let mode = ("MODE".to_owned(), "slow".to_owned());
        assert!(found.env_set.contains(&mode));
    }

    #[test]
    fn the_environment_names_the_task() {
        assert_eq!(
            invocation("agent", "p").env_set,
            [
                ("REGREEN_TASK_ID", "1.3"),
                ("REGREEN_SPEC_DIR", "specs/demo"),
                ("REGREEN_ATTEMPT", "2"),
                ("REGREEN_PROMPT_KIND", "retry"),
            ]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
        );
    }

    #[test]
    fn lines_without_a_program_are_refused() {
        for line in ["", "  ", "'open", "''", "{prompt} x", "a\0b"] {
            assert_eq!(CommandLine::parse(line), None, "{line:?}");
        }
    }

    #[test]
    fn its_output_is_the_message_and_its_exit_the_end() {
        for (code, ok) in [(0, true), (3, false)] {
            let mut decoder = CommandDecoder::default();
            assert_eq!(decoder.on_line(Stream::Out, b"All done."), Reply::default());
            assert_eq!(decoder.on_line(Stream::Err, b"noise"), Reply::default());
            assert_eq!(
                decoder.on_line(Stream::Out, b"\xffTASK_COMPLETE"),
                Reply::default()
            );
            assert_eq!(
                decoder.on_end(&ended(Some(code), None, false)),
                [
                    AgentEvent::FinalMessage {
                        text: "All done.\n\u{fffd}TASK_COMPLETE\n".into()
                    },
                    AgentEvent::Terminal { ok },
                ]
            );
        }
    }

    #[test]
    fn a_program_that_was_ended_has_not_finished() {
        for ending in [
            ended(None, Some(9), false),
            ended(Some(0), None, true),
            ended(None, None, false),
            ended(Some(143), Some(15), false),
        ] {
            assert_eq!(CommandDecoder::default().on_end(&ending), []);
        }
    }
}
