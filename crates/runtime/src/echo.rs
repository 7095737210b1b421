use std::collections::VecDeque;

/// The lines that an agent was told and may print again, in their order: it says nothing by
/// that. One that quotes a line from the middle does, for instance of how it failed before.
#[derive(Clone, Debug, Default)]
pub(crate) struct Echo {
    awaited: VecDeque<String>,
}

impl Echo {
    pub(crate) fn of(prompt: &str) -> Self {
        let lines = prompt.lines().map(str::trim);
        Self {
            awaited: lines
                .filter(|line| !line.is_empty())
                .map(str::to_owned)
                .collect(),
        }
    }

    /// Whether this is the next line of it.
    pub(crate) fn goes_on_with(&mut self, line: &[u8]) -> bool {
        let line = std::str::from_utf8(line).map(str::trim);
        let is_next = line.is_ok_and(|line| self.awaited.front().is_some_and(|next| next == line));
        if is_next {
            self.awaited.pop_front();
        }
        is_next
    }

    /// What is left of a message.
    pub(crate) fn without(mut self, message: &str) -> String {
        let lines = message.split_inclusive('\n');
        lines
            .filter(|line| !self.goes_on_with(line.as_bytes()))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_agent_was_told_is_not_what_it_says() {
        let echo = Echo::of("Do it.\n\n  If it cannot be done, say why.\n");
        let said = "I was told:\nDo it.\nIf it cannot be done, say why.\nIt is done.\n";
        assert_eq!(echo.without(said), "I was told:\nIt is done.\n");
        assert_eq!(Echo::default().without(said), said);
    }

    #[test]
    fn who_fails_as_before_says_so() {
        let echo = Echo::of("Do it.\nIt failed before:\nthe file is missing\n");
        assert_eq!(
            echo.without("the file is missing\n"),
            "the file is missing\n"
        );
    }
}
