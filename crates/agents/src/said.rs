use crate::answer::Answer;

/// More than this of one message is cut before it ends.
const MAX_HELD: usize = 1024 * 1024;

/// The message that an agent is at: the last one it says is its final one.
#[derive(Debug, Default)]
pub(crate) struct Said {
    text: String,
}

impl Said {
    /// A piece of the message.
    pub(crate) fn add(&mut self, piece: &str) {
        self.text.push_str(piece);
        if self.text.len() > MAX_HELD {
            self.text = bounded(&self.text);
        }
    }

    /// A new message, of which this is all or the beginning.
    pub(crate) fn begin(&mut self, text: &str) {
        self.text.clear();
        self.add(text);
    }

    pub(crate) fn text(&self) -> String {
        bounded(&self.text)
    }
}

/// A message of any length as what can be kept of it.
pub(crate) fn bounded(text: &str) -> String {
    let mut answer = Answer::default();
    for line in text.lines() {
        answer.push_line(line.as_bytes());
    }
    answer.text()
}
