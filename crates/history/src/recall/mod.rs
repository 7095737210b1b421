//! What earlier failures with the same cause show: what helped, what never did. Pure.

mod similar;

use std::collections::{BTreeMap, BTreeSet};

use regreen_model::{Advice, Experience, FailureRecord};

pub(crate) use self::similar::{is_comparable, nearest};
use crate::digest::kind_and_line;

/// How many pieces of advice a prompt gets.
const MOST_ADVICE: usize = 3;
/// How many notes a piece of advice has.
const MOST_NOTES: usize = 2;
/// In how many runs something must have helped, if it never did in this workspace.
const CASES_ELSEWHERE: usize = 2;
/// How often a repair is tried before it counts as useless.
const TRIES: usize = 2;
/// Responses that tell an agent something even without a note, besides repairs.
const TELLING: [&str; 4] = ["fix task", "more context", "more time", "a split"];
/// Responses that tell it something only with a note.
const TELLING_WITH_NOTE: [&str; 3] = ["another attempt", "a new session", "a person"];
const REPAIR: &str = "repair ";

/// A failure to look up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lookup {
    /// Its kind.
    pub kind: String,
    /// The line that blocked it.
    pub line: String,
    /// The folder of the workspace.
    pub workspace: String,
    /// The task.
    pub task: String,
    /// Whether what was said in other workspaces may be used.
    pub share: bool,
}

impl Lookup {
    /// Looks up a failure of a task.
    #[must_use]
    pub fn of(failure: &FailureRecord, workspace: &str, task: &str, share: bool) -> Self {
        let (kind, line) = kind_and_line(failure);
        Self {
            kind: kind.to_owned(),
            line,
            workspace: workspace.to_owned(),
            task: task.to_owned(),
            share,
        }
    }
}

/// An earlier failure.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Case {
    pub(crate) run: i64,
    pub(crate) workspace: i64,
    /// Whether it happened in this workspace.
    pub(crate) here: bool,
    pub(crate) response: Option<String>,
    pub(crate) helped: Option<bool>,
    pub(crate) note: Option<String>,
    /// What the next prompts said had helped before.
    pub(crate) advice: Vec<String>,
}

/// Sums up the cases of one cause, latest first.
pub(crate) fn experience(cases: &[Case], share: bool) -> Experience {
    let workspaces: BTreeSet<i64> = cases.iter().map(|case| case.workspace).collect();
    Experience {
        similar: false,
        failures: cases.len() as u64,
        workspaces: workspaces.len() as u64,
        advice: advice(cases, share),
        useless: useless(cases),
        nothing_helped: nothing_helped(cases),
    }
}

/// What is known about one response. Sets are of runs, unless they say otherwise.
#[derive(Debug, Default)]
struct Record<'c> {
    tried: BTreeSet<i64>,
    helped: BTreeSet<i64>,
    /// Runs in which a task passed after it was advised.
    advised: BTreeSet<i64>,
    /// Runs in which it was advised and didn't help.
    in_vain: BTreeSet<i64>,
    workspaces: BTreeSet<i64>,
    here: bool,
    notes: Vec<&'c str>,
}

impl<'c> Record<'c> {
    fn took(&mut self, case: &'c Case, helped: bool, share: bool) {
        self.tried.insert(case.run);
        if !helped {
            return;
        }
        self.helped.insert(case.run);
        self.workspaces.insert(case.workspace);
        self.here |= case.here;
        let note = case.note.as_deref().filter(|_| case.here || share);
        let is_new = |note: &&str| !self.notes.contains(note);
        self.notes.extend(note.filter(is_new));
    }

    fn was_advised(&mut self, case: &Case, helped: bool) {
        self.tried.insert(case.run);
        if helped {
            self.advised.insert(case.run);
        } else {
            self.in_vain.insert(case.run);
        }
    }

    /// In how many runs it helped. Where advice was in vain at first, something else helped.
    fn cases(&self) -> usize {
        let by_advice = self.advised.difference(&self.in_vain);
        self.helped
            .iter()
            .chain(by_advice)
            .collect::<BTreeSet<_>>()
            .len()
    }

    /// Whether it is worth saying. Each run in which it was said in vain outweighs one in which it
    /// helped.
    fn counts(&self, response: &str) -> bool {
        let in_vain = self.in_vain.difference(&self.helped).count();
        let needed = if self.here { 1 } else { CASES_ELSEWHERE };
        let tells = TELLING.contains(&response) || response.starts_with(REPAIR);
        let tells = tells || (TELLING_WITH_NOTE.contains(&response) && !self.notes.is_empty());
        tells && !self.helped.is_empty() && self.cases() >= needed + in_vain
    }

    fn advice(&self, response: &str) -> Advice {
        Advice {
            response: response.to_owned(),
            helped: self.cases() as u64,
            tried: self.tried.len() as u64,
            workspaces: self.workspaces.len() as u64,
            here: self.here,
            notes: self
                .notes
                .iter()
                .take(MOST_NOTES)
                .map(|note| (*note).to_owned())
                .collect(),
        }
    }
}

fn advice(cases: &[Case], share: bool) -> Vec<Advice> {
    let mut records: BTreeMap<&str, Record<'_>> = BTreeMap::new();
    for case in cases {
        let Some(helped) = case.helped else { continue };
        if let Some(response) = case.response.as_deref() {
            records
                .entry(response)
                .or_default()
                .took(case, helped, share);
        }
        for response in &case.advice {
            records
                .entry(response)
                .or_default()
                .was_advised(case, helped);
        }
    }
    let worth_it = records
        .into_iter()
        .filter(|(response, record)| record.counts(response));
    let mut advice: Vec<Advice> = worth_it
        .map(|(response, record)| record.advice(response))
        .collect();
    // A rate of few cases says little, so both numbers are raised by one and two.
    let rank = |one: &Advice| (1000 * (one.helped + 1) / (one.tried + 2), one.helped);
    advice.sort_by_key(|one| std::cmp::Reverse((one.here, rank(one))));
    advice.truncate(MOST_ADVICE);
    advice
}

/// Returns the repairs that were tried and never helped. Only packages mean the same in all
/// workspaces.
fn useless(cases: &[Case]) -> Vec<String> {
    let mut results: BTreeMap<&str, Vec<bool>> = BTreeMap::new();
    for case in cases {
        let response = case.response.as_deref().filter(|it| it.starts_with(REPAIR));
        if let (Some(response), Some(helped)) = (response, case.helped)
            && (case.here || names_packages(response))
        {
            results.entry(response).or_default().push(helped);
        }
    }
    let never = |results: &[bool]| results.len() >= TRIES && !results.contains(&true);
    let useless = results.into_iter().filter(|(_, results)| never(results));
    useless.map(|(response, _)| response.to_owned()).collect()
}

/// Only repairs that name packages have arguments here.
fn names_packages(response: &str) -> bool {
    response[REPAIR.len()..].contains(' ')
}

fn nothing_helped(cases: &[Case]) -> bool {
    let known: Vec<bool> = cases.iter().filter_map(|case| case.helped).collect();
    known.len() >= TRIES && !known.contains(&true)
}

#[cfg(test)]
mod tests;
