use crate::class::Class;
use crate::key_block::KeyBlock;

/// What is known about a place where a secret may begin.
#[derive(Debug)]
pub(crate) enum Verdict {
    No,
    /// More of the stream must be seen.
    Undecided,
    Mask(Span),
}

/// A stretch of text to mask.
#[derive(Debug)]
pub(crate) struct Span {
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// Set while it reaches the end of what has been seen and may go on.
    pub(crate) growth: Option<Growth>,
}

/// How a secret goes on that is already known to be one: it can be dropped as it comes.
#[derive(Debug)]
pub(crate) enum Growth {
    While(&'static Class),
    KeyBlock(KeyBlock),
}

impl Growth {
    /// How many of `bytes` belong to it, and whether it is over.
    pub(crate) fn grow(&mut self, bytes: &[u8]) -> (usize, bool) {
        match self {
            Self::While(class) => {
                let len = class.run(bytes);
                (len, len < bytes.len())
            }
            Self::KeyBlock(block) => block.follow(bytes),
        }
    }
}

impl Span {
    /// Takes in what has come since.
    pub(crate) fn grow(&mut self, text: &[u8]) {
        if let Some(growth) = &mut self.growth {
            let (len, over) = growth.grow(&text[self.end..]);
            self.end += len;
            if over {
                self.growth = None;
            }
        }
    }
}
