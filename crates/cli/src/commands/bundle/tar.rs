//! A tar archive of text files, in the ustar format.

/// The size of a block, the unit of an archive.
const BLOCK: usize = 512;
/// The lengths of the two name fields.
const NAME: usize = 100;
const PREFIX: usize = 155;

/// An archive in memory. Entries have no owner and no time, so the same texts make the same
/// archive.
#[derive(Debug, Default)]
pub(super) struct Archive {
    bytes: Vec<u8>,
}

impl Archive {
    /// Adds a file. A name that is too long for the format loses its beginning.
    pub(super) fn add(&mut self, name: &str, text: &[u8]) {
        let (prefix, name) = split_name(name);
        let mut header = [0_u8; BLOCK];
        put(&mut header, 0, name.as_bytes());
        put(&mut header, 100, b"0000644\0");
        put(&mut header, 108, b"0000000\0");
        put(&mut header, 116, b"0000000\0");
        put(
            &mut header,
            124,
            format!("{:011o}\0", text.len()).as_bytes(),
        );
        put(&mut header, 136, b"00000000000\0");
        put(&mut header, 148, b"        ");
        put(&mut header, 156, b"0");
        put(&mut header, 257, b"ustar\x0000");
        put(&mut header, 345, prefix.as_bytes());
        let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
        put(&mut header, 148, format!("{sum:06o}\0 ").as_bytes());
        self.bytes.extend_from_slice(&header);
        self.bytes.extend_from_slice(text);
        let rest = text.len() % BLOCK;
        if rest > 0 {
            self.bytes.resize(self.bytes.len() + BLOCK - rest, 0);
        }
    }

    /// Finishes the archive and returns it.
    pub(super) fn finish(mut self) -> Vec<u8> {
        self.bytes.resize(self.bytes.len() + 2 * BLOCK, 0);
        self.bytes
    }
}

fn put(header: &mut [u8; BLOCK], at: usize, bytes: &[u8]) {
    if let Some(field) = header.get_mut(at..at + bytes.len()) {
        field.copy_from_slice(bytes);
    }
}

/// Splits a name at a slash so that both parts fit.
fn split_name(name: &str) -> (&str, &str) {
    if name.len() <= NAME {
        return ("", name);
    }
    let slashes = name.match_indices('/').map(|(at, _)| at);
    let fits = |at: &usize| *at <= PREFIX && name.len() - at - 1 <= NAME;
    match slashes.into_iter().find(fits) {
        Some(at) => (&name[..at], &name[at + 1..]),
        None => ("", &name[name.ceil_char_boundary(name.len() - NAME)..]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_split_where_both_parts_fit() {
        assert_eq!(split_name("a/b"), ("", "a/b"));
        let long = format!("{}/{}", "f".repeat(90), "n".repeat(90));
        assert_eq!(split_name(&long), (&*"f".repeat(90), &*"n".repeat(90)));
        let endless = "x".repeat(300);
        assert_eq!(split_name(&endless).1.len(), NAME);
    }

    #[test]
    fn a_file_takes_whole_blocks_and_the_archive_ends_with_two_empty_ones() {
        let mut archive = Archive::default();
        archive.add("a.txt", b"hello");
        let bytes = archive.finish();
        assert_eq!(bytes.len(), 4 * BLOCK);
        assert_eq!(&bytes[..5], b"a.txt");
        assert_eq!(&bytes[BLOCK..BLOCK + 5], b"hello");
        let sum: u32 = bytes[..BLOCK]
            .iter()
            .enumerate()
            .map(|(at, byte)| match at {
                148..156 => u32::from(b' '),
                _ => u32::from(*byte),
            })
            .sum();
        let stored = std::str::from_utf8(&bytes[148..154]).unwrap();
        assert_eq!(u32::from_str_radix(stored, 8), Ok(sum));
    }
}
