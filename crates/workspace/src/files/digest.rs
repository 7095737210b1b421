use std::fmt;

use sha2::{Digest as _, Sha256};

const BYTES: usize = 8;

/// A short fingerprint of a content, small enough to be part of a file name.
///
/// It must mean the same to the next version of regreen, which may find the name, so it
/// is cut from a standard hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Digest([u8; BYTES]);

impl Digest {
    pub(crate) fn of(content: &[u8]) -> Digest {
        let mut short = [0; BYTES];
        for (short, long) in short.iter_mut().zip(Sha256::digest(content)) {
            *short = long;
        }
        Digest(short)
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
