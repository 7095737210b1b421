//! Whether the budgets of a run may last.

use regreen_documents::TaskFile;
use regreen_model::{Dollars, Limits, Span};
use regreen_store::{Attempt, Store};

use super::commands::is_run;
use super::finding::{Preflight, PreflightFinding};
use crate::run::RunSetup;

/// How many runs are counted.
const RUNS: usize = 20;
/// Fewer attempts say nothing about the next.
const FEWEST: usize = 5;
const HELP: &str = "the next run does the rest";

/// Warns if the budgets don't last for one attempt at every task, as attempts with this agent in
/// this workspace went so far.
pub(super) fn look(
    found: &mut Preflight,
    setup: &RunSetup,
    plan: &TaskFile,
    store: Option<&Store>,
) {
    let config = &setup.config;
    let open = plan.rows().filter(|row| !plan.is_done(*row));
    let open = open.filter(|row| is_run(config, plan, *row)).count() as u64;
    let attempts = u64::from(config.limits.global_iterations);
    let is_default = config.limits.global_iterations == Limits::default().global_iterations;
    if !is_default && attempts < open {
        let what = format!("the run ends after {attempts} attempts, and {open} tasks are open");
        found.add(PreflightFinding::warning(what, HELP));
    }
    let budget = &config.budgets.run;
    if budget.time_ms.is_none() && budget.cost_micro_usd.is_none() && budget.tokens.is_none() {
        return;
    }
    let past = store
        .map(|store| past_attempts(store, config.agent.name()))
        .unwrap_or_default();
    let typical = |of: fn(&Attempt) -> Option<u64>| median(past.iter().filter_map(of).collect());
    let too_little = |limit: Option<u64>, of: fn(&Attempt) -> Option<u64>| {
        let (limit, needed) = (limit?, typical(of)?.saturating_mul(open));
        (needed > limit).then_some((limit, needed))
    };
    let span = |ms: u64| Span::from_millis(ms).to_string();
    if let Some((limit, needed)) = too_little(budget.time_ms, duration) {
        found.add(short("time", &span(limit), &span(needed), open));
    }
    if let Some((limit, needed)) = too_little(budget.cost_micro_usd, |past| past.cost_microdollars)
    {
        let dollars = |micro: u64| Dollars::from_micro(micro).to_string();
        found.add(short("cost", &dollars(limit), &dollars(needed), open));
    }
    if let Some((limit, needed)) = too_little(budget.tokens, tokens) {
        found.add(short(
            "token",
            &limit.to_string(),
            &needed.to_string(),
            open,
        ));
    }
}

fn short(limit: &str, allowed: &str, needed: &str, open: u64) -> PreflightFinding {
    let what = format!(
        "the {limit} limit of {allowed} may not last for {open} open tasks: by earlier attempts here, they take about {needed}"
    );
    PreflightFinding::warning(what, HELP)
}

fn duration(past: &Attempt) -> Option<u64> {
    u64::try_from(past.ended_ms?.checked_sub(past.started_ms)?).ok()
}

fn tokens(past: &Attempt) -> Option<u64> {
    Some(past.input_tokens?.saturating_add(past.output_tokens?))
}

fn past_attempts(store: &Store, agent: &str) -> Vec<Attempt> {
    let runs = store.runs(RUNS).unwrap_or_default();
    let attempts = runs
        .iter()
        .filter_map(|run| store.attempts_in_run(&run.id).ok());
    attempts
        .flatten()
        .filter(|past| past.agent == agent)
        .collect()
}

fn median(mut values: Vec<u64>) -> Option<u64> {
    values.sort_unstable();
    let is_enough = values.len() >= FEWEST;
    values.get(values.len() / 2).copied().filter(|_| is_enough)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_attempts_say_nothing() {
        assert_eq!(median(vec![1, 2, 3, 4]), None);
        assert_eq!(median(vec![9, 1, 5, 2, 7]), Some(5));
    }
}
