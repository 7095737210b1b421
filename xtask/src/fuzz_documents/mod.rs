//! `cargo xtask fuzz-documents`: do others read task files as regreen does?
//!
//! comrak stands for CommonMark as GitHub shows it. Where regreen reads rows differently,
//! one of the [`Explanation`](explanation::Explanation)s must hold. tree-sitter-md is a
//! third opinion that is counted only: it differs from comrak as well.

mod dice;
mod explanation;
mod made_up;
mod outline;
mod readers;
mod row_set;
mod shrink;
mod source;
mod tally;
mod verdict;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::Args;

use dice::Dice;
use explanation::Explanation;
use shrink::shrink;
use tally::Tally;
use verdict::{Difference, Verdict, judge};

/// Enough to see what is wrong.
const MAX_SHOWN: usize = 5;

#[derive(Clone, Debug, Args)]
pub(crate) struct Arguments {
    /// How many documents to make up.
    #[arg(long, default_value_t = 20_000, value_name = "N")]
    documents: u64,
    /// Where to start: the same seed gives the same documents.
    #[arg(long, default_value_t = 1, value_name = "S")]
    seed: u64,
    /// Also show a small document for each explanation.
    #[arg(long)]
    examples: bool,
    /// Compare these files instead of made-up documents.
    files: Vec<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments) -> ExitCode {
    let started = Instant::now();
    let tally = if arguments.files.is_empty() {
        sweep(texts(arguments.seed, arguments.documents))
    } else {
        sweep(arguments.files.iter().filter_map(|file| readable(file)))
    };
    print_tally(&tally, started.elapsed());
    if arguments.examples {
        print_examples(arguments.seed, arguments.documents);
    }
    for (text, difference) in tally.unexplained.iter().take(MAX_SHOWN) {
        print_unexplained(text, difference);
    }
    if tally.unexplained.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// The text of a file; one that is none is said and left out.
fn readable(file: &Path) -> Option<String> {
    match std::fs::read_to_string(file) {
        Ok(text) => Some(text),
        Err(error) => {
            eprintln!("{}: {error}", file.display());
            None
        }
    }
}

fn sweep(texts: impl Iterator<Item = String>) -> Tally {
    let mut tally = Tally::default();
    for text in texts {
        let verdict = judge(&text);
        tally.count(&text, verdict);
    }
    tally
}

fn texts(seed: u64, documents: u64) -> impl Iterator<Item = String> {
    let mut dice = Dice::new(seed);
    (0..documents).map(move |_| made_up::text(&mut dice))
}

fn print_tally(tally: &Tally, took: Duration) {
    println!(
        "{} documents, {} rows ({} for comrak), {:.1} s",
        tally.documents,
        tally.rows,
        tally.comrak_rows,
        took.as_secs_f64()
    );
    println!("  {:>7}  regreen and comrak agree", tally.agreed);
    println!(
        "  {:>7}    of these, tree-sitter-md alone differs",
        tally.tree_sitter_alone
    );
    println!("  {:>7}  differ on purpose:", tally.explained_documents);
    for (explanation, count) in &tally.explained {
        println!("  {count:>7}    {}", explanation.sentence());
    }
    println!(
        "  {:>7}    tree-sitter-md reads as regreen, {} as comrak, {} as neither",
        tally.tree_sitter_with_regreen, tally.tree_sitter_with_comrak, tally.tree_sitter_with_none
    );
    println!("  {:>7}  unexplained", tally.unexplained.len());
}

/// The smallest document that has one explanation and no other.
fn print_examples(seed: u64, documents: u64) {
    for explanation in Explanation::ALL {
        let only_it = |text: &str| judge(text) == Verdict::Explained(vec![explanation]);
        if let Some(text) = texts(seed, documents).find(|text| only_it(text)) {
            println!("\n{}:", explanation.sentence());
            println!("  {:?}", shrink(&text, only_it));
        }
    }
}

fn print_unexplained(text: &str, difference: &Difference) {
    let is_unexplained = |text: &str| matches!(judge(text), Verdict::Unexplained(_));
    let small = shrink(text, is_unexplained);
    let Verdict::Unexplained(shown) = judge(&small) else {
        return;
    };
    eprintln!("\nunexplained: {small:?}");
    eprintln!("  regreen {}   comrak {}", shown.regreen, shown.comrak);
    if shown.rewritten != small {
        eprintln!("  rewritten: {:?}", shown.rewritten);
    }
    if let Some(broken) = shown.broken {
        eprintln!("  changes what regreen reads: {}", broken.sentence());
    }
    eprintln!(
        "  made smaller from {text:?} (regreen {}, comrak {})",
        difference.regreen, difference.comrak
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_difference_from_commonmark_has_an_explanation_that_holds() {
        let tally = sweep(texts(2026, 500));
        let texts: Vec<&String> = tally.unexplained.iter().map(|(text, _)| text).collect();
        assert_eq!(texts, Vec::<&String>::new());
        assert!(tally.rows > 400 && tally.agreed > 200, "{tally:?}");
        assert!(tally.explained.len() > 5, "{tally:?}");
    }
}
