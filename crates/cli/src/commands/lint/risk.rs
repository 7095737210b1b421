//! How likely tasks fail at first.

use regreen_documents::TaskFile;
use regreen_history::Risk;
use regreen_reporters::{StatusLine, Tone};

use super::counted;
use crate::outlook::{Outlook, advice, likelihood, reasons};
use crate::output::printable_line;

/// How many of the riskiest tasks are shown one by one.
const SHOWN: usize = 10;

/// Returns a line for each of the riskiest tasks, and one about the others. Nothing if too little
/// is known to say.
pub fn lines(file: &TaskFile, outlook: &Outlook) -> Vec<StatusLine> {
    let mut risks: Vec<(String, Risk)> = file
        .rows()
        .filter_map(|row| Some((file.key(row)?.id.to_string(), outlook.risk(file, row)?)))
        .collect();
    // The order of the file among equals.
    risks.sort_by_key(|(_, risk)| std::cmp::Reverse(risk.percent));
    let is_high = |(_, risk): &&(String, Risk)| risk.percent > risk.average_percent;
    let high = risks.iter().take_while(is_high).count().min(SHOWN);
    let (high, others) = risks.split_at(high);
    let shown = high.iter().map(|(id, risk)| line(id, risk));
    shown.chain(summary(others, !high.is_empty())).collect()
}

fn line(id: &str, risk: &Risk) -> StatusLine {
    let line = StatusLine::labelled("RISK", format!("{id} is {}", likelihood(risk)));
    let line = line.toned(Tone::Warning);
    let line = reasons(risk)
        .iter()
        .fold(line, |line, reason| line.detail(printable_line(reason)));
    match advice(risk, id).as_str() {
        "" => line,
        advice => line.detail(format!("to lower it: {advice}")),
    }
}

/// The others have at most the risk of the first of them.
fn summary(others: &[(String, Risk)], are_other: bool) -> Option<StatusLine> {
    let (_, most) = others.first()?;
    let tasks = if are_other { "other task" } else { "task" };
    let text = format!(
        "{}: each at most {} % likely to fail at first, from {}",
        counted(others.len(), tasks),
        most.percent,
        counted(
            usize::try_from(most.outcomes).unwrap_or(usize::MAX),
            "outcome"
        )
    );
    Some(StatusLine::labelled("RISK", text))
}
