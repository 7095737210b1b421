use std::collections::VecDeque;

use regreen_model::Usage;

/// So many messages may be told at the same time, by helpers of an agent; older ones have ended.
const OPEN: usize = 64;

/// What messages have used up, of an agent that tells a message more than once: its last word
/// on each counts.
#[derive(Debug, Default)]
pub(crate) struct MessageUsage {
    open: VecDeque<(String, Usage)>,
    ended: Usage,
}

impl MessageUsage {
    /// Whether that changes the total.
    pub(crate) fn told(&mut self, message: &str, usage: Usage) -> bool {
        let before = self.total();
        match self.open.iter_mut().find(|(id, _)| id == message) {
            Some((_, known)) => *known = usage,
            None => self.open.push_back((message.to_owned(), usage)),
        }
        if self.open.len() > OPEN
            && let Some((_, oldest)) = self.open.pop_front()
        {
            self.ended = self.ended.plus(&oldest);
        }
        self.total() != before
    }

    pub(crate) fn total(&self) -> Usage {
        let open = self.open.iter();
        open.fold(self.ended, |total, (_, usage)| total.plus(usage))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usage(input_tokens: u64) -> Usage {
        Usage {
            input_tokens,
            ..Usage::default()
        }
    }

    #[test]
    fn the_last_word_on_each_message_counts_however_many_there_are() {
        let mut spent = MessageUsage::default();
        assert!(spent.told("a", usage(7)));
        assert!(!spent.told("a", usage(7)));
        assert!(spent.told("b", usage(1)));
        assert!(spent.told("a", usage(9)));
        assert_eq!(spent.total().input_tokens, 10);
        for n in 0..1000 {
            assert!(spent.told(&n.to_string(), usage(1)));
        }
        assert_eq!(spent.total().input_tokens, 1010);
        assert!(spent.open.len() <= OPEN);
        spent.told("huge", usage(u64::MAX));
        assert_eq!(spent.total().input_tokens, u64::MAX);
    }
}
