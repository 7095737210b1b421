use std::collections::BTreeSet;

use regreen_workspace::{EditReport, WriteMethod};

/// What people should know, each thing once.
#[derive(Debug, Default)]
pub(crate) struct Notices {
    waiting: Vec<String>,
    told: BTreeSet<String>,
}

impl Notices {
    pub(crate) fn add(&mut self, message: String) {
        if self.told.insert(message.clone()) {
            self.waiting.push(message);
        }
    }

    pub(crate) fn add_all(&mut self, messages: impl IntoIterator<Item = String>) {
        for message in messages {
            self.add(message);
        }
    }

    /// How a file was written, where that is worth a word.
    pub(crate) fn edited(&mut self, edited: &EditReport) {
        self.add_all(edited.recovered.iter().map(ToString::to_string));
        if let WriteMethod::InPlace(why) = edited.written {
            self.add(format!(
                "files are written in place, without the promises of an exchange: {why}"
            ));
        }
    }

    pub(crate) fn take(&mut self) -> Vec<String> {
        std::mem::take(&mut self.waiting)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_said_twice() {
        let mut notices = Notices::default();
        notices.add("once".into());
        assert_eq!(notices.take(), ["once"]);
        notices.add("once".into());
        assert!(notices.take().is_empty());
    }
}
