//! Statistics as lines.

use regreen_history::{
    AgentFigures, BlockerFigures, ForecastFigures, Place, Rate, RecallFigures, ResponseFigures,
    ShareFigures, Statistics, TaskFigures,
};
use regreen_model::{Dollars, FailureKind, Span, visible_line};
use regreen_reporters::{LineStyle, StatusLine, Tone};

use super::chart::{bar, padded, sparkline};
use crate::commands::lint;
use crate::output::path_from_home;

const LINE_CHARS: usize = 300;
/// How wide names and bars are on a usual terminal.
const NAME: usize = 26;
const BAR: usize = 12;
/// On a narrower terminal, the bars go.
const MIN_COLUMNS_FOR_BARS: usize = 76;
/// How many kinds and responses are shown; `--json` has all.
const SHOWN: usize = 10;

pub(super) fn lines(statistics: &Statistics, style: LineStyle) -> Vec<StatusLine> {
    if statistics.runs == 0 {
        return vec![StatusLine::labelled(
            "TASKS",
            "none yet: runs and delegations are counted when they end",
        )];
    }
    let has_bars = style
        .columns
        .is_none_or(|columns| columns >= MIN_COLUMNS_FOR_BARS);
    let mut lines = vec![tasks(statistics), failures(statistics)];
    lines.extend(section(
        "BY",
        "category",
        shares(&statistics.categories, str::to_owned, has_bars),
    ));
    lines.extend(section(
        "BY",
        "kind",
        shares(&statistics.kinds, kind_words, has_bars),
    ));
    lines.extend(statistics.blockers.iter().map(blocker));
    lines.extend(section(
        "RESPONSE",
        "to failures",
        responses(&statistics.responses),
    ));
    lines.extend(section(
        "RECALL",
        "earlier failures",
        recall(&statistics.recall),
    ));
    lines.extend(section("AGENTS", "", agents(&statistics.agents)));
    lines.extend(section("FORECAST", "", forecast(&statistics.forecast)));
    lines
}

/// A heading with rows below it; nothing without rows.
fn section(label: &'static str, of: &str, rows: Vec<String>) -> Option<StatusLine> {
    let heading = StatusLine::labelled(label, of);
    let filled = !rows.is_empty();
    filled.then(|| rows.into_iter().fold(heading, StatusLine::detail))
}

fn tasks(statistics: &Statistics) -> StatusLine {
    let Statistics {
        tasks,
        runs,
        workspaces,
        ..
    } = statistics;
    StatusLine::labelled(
        "TASKS",
        format!(
            "{} in {} of {}",
            counted(tasks.count, "task"),
            counted(*runs, "run"),
            counted(*workspaces, "workspace")
        ),
    )
    .wrapped_detail(rates(tasks))
    .wrapped_detail(format!(
        "{} · {}",
        counted(tasks.attempts, "attempt"),
        spent(tasks.time_ms, tasks.cost_micro_usd)
    ))
    .wrapped_detail(format!("{} per task", per(tasks)))
}

fn rates(tasks: &TaskFigures) -> String {
    let first = format!("{} passed the first time", percent(tasks.first_pass));
    let healed = match tasks.healed.of {
        0 => String::new(),
        of => format!(" · {} of {of} that failed passed later", tasks.healed.count),
    };
    format!(
        "{first}{healed} · {} passed in the end",
        percent(tasks.passed)
    )
}

fn failures(statistics: &Statistics) -> StatusLine {
    let failures = &statistics.failures;
    if failures.count == 0 {
        return StatusLine::labelled("FAILED", "nothing").toned(Tone::Good);
    }
    let lost = spent(failures.lost_ms, failures.lost_micro_usd);
    StatusLine::labelled(
        "FAILED",
        format!("{} · {lost} lost", counted(failures.count, "attempt")),
    )
    .toned(Tone::Bad)
    .trailing(sparkline(&failures.trend))
}

fn shares(figures: &[ShareFigures], words: impl Fn(&str) -> String, has_bars: bool) -> Vec<String> {
    let most = figures.iter().map(|one| one.count).max().unwrap_or(0);
    let row = |one: &ShareFigures| {
        let plot = if has_bars {
            bar(one.count, most, BAR) + " "
        } else {
            String::new()
        };
        let name = if one.name.is_empty() {
            "unknown".to_owned()
        } else {
            words(&one.name)
        };
        format!(
            "{} {plot}{:>6} {:>3} %  {}",
            padded(&name, NAME),
            one.count,
            one.percent,
            sparkline(&one.trend)
        )
    };
    figures.iter().take(SHOWN).map(row).collect()
}

fn kind_words(name: &str) -> String {
    match FailureKind::from_name(name) {
        Some(kind) => kind.words().to_owned(),
        None => name.to_owned(),
    }
}

fn blocker(one: &BlockerFigures) -> StatusLine {
    let places: Vec<String> = one.places.iter().map(place).collect();
    StatusLine::labelled("BLOCKER", visible_line(&one.example, LINE_CHARS))
        .toned(Tone::Warning)
        .wrapped_detail(format!(
            "{} · {} in {}",
            kind_words(&one.kind),
            times(one.count),
            counted(one.workspaces, "workspace")
        ))
        .wrapped_detail(visible_line(&places.join(" · "), LINE_CHARS))
}

fn place(place: &Place) -> String {
    let workspace = path_from_home(place.workspace.as_ref());
    match place.spec.as_str() {
        "" => format!("{workspace} {}", place.task),
        spec => format!("{workspace} {spec} {}", place.task),
    }
}

fn responses(figures: &[ResponseFigures]) -> Vec<String> {
    let row = |one: &ResponseFigures| {
        let helped = match one.helped.of {
            0 => "result unknown".to_owned(),
            of => format!("helped in {} of {of}", one.helped.count),
        };
        format!(
            "{} {:>6}  {helped}",
            padded(&visible_line(&one.response, LINE_CHARS), NAME),
            one.count
        )
    };
    figures.iter().take(SHOWN).map(row).collect()
}

/// How many failures were known from before, and whether knowing helped.
fn recall(figures: &RecallFigures) -> Vec<String> {
    if figures.known.of == 0 {
        return Vec::new();
    }
    let rate = |rate: Rate| format!("{} of {}", rate.count, rate.of);
    let known = format!("known from before               {}", rate(figures.known));
    let healed = format!(
        "prompts helped                  {} with advice · {} without",
        rate(figures.with_advice),
        rate(figures.without_advice)
    );
    vec![known, healed]
}

fn agents(figures: &[AgentFigures]) -> Vec<String> {
    let row = |one: &AgentFigures| {
        format!(
            "{} {:>6} · {} first time · {} in the end · {} failed · {} per task",
            padded(&visible_line(&one.agent, LINE_CHARS), 16),
            counted(one.tasks.count, "task"),
            percent(one.tasks.first_pass),
            percent(one.tasks.passed),
            counted(one.failures, "attempt"),
            per(&one.tasks)
        )
    };
    figures.iter().map(row).collect()
}

/// How good predictions were, each made before its task was attempted.
fn forecast(figures: &ForecastFigures) -> Vec<String> {
    let risk = figures.risk.map(|risk| {
        format!(
            "{} {:>6} · predicted {:.0} % · {:.0} % failed · Brier score {:.3} (base rate {:.3})",
            padded("fails at first", NAME),
            risk.outcomes,
            risk.predicted * 100.0,
            risk.failed * 100.0,
            risk.brier,
            risk.base_brier
        )
    });
    let limit = figures.time_limit.map(|limit| {
        format!(
            "{} {:>6} · {} of attempts ended within it",
            padded("90 % time limit", NAME),
            limit.kept.of,
            percent(limit.kept)
        )
    });
    risk.into_iter().chain(limit).collect()
}

fn per(tasks: &TaskFigures) -> String {
    let count = tasks.count.max(1);
    spent(
        tasks.time_ms / count,
        tasks.cost_micro_usd.map(|cost| cost / count),
    )
}

fn spent(time_ms: u64, cost: Option<u64>) -> String {
    let time = Span::from_millis(time_ms).to_string();
    match cost {
        Some(cost) => format!("{time} and {}", Dollars::from_micro(cost)),
        None => time,
    }
}

fn percent(rate: Rate) -> String {
    format!("{} %", rate.percent())
}

fn times(count: u64) -> String {
    counted(count, "time")
}

fn counted(count: u64, noun: &str) -> String {
    lint::counted(usize::try_from(count).unwrap_or(usize::MAX), noun)
}
