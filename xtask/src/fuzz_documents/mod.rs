//! `cargo xtask fuzz-documents`: do other parsers read task files as regreen does?
//!
//! comrak stands for CommonMark as GitHub renders it. If regreen reads rows differently, one of the
//! [`Explanation`]s must hold. tree-sitter-md is a third opinion that is only counted, because it
//! differs from comrak as well.

mod comparison;
mod explanation;
mod generate;
mod outline;
mod source;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::Args;

use comparison::{Comparison, Difference, Totals, compare};
use explanation::Explanation;
use generate::Rng;
use source::shrink;

/// Enough to see what is wrong.
const MAX_SHOWN: usize = 5;

#[derive(Clone, Debug, Args)]
pub(crate) struct Arguments {
    /// Number of documents to generate.
    #[arg(long, default_value_t = 20_000, value_name = "N")]
    documents: u64,
    /// First seed: the same seed gives the same documents.
    #[arg(long, default_value_t = 1, value_name = "S")]
    seed: u64,
    /// Also show a small document for each explanation.
    #[arg(long)]
    examples: bool,
    /// Compare these files instead of generated documents.
    files: Vec<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments) -> ExitCode {
    let started = Instant::now();
    let totals = if arguments.files.is_empty() {
        sweep(texts(arguments.seed, arguments.documents))
    } else {
        sweep(arguments.files.iter().filter_map(|file| readable(file)))
    };
    print_tally(&totals, started.elapsed());
    if arguments.examples {
        print_examples(arguments.seed, arguments.documents);
    }
    for (text, difference) in totals.unexplained.iter().take(MAX_SHOWN) {
        print_unexplained(text, difference);
    }
    if totals.unexplained.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// Returns the text of a file; reports and skips one that is not text.
fn readable(file: &Path) -> Option<String> {
    match std::fs::read_to_string(file) {
        Ok(text) => Some(text),
        Err(error) => {
            eprintln!("{}: {error}", file.display());
            None
        }
    }
}

fn sweep(texts: impl Iterator<Item = String>) -> Totals {
    let mut totals = Totals::default();
    for text in texts {
        let comparison = compare(&text);
        totals.count(&text, comparison);
    }
    totals
}

fn texts(seed: u64, documents: u64) -> impl Iterator<Item = String> {
    let mut rng = Rng::new(seed);
    (0..documents).map(move |_| generate::text(&mut rng))
}

fn print_tally(totals: &Totals, took: Duration) {
    println!(
        "{} documents, {} rows ({} for comrak), {:.1} s",
        totals.documents,
        totals.rows,
        totals.comrak_rows,
        took.as_secs_f64()
    );
    println!("  {:>7}  regreen and comrak agree", totals.agreed);
    println!(
        "  {:>7}    of these, tree-sitter-md alone differs",
        totals.tree_sitter_alone
    );
    println!("  {:>7}  differ on purpose:", totals.explained_documents);
    for (explanation, count) in &totals.explained {
        println!("  {count:>7}    {}", explanation.sentence());
    }
    println!(
        "  {:>7}    tree-sitter-md reads as regreen, {} as comrak, {} as neither",
        totals.tree_sitter_with_regreen,
        totals.tree_sitter_with_comrak,
        totals.tree_sitter_with_none
    );
    println!("  {:>7}  unexplained", totals.unexplained.len());
}

/// Prints the smallest document for each explanation that needs no other.
fn print_examples(seed: u64, documents: u64) {
    for explanation in Explanation::ALL {
        let only_it = |text: &str| compare(text) == Comparison::Explained(vec![explanation]);
        if let Some(text) = texts(seed, documents).find(|text| only_it(text)) {
            println!("\n{}:", explanation.sentence());
            println!("  {:?}", shrink(&text, only_it));
        }
    }
}

fn print_unexplained(text: &str, difference: &Difference) {
    let is_unexplained = |text: &str| matches!(compare(text), Comparison::Unexplained(_));
    let small = shrink(text, is_unexplained);
    let Comparison::Unexplained(shown) = compare(&small) else {
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
        let totals = sweep(texts(2026, 500));
        let texts: Vec<&String> = totals.unexplained.iter().map(|(text, _)| text).collect();
        assert_eq!(texts, Vec::<&String>::new());
        assert!(totals.rows > 400 && totals.agreed > 200, "{totals:?}");
        assert!(totals.explained.len() > 5, "{totals:?}");
    }
}
