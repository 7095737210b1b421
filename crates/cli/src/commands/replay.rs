//! `regreen replay`: shows a journal as its run was shown.

use std::io;
use std::path::Path;

use regreen_engine::JournalLine;
use regreen_model::Timestamp;
use regreen_reporters::{JsonLines, Lines, Reporter};
use regreen_workspace::{ReadError, RealDisk, read_text};

use crate::arguments::Replay;
use crate::exit::Exit;
use crate::output;
use crate::problem::Problem;

pub fn run(arguments: &Replay) -> Result<Exit, Problem> {
    let text = text(&arguments.file)?;
    // Reads everything before showing anything: half a run would look complete.
    let journal = journal(&arguments.file, &text)?;
    show(&journal, reporter(arguments.json));
    Ok(Exit::Success)
}

fn text(file: &Path) -> Result<String, Problem> {
    if file != Path::new("-") {
        return Ok(read_text(&RealDisk, file)?.text);
    }
    let text = io::read_to_string(io::stdin());
    text.map_err(|source| {
        Problem::Read(ReadError::Io {
            path: file.to_owned(),
            source,
        })
    })
}

fn journal(file: &Path, text: &str) -> Result<Vec<JournalLine>, Problem> {
    let bad = |line: usize, why: String| Problem::NotAJournal {
        file: file.to_owned(),
        line,
        why,
    };
    let lines = (1..).zip(text.lines());
    let lines = lines.filter(|(_, line)| !line.trim().is_empty());
    let steps = lines.map(|(number, line)| {
        serde_json::from_str(line).map_err(|error| bad(number, message(&error)))
    });
    let steps: Vec<JournalLine> = steps.collect::<Result<_, _>>()?;
    if steps.is_empty() {
        return Err(bad(1, "it is empty".to_owned()));
    }
    Ok(steps)
}

/// Returns the error without its position, because the parser takes every line for the first.
fn message(error: &serde_json::Error) -> String {
    let why = error.to_string();
    let without_place = why.rsplit_once(" at line ").map(|(why, _)| why.to_owned());
    without_place.unwrap_or(why)
}

fn reporter(json: bool) -> Box<dyn Reporter> {
    if json {
        Box::new(JsonLines::new(io::stdout()))
    } else {
        Box::new(Lines::new(io::stdout(), output::line_style()))
    }
}

fn show(journal: &[JournalLine], mut reporter: Box<dyn Reporter>) {
    let mut last = Timestamp::default();
    for JournalLine { now, events, .. } in journal {
        last = *now;
        for event in events {
            reporter.event(*now, event);
        }
    }
    reporter.finish(last);
}
