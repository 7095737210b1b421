use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

/// The last bytes of a file, as text.
pub(crate) fn end_of_file(path: &Path, bytes: u64) -> io::Result<String> {
    let mut file = File::open(path)?;
    let start = file.metadata()?.len().saturating_sub(bytes);
    file.seek(SeekFrom::Start(start))?;
    let mut end = Vec::new();
    file.take(bytes).read_to_end(&mut end)?;
    Ok(String::from_utf8_lossy(&end).into_owned())
}
