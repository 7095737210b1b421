//! `regreen bundle`: packs one run into an archive, for a bug report.
//!
//! The archive contains only the spec's own files and what `.regreen` has about the run. Everything
//! is masked again on the way out, because more secrets may be known by now than when it was
//! stored.

mod tar;

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use regreen_redaction::Masks;
use regreen_runtime::{SpecPaths, workspace_masks};
use regreen_store::Run;
use regreen_workspace::{MAX_FILE, read_file};

use self::tar::Archive;
use crate::arguments::Bundle;
use crate::exit::Exit;
use crate::history::SpecHistory;
use crate::output;
use crate::problem::Problem;
use crate::spec_context::{SpecContext, own_secrets};

/// Longer files are cut in the middle.
const LONGEST: usize = 1024 * 1024;
/// Deeper than any folder of a run.
const MAX_DEPTH: usize = 4;

pub fn run(arguments: &Bundle) -> Result<Exit, Problem> {
    let context = SpecContext::with_flag(arguments.spec.as_deref())?;
    let history = SpecHistory::open(&context.places)?;
    let run = history.run_named(arguments.run.as_deref(), &context.places.spec.name)?;
    let path = match &arguments.output {
        Some(path) => path.clone(),
        None => PathBuf::from(format!("regreen-{}.tar", run.id)),
    };
    let (bytes, files) = archive(&context.places, &history, &run)?;
    write(&path, &bytes).map_err(|source| Problem::Bundle {
        path: path.clone(),
        source,
    })?;
    output::print_text(&format!(
        "wrote {} with {files} files, secrets masked; look through it before you share it: tar -tf {}\n",
        output::printable(&path.display().to_string()),
        output::printable(&shell_words::quote(&path.to_string_lossy())),
    ))?;
    Ok(Exit::Success)
}

/// Writes a new file; fails if it exists.
fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut options = OpenOptions::new();
    let mut file = options.write(true).create_new(true).open(path)?;
    file.write_all(bytes)
}

/// Returns the archive and its number of files.
fn archive(
    places: &SpecPaths,
    history: &SpecHistory,
    run: &Run,
) -> Result<(Vec<u8>, usize), Problem> {
    let masks = workspace_masks(&places.root, &own_secrets());
    let mut files = vec![
        ("README.txt".to_owned(), readme(places, run)),
        ("journal.jsonl".to_owned(), history.journal(run)?),
    ];
    for path in [&places.spec.tasks, &places.progress, &places.state] {
        let name = path.file_name().map(|name| name.to_string_lossy());
        let name = format!("spec/{}", name.unwrap_or_default());
        files.extend(text_of(path).map(|text| (name, text)));
    }
    gather(&places.run_folder(run.id.as_str()), "run", 0, &mut files);
    let mut archive = Archive::default();
    for (name, text) in &files {
        archive.add(&format!("regreen/{name}"), masked(&masks, text).as_bytes());
    }
    Ok((archive.finish(), files.len()))
}

fn readme(places: &SpecPaths, run: &Run) -> String {
    format!(
        "regreen {version} on {os} {arch}\n\
         run {id} of spec {spec}\n\n\
         journal.jsonl  every step of the run: `regreen replay journal.jsonl` shows it\n\
         spec/          the task file, the progress file and the state file as they are now\n\
         run/           prompts, and the output of agents and checks; of long ones, both ends\n\n\
         The rest of the workspace is not in it. Secrets that regreen knows are masked. Prompts and\n\
         output quote your task file and your code: look through them before you share this.\n",
        version = env!("CARGO_PKG_VERSION"),
        os = std::env::consts::OS,
        arch = std::env::consts::ARCH,
        id = run.id,
        spec = places.spec.name,
    )
}

/// Adds the files of a folder, without following links and without program launchers.
fn gather(folder: &Path, name: &str, depth: usize, files: &mut Vec<(String, String)>) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut entries: Vec<_> = entries.collect();
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let own = entry.file_name();
        let name = format!("{name}/{}", own.to_string_lossy());
        match entry.file_type() {
            Ok(kind) if kind.is_dir() && depth < MAX_DEPTH && own != "bin" => {
                gather(&entry.path(), &name, depth + 1, files);
            }
            Ok(kind) if kind.is_file() => {
                files.extend(text_of(&entry.path()).map(|text| (name, text)));
            }
            _ => {}
        }
    }
}

/// Returns the text of a regular file; `None` for a link or an unreadable file.
fn text_of(path: &Path) -> Option<String> {
    let is_plain = path.symlink_metadata().is_ok_and(|stat| stat.is_file());
    let bytes = is_plain.then(|| read_file(path, MAX_FILE).ok())??;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// Masks the whole text before cutting it, because half a secret would not be recognized.
fn masked(masks: &Masks, text: &str) -> String {
    let text = masks.mask(text);
    if text.len() <= LONGEST {
        return text;
    }
    let head = &text[..text.floor_char_boundary(LONGEST / 2)];
    let tail = &text[text.ceil_char_boundary(text.len() - LONGEST / 2)..];
    let left_out = text.len() - head.len() - tail.len();
    format!("{head}\n… {left_out} bytes left out …\n{tail}")
}
