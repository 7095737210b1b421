//! `regreen rules`: lists and tests the rules that find causes, built-in and your own. Runs
//! nothing.

use std::path::PathBuf;
use std::sync::Arc;

use clap::{Args, Subcommand};
use regreen_diagnosis::{Explanation, RankedLine, built_in_rules, evidence_of, ranked_lines};
use regreen_model::{Ending, Finding, Source, visible_line};
use regreen_redaction::Masks;
use regreen_reporters::{Status, StatusLine};
use regreen_workspace::{RealDisk, workspace_root};

use super::explain::{Checks, scan_log};
use crate::config::{RuleFiles, usual_user_file};
use crate::exit::Exit;
use crate::output;
use crate::problem::Problem;
use crate::spec_context::current_dir;

// A doc comment here would become the command's description.
#[derive(Debug, Subcommand)]
pub enum Rules {
    /// List your own rules, then the built-in ones
    List,
    /// Try your own rules on their examples
    Test,
    /// Show which lines of a log may be the cause, and the rules that found them
    Why(RulesWhy),
}

#[derive(Debug, Args)]
pub struct RulesWhy {
    /// Log file, or `-` for standard input
    #[arg(value_name = "LOG")]
    pub file: PathBuf,
    /// Exit code of the command
    #[arg(
        long,
        value_name = "N",
        allow_hyphen_values = true,
        default_value = "1"
    )]
    pub exit_code: i32,
}

/// The most lines that `why` shows.
const SHOWN_LINES: usize = 20;
const LINE_CHARS: usize = 160;

pub fn run(command: &Rules) -> Result<Exit, Problem> {
    let here = current_dir()?;
    let root = workspace_root(&RealDisk, &here);
    let files = RuleFiles::load(usual_user_file().as_deref(), &root);
    match command {
        Rules::List => {
            files.note_broken(&here);
            output::print(&list(&files))?;
            Ok(Exit::Success)
        }
        Rules::Test => test(&files, &here),
        Rules::Why(arguments) => {
            files.note_broken(&here);
            why(arguments, files)
        }
    }
}

fn list(files: &RuleFiles) -> String {
    let own = files.rules.iter().map(|rule| {
        let meaning = rule
            .explain
            .clone()
            .unwrap_or_else(|| "names the cause".to_owned());
        (rule.name.clone(), rule.weight, meaning)
    });
    let built_in = built_in_rules().filter_map(|rule| {
        Some((
            rule.name.to_owned(),
            rule.weight,
            rule.kind?.name().to_owned(),
        ))
    });
    let rows: Vec<(String, u8, String)> = own.chain(built_in).collect();
    let width = rows.iter().map(|(name, ..)| name.len()).max().unwrap_or(0);
    let line = |(name, weight, meaning): &(String, u8, String)| {
        output::printable_line(&format!("{name:<width$}  {weight:>3}  {meaning}")) + "\n"
    };
    rows.iter().map(line).collect()
}

/// Tries the examples. The exit code shows whether all of them match.
fn test(files: &RuleFiles, here: &std::path::Path) -> Result<Exit, Problem> {
    let mut lines: Vec<StatusLine> = Vec::new();
    for (file, why) in &files.broken {
        let line = StatusLine::new(Status::Fail, output::path_from(here, file));
        lines.push(
            why.lines()
                .fold(line, |line, row| line.detail(visible_line(row, LINE_CHARS))),
        );
    }
    let wrong = files.rules.wrong_examples();
    for example in &wrong {
        let verb = if example.should_match {
            "must match"
        } else {
            "must ignore"
        };
        lines.push(
            StatusLine::new(Status::Fail, visible_line(&example.rule, LINE_CHARS)).detail(format!(
                "{verb}: {}",
                visible_line(&example.text, LINE_CHARS)
            )),
        );
    }
    let is_right = lines.is_empty();
    if is_right {
        let text = match files.rules.iter().count() {
            0 => "no rules of your own in rules/*.toml".to_owned(),
            1 => "1 rule; all its examples pass".to_owned(),
            count => format!("{count} rules; all their examples pass"),
        };
        lines.push(StatusLine::new(Status::Pass, text));
    }
    output::print_lines(&lines)?;
    Ok(if is_right {
        Exit::Success
    } else {
        Exit::Incomplete
    })
}

fn why(arguments: &RulesWhy, files: RuleFiles) -> Result<Exit, Problem> {
    let own = Arc::new(files.rules);
    let checks = Checks {
        own_rules: own.clone(),
        baseline: None,
    };
    let output = scan_log(&arguments.file, Source::Command, checks)?;
    let ending = Ending {
        exit_code: Some(arguments.exit_code),
        ..Ending::default()
    };
    let evidence = evidence_of(output, Source::Command, None, ending);
    let explanation = Explanation::with_own_rules(&evidence, &own);
    let mut text = headline(&explanation);
    for finding in &evidence.output.own_findings {
        text.push_str(&own_row(finding));
    }
    let ranked = ranked_lines(&evidence);
    for line in ranked.iter().take(SHOWN_LINES) {
        text.push_str(&row(line));
    }
    output::print(&Masks::built_in().mask(&text))?;
    Ok(Exit::Success)
}

fn headline(explanation: &Explanation) -> String {
    let Some(failure) = &explanation.failure else {
        return "It did not fail.\n".to_owned();
    };
    let rule = explanation.named_by().unwrap_or(&failure.rule);
    let line = failure
        .line
        .map_or_else(String::new, |line| format!(", line {line}"));
    let quoted = failure.blocked_on.as_deref().unwrap_or(&failure.message);
    format!(
        "{} · {rule}{line}\n  {}\n\n",
        failure.kind,
        visible_line(quoted, LINE_CHARS)
    )
}

fn own_row(finding: &Finding) -> String {
    let text = visible_line(finding.text.trim(), LINE_CHARS);
    format!(
        " own  {:>6}  {}\n              {text}\n",
        finding.line, finding.rule
    )
}

fn row(line: &RankedLine) -> String {
    let text = visible_line(line.text.trim(), LINE_CHARS);
    format!(
        "{:>4}  {:>6}  {} · {}\n              {text}\n",
        line.score, line.line, line.rule, line.kind
    )
}
