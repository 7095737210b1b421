use std::collections::VecDeque;

/// The lines of a prompt that an agent may print again, in order. Repeating them means nothing, but
/// quoting one from the middle does: it may be how the task failed before.
#[derive(Clone, Debug, Default)]
pub struct PromptEcho {
    expected: VecDeque<String>,
}

impl PromptEcho {
    /// Expects every non-empty line of a prompt.
    #[must_use]
    pub fn of(prompt: &str) -> Self {
        let lines = prompt.lines().map(str::trim);
        Self {
            expected: lines
                .filter(|line| !line.is_empty())
                .map(str::to_owned)
                .collect(),
        }
    }

    /// Returns whether this line repeats the next line of the prompt.
    pub fn consumes(&mut self, line: &[u8]) -> bool {
        let line = std::str::from_utf8(line).map(str::trim);
        let is_next = line.is_ok_and(|line| self.expected.front().is_some_and(|next| next == line));
        if is_next {
            self.expected.pop_front();
        }
        is_next
    }

    /// Returns the message without the lines that repeat the prompt.
    #[must_use]
    pub fn strip(mut self, message: &str) -> String {
        let lines = message.split_inclusive('\n');
        lines
            .filter(|line| !self.consumes(line.as_bytes()))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repeated_prompt_is_not_part_of_the_message() {
        let echo = PromptEcho::of("Do it.\n\n  If it cannot be done, say why.\n");
        let message = "I was told:\nDo it.\nIf it cannot be done, say why.\nIt is done.\n";
        assert_eq!(echo.strip(message), "I was told:\nIt is done.\n");
        assert_eq!(PromptEcho::default().strip(message), message);
    }

    #[test]
    fn a_quoted_failure_is_part_of_the_message() {
        let echo = PromptEcho::of("Do it.\nIt failed before:\nthe file is missing\n");
        assert_eq!(echo.strip("the file is missing\n"), "the file is missing\n");
    }
}
