//! What failures have in common, over all workspaces.

use regreen_history::{BlockerFigures, Statistics, TaskFigures};
use regreen_model::{Dollars, FailureKind, Span};

use super::{Site, facts, page};
use crate::html::Html;
use crate::plot;

/// How many rows a table has.
const ROWS: usize = 12;

pub(crate) fn statistics(site: &Site<'_>) -> String {
    let found = (site.statistics)().filter(|statistics| statistics.runs > 0);
    page(site, "Statistics", &[], |h| match &found {
        Some(statistics) => all(h, statistics),
        None => {
            let text = "Nothing yet: runs and delegations are counted when they end.";
            h.say("p", &[("class", "empty")], text);
        }
    })
}

fn all(h: &mut Html, statistics: &Statistics) {
    tasks(h, &statistics.tasks);
    section(h, "categories", "Failures by category over time", |h| {
        plot::shares(h, &statistics.categories);
    });
    section(h, "blockers", "Most frequent causes", |h| {
        let rows = statistics.blockers.iter().map(blocker);
        table(
            h,
            "Causes",
            &["Cause", "Kind", "Failures", "Workspaces"],
            rows,
        );
    });
    section(h, "responses", "What was done about failures", |h| {
        let rows = statistics.responses.iter().map(|one| {
            let helped = match one.helped.of {
                0 => "not known".to_owned(),
                of => format!("{} of {of}", one.helped.count),
            };
            [one.response.clone(), one.count.to_string(), helped]
        });
        table(h, "Responses", &["Response", "Times", "Helped"], rows);
    });
    section(h, "cost", "Agents and cost", |h| {
        let bars: Vec<(String, u64, String)> = statistics
            .agents
            .iter()
            .map(|one| {
                let cost = one.tasks.cost_micro_usd.unwrap_or(0);
                (
                    one.agent.clone(),
                    cost,
                    spent(one.tasks.time_ms, one.tasks.cost_micro_usd),
                )
            })
            .collect();
        plot::bars(h, "Cost by agent", &bars);
        let rows = statistics.agents.iter().map(|one| {
            let first = format!("{} %", one.tasks.first_pass.percent());
            let spent = spent(one.tasks.time_ms, one.tasks.cost_micro_usd);
            [one.agent.clone(), one.tasks.count.to_string(), first, spent]
        });
        table(
            h,
            "Agents",
            &["Agent", "Tasks", "Passed at once", "Spent"],
            rows,
        );
        let lost = &statistics.failures;
        let lost = spent(lost.lost_ms, lost.lost_micro_usd);
        h.say("p", &[], &format!("Failed attempts took {lost}."));
    });
}

fn tasks(h: &mut Html, tasks: &TaskFigures) {
    facts(
        h,
        &[
            counted(tasks.count, "task"),
            counted(tasks.attempts, "attempt"),
            format!("{} % passed the first time", tasks.first_pass.percent()),
            format!(
                "{} of {} that failed passed later",
                tasks.healed.count, tasks.healed.of
            ),
            spent(tasks.time_ms, tasks.cost_micro_usd),
        ],
    );
}

fn section(h: &mut Html, id: &'static str, title: &'static str, inside: impl FnOnce(&mut Html)) {
    h.el("section", &[("aria-labelledby", id)], |h| {
        h.say("h2", &[("id", id)], title);
        inside(h);
    });
}

fn blocker(one: &BlockerFigures) -> [String; 4] {
    let kind = FailureKind::from_name(&one.kind);
    let kind = kind.map_or(one.kind.as_str(), |kind| kind.words());
    [
        one.example.clone(),
        kind.to_owned(),
        one.count.to_string(),
        one.workspaces.to_string(),
    ]
}

fn table<const N: usize>(
    h: &mut Html,
    label: &str,
    heads: &[&str; N],
    rows: impl Iterator<Item = [String; N]>,
) {
    let wide = [
        ("class", "wide"),
        ("tabindex", "0"),
        ("role", "region"),
        ("aria-label", label),
    ];
    h.el("div", &wide, |h| {
        h.el("table", &[], |h| {
            h.el("thead", &[], |h| {
                h.el("tr", &[], |h| {
                    heads
                        .iter()
                        .for_each(|head| h.say("th", &[("scope", "col")], head));
                });
            });
            h.el("tbody", &[], |h| {
                for row in rows.take(ROWS) {
                    h.el("tr", &[], |h| {
                        row.iter().for_each(|cell| h.say("td", &[], cell));
                    });
                }
            });
        });
    });
}

fn counted(count: u64, noun: &str) -> String {
    let end = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{end}")
}

fn spent(time_ms: u64, cost: Option<u64>) -> String {
    let time = Span::from_millis(time_ms).to_string();
    match cost {
        Some(cost) => format!("{time} and {}", Dollars::from_micro(cost)),
        None => time,
    }
}
