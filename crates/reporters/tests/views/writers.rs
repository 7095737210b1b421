use std::io::{self, Write};

use regreen_reporters::{JsonLines, Lines, Palette};

use crate::scripts;

/// A pipe whose reader goes away after a few lines.
#[derive(Debug, Default)]
struct ClosedSoon {
    lines: Vec<String>,
    refused: usize,
}

impl Write for &mut ClosedSoon {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.lines.len() == 3 {
            self.refused += 1;
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        self.lines.push(String::from_utf8_lossy(bytes).into_owned());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_run_goes_on_when_nobody_reads_its_lines() {
    let mut pipe = ClosedSoon::default();
    scripts::well_in_the_end(Lines::new(&mut pipe, Palette::Plain)).finish();
    assert_eq!((pipe.lines.len(), pipe.refused), (3, 1));
}

#[test]
fn a_run_goes_on_when_nobody_reads_its_json() {
    let mut pipe = ClosedSoon::default();
    scripts::well_in_the_end(JsonLines::new(&mut pipe)).finish();
    assert_eq!((pipe.lines.len(), pipe.refused), (3, 1));
    assert!(pipe.lines.iter().all(|line| line.ends_with("}\n")));
}
