use std::fmt;

use twox_hash::XxHash3_64;

const BYTES: usize = 8;

/// A short fingerprint of a content, small enough to be part of a file name.
///
/// It must mean the same to the next version of regreen, which may find the name, so it is a
/// standard hash (XXH3); one that is fast, for whole plans go through it at every edit. It
/// only has to tell our own text from other people's, nobody has to be kept from forging it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Digest([u8; BYTES]);

impl Digest {
    pub(crate) fn of(content: &[u8]) -> Digest {
        Digest(XxHash3_64::oneshot(content).to_be_bytes())
    }

    pub(crate) fn parse(text: &str) -> Option<Digest> {
        if text.len() != 2 * BYTES || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return None;
        }
        u64::from_str_radix(text, 16)
            .ok()
            .map(|number| Digest(number.to_be_bytes()))
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", u64::from_be_bytes(self.0))
    }
}
