//! How the Verify of each task is judged, if that is not obvious.

use std::collections::BTreeSet;

use regreen_documents::{BlindSpot, RowId, TaskFile, always_passes};
use regreen_model::{Task, VerifyCommand};
use regreen_reporters::StatusLine;

use super::counted;
use super::finding::Finding;
use crate::output;

/// Finds checks that can't fail, and statements that can't be checked.
pub fn findings(
    file: &TaskFile,
    open: &[&(RowId, Task)],
    can_run: impl Fn(&VerifyCommand) -> bool,
) -> Vec<Finding> {
    let mut judged: Vec<(usize, VerifyCommand)> = Vec::new();
    for (row, task) in open {
        let mut commands = file.verify_commands(*row);
        for command in &mut commands {
            command.settle(can_run(command));
        }
        // If no command can run, the finding is about the whole task.
        if commands.iter().any(&can_run) {
            commands.retain(|command| can_run(command) || command.is_left_out());
            judged.extend(commands.into_iter().map(|command| (task.line, command)));
        }
    }
    [unfailing(&judged), blind(&judged), unchecked(&judged)]
        .into_iter()
        .flatten()
        .collect()
}

/// Returns a line for each open task whose Verify is not judged by exit code 0 alone.
pub fn lines(file: &TaskFile, can_run: impl Fn(&VerifyCommand) -> bool) -> Vec<StatusLine> {
    let mut lines = Vec::new();
    for row in file.rows().filter(|row| !file.is_done(*row)) {
        let Some(key) = file.key(row) else { continue };
        let commands = file.verify_commands(row).into_iter().filter(&can_run);
        for expected in commands.filter_map(|command| command.expects) {
            let text = format!("{} judged by: {expected}", key.id);
            lines.push(StatusLine::labelled("VERIFY", output::printable_line(&text)).wrapped());
        }
    }
    lines
}

fn places(
    judged: &[(usize, VerifyCommand)],
    tell: impl Fn(&VerifyCommand) -> Option<String>,
) -> Vec<(usize, String)> {
    let told = judged
        .iter()
        .filter_map(|(line, command)| Some((*line, tell(command)?)));
    told.collect()
}

fn unfailing(judged: &[(usize, VerifyCommand)]) -> Option<Finding> {
    let places = places(judged, |command| {
        if command.is_left_out() {
            return None;
        }
        let why = match command.expects {
            None => always_passes(&command.command)?,
            // Its output can be wrong, whatever its exit code.
            Some(_) => return None,
        };
        Some(format!("always passes: {}", first_line(why)))
    });
    finding(
        places,
        [
            "can't fail: its task would pass whatever happens",
            "can't fail: their tasks would pass whatever happens",
        ],
        "end it with what decides (grep -q, test, the tests themselves), without || true, ; echo or a print for both cases",
    )
}

/// Finds checks that don't check what they seem to.
fn blind(judged: &[(usize, VerifyCommand)]) -> Option<Finding> {
    let spots = judged
        .iter()
        .filter_map(|(line, command)| Some((*line, blind_spot(command)?)));
    let spots: Vec<(usize, BlindSpot)> = spots.collect();
    let help: BTreeSet<&str> = spots.iter().map(|(_, spot)| spot.help()).collect();
    let help = help.into_iter().collect::<Vec<_>>().join("; ");
    let places = spots
        .iter()
        .map(|(line, spot)| (*line, format!("not checked: {spot}")));
    finding(
        places.collect(),
        [
            "hides a failure: its task would count as unverified",
            "hide a failure: their tasks would count as unverified",
        ],
        &help,
    )
}

/// Returns the blind spot because of which a command counts as partly checked.
fn blind_spot(command: &VerifyCommand) -> Option<BlindSpot> {
    let stated = command.unchecked.as_deref()?;
    BlindSpot::of(&command.command).filter(|spot| spot.to_string() == stated)
}

fn unchecked(judged: &[(usize, VerifyCommand)]) -> Option<Finding> {
    let places = places(judged, |command| {
        if command.is_left_out() {
            let left_out = first_line(&command.command);
            return Some(format!("can't run here: {left_out}"));
        }
        let stated = command.unchecked.as_deref()?;
        // Another finding names it.
        if stated.starts_with("always passes: ") || blind_spot(command).is_some() {
            return None;
        }
        Some(format!("not checked: {}", first_line(stated)))
    });
    finding(
        places,
        [
            "says something that regreen can't check: its task would count as unverified",
            "say something that regreen can't check: their tasks would count as unverified",
        ],
        "make the command decide (… | grep -q 'x'), or say it as in docs/task-files.md: returns 3, no output, shows \"x\", fails",
    )
}

/// Builds a finding with one message for a single command, and another for several.
fn finding(
    places: Vec<(usize, String)>,
    [of_one, of_several]: [&str; 2],
    help: &str,
) -> Option<Finding> {
    let count = places.len();
    let wrong = if count == 1 { of_one } else { of_several };
    (count > 0).then(|| Finding {
        message: format!("{} {wrong}", counted(count, "Verify command")),
        help: Some(help.to_owned()),
        places,
    })
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}
