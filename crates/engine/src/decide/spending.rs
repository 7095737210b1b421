//! Budgets: how much may be spent on a run, and on each original with its fixes.

use regreen_model::{AttemptReport, Budget, Dollars, Span, Spending, TaskId};

use super::turn::Turn;

/// Returns the message about an exhausted budget and the way out; `None` if every budget has
/// something left.
pub(super) fn used_up(turn: &Turn<'_>) -> Option<String> {
    let mut accounts = accounts(turn).into_iter();
    accounts.find_map(|account| account.used_up())
}

pub(super) fn is_used_up(turn: &Turn<'_>) -> bool {
    used_up(turn).is_some()
}

/// Returns how long an attempt at the task may take.
pub(super) fn time_left(turn: &Turn<'_>) -> u64 {
    let left = accounts(turn)
        .into_iter()
        .map(|account| account.time_left());
    left.min().unwrap_or(u64::MAX)
}

/// Returns how long the run may still take.
pub(super) fn run_time_left(turn: &Turn<'_>) -> u64 {
    Account::of_run(turn).time_left()
}

/// Whether a time budget ended the attempt, counting the attempt itself.
pub(super) fn will_have_ended(turn: &Turn<'_>, report: &AttemptReport) -> bool {
    report.ending.timed_out && report.ending.duration_ms >= time_left(turn)
}

/// Returns the time budget that ended the attempt, if one did.
pub(super) fn ended_by_budget(turn: &Turn<'_>, report: &AttemptReport) -> Option<String> {
    let mut accounts = accounts(turn).into_iter();
    let account = accounts.find(|account| report.ending.timed_out && account.time_left() == 0)?;
    account.message(&account.time(), "; that ended the attempt")
}

/// Returns the accounts to which the task is charged.
fn accounts(turn: &Turn<'_>) -> Vec<Account> {
    let run = Account::of_run(turn);
    [run].into_iter().chain(Account::of_task(turn)).collect()
}

/// A budget and how much of it is spent.
struct Account {
    /// The original it belongs to; `None` for the run's budget.
    root: Option<TaskId>,
    budget: Budget,
    spent: Spending,
}

/// One limited item of a budget.
struct Item {
    name: &'static str,
    /// Its name in the flags.
    flag: &'static str,
    limit: Option<u64>,
    spent: u64,
    shown: fn(u64) -> String,
}

impl Account {
    fn of_run(turn: &Turn<'_>) -> Self {
        Self {
            root: None,
            budget: turn.state.config.budgets.run,
            spent: turn.state.spent,
        }
    }

    fn of_task(turn: &Turn<'_>) -> Option<Self> {
        let root = &turn.task()?.picked.root;
        Some(Self {
            root: Some(root.id.clone()),
            budget: turn.state.config.budgets.task,
            spent: turn.state.spent_on(root),
        })
    }

    fn cost(&self) -> Item {
        Item {
            name: "Cost",
            flag: "cost",
            limit: self.budget.cost_micro_usd,
            spent: self.spent.cost_micro_usd.unwrap_or(0),
            shown: |micro| Dollars::from_micro(micro).to_string(),
        }
    }

    fn tokens(&self) -> Item {
        Item {
            name: "Token",
            flag: "tokens",
            limit: self.budget.tokens,
            spent: self.spent.tokens(),
            shown: |tokens| tokens.to_string(),
        }
    }

    fn time(&self) -> Item {
        Item {
            name: "Time",
            flag: "time",
            limit: self.budget.time_ms,
            spent: self.spent.time_ms,
            shown: |millis| Span::from_millis(millis).to_string(),
        }
    }

    fn time_left(&self) -> u64 {
        let time = self.time();
        time.limit
            .map_or(u64::MAX, |limit| limit.saturating_sub(time.spent))
    }

    fn used_up(&self) -> Option<String> {
        let items = [self.cost(), self.tokens(), self.time()];
        let is_used_up = |item: &&Item| item.limit.is_some_and(|limit| item.spent >= limit);
        self.message(items.iter().find(is_used_up)?, "")
    }

    fn message(&self, item: &Item, consequence: &str) -> Option<String> {
        let Item { name, flag, .. } = item;
        let (limit, spent) = ((item.shown)(item.limit?), (item.shown)(item.spent));
        let (whose, way_out) = match &self.root {
            None => (
                String::new(),
                format!("Raise --max-{flag}, or start again: a new run has a budget of its own."),
            ),
            Some(root) => (
                format!(" of task {root} and its fixes"),
                format!(
                    "Raise --max-task-{flag}, or split the task; a new run tries it once more."
                ),
            ),
        };
        Some(format!(
            "ERROR: {name} budget ({limit}){whose} used up: {spent} spent{consequence}. {way_out}"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTHING: Budget = Budget {
        cost_micro_usd: None,
        tokens: None,
        time_ms: None,
    };
    const SPENT: Spending = Spending {
        cost_micro_usd: Some(5_120_000),
        input_tokens: 900,
        output_tokens: 100,
        time_ms: 60_000,
    };

    #[track_caller]
    fn check(budget: Budget, spent: Spending, root: Option<&str>, expected: Option<&str>) {
        let root = root.and_then(TaskId::parse);
        let account = Account {
            root,
            budget,
            spent,
        };
        assert_eq!(account.used_up().as_deref(), expected);
    }

    fn cost(limit: u64) -> Budget {
        Budget {
            cost_micro_usd: Some(limit),
            ..NOTHING
        }
    }

    fn tokens(limit: u64) -> Budget {
        Budget {
            tokens: Some(limit),
            ..NOTHING
        }
    }

    fn time(limit: u64) -> Budget {
        Budget {
            time_ms: Some(limit),
            ..NOTHING
        }
    }

    #[test]
    fn an_unlimited_budget_is_never_used_up() {
        check(NOTHING, SPENT, None, None);
        let unpriced = Spending {
            cost_micro_usd: None,
            ..SPENT
        };
        check(cost(1), unpriced, None, None);
    }

    #[test]
    fn something_left_is_enough() {
        for budget in [cost(5_120_001), tokens(1001), time(60_001)] {
            check(budget, SPENT, None, None);
            check(budget, SPENT, Some("1.3"), None);
        }
    }

    #[test]
    fn a_budget_of_the_run_says_what_was_spent_and_the_way_out() {
        for limit in [5_000_000, 5_120_000] {
            let shown = Dollars::from_micro(limit);
            let expected = format!(
                "ERROR: Cost budget ({shown}) used up: $5.12 spent. Raise --max-cost, or start again: a new run has a budget of its own."
            );
            check(cost(limit), SPENT, None, Some(&expected));
        }
        check(
            tokens(1000),
            SPENT,
            None,
            Some(
                "ERROR: Token budget (1000) used up: 1000 spent. Raise --max-tokens, or start again: a new run has a budget of its own.",
            ),
        );
        check(
            time(59_000),
            SPENT,
            None,
            Some(
                "ERROR: Time budget (59s) used up: 1m 00s spent. Raise --max-time, or start again: a new run has a budget of its own.",
            ),
        );
    }

    #[test]
    fn a_budget_of_a_task_names_it() {
        check(
            tokens(500),
            SPENT,
            Some("1.3"),
            Some(
                "ERROR: Token budget (500) of task 1.3 and its fixes used up: 1000 spent. Raise --max-task-tokens, or split the task; a new run tries it once more.",
            ),
        );
    }

    #[test]
    fn money_is_shown_before_tokens_and_time() {
        let all = Budget {
            cost_micro_usd: Some(1),
            tokens: Some(1),
            time_ms: Some(1),
        };
        let account = Account {
            root: None,
            budget: all,
            spent: SPENT,
        };
        assert!(
            account
                .used_up()
                .is_some_and(|message| message.starts_with("ERROR: Cost"))
        );
        assert_eq!(account.time_left(), 0);
    }
}
