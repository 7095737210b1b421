//! The content of a report, the same in all formats.

use regreen_model::{Dollars, Mark, Span, Spending};
use regreen_overview::{Report, ReportedTask};
use regreen_reporters::{Tone, headline_of, short_count};

/// A report, ready to be written in any format.
#[derive(Debug)]
pub(super) struct Page {
    pub(super) title: String,
    /// How the run ended, and what it used.
    pub(super) facts: Vec<String>,
    pub(super) tone: Tone,
    pub(super) sections: Vec<Section>,
}

/// Rows of one kind.
#[derive(Debug)]
pub(super) struct Section {
    /// A short word, for lines on a terminal.
    pub(super) label: &'static str,
    pub(super) title: &'static str,
    pub(super) tone: Tone,
    pub(super) rows: Vec<Row>,
}

#[derive(Debug, Default)]
pub(super) struct Row {
    pub(super) name: String,
    pub(super) time_ms: Option<u64>,
    pub(super) trailing: String,
    pub(super) notes: Vec<String>,
}

impl Page {
    pub(super) fn of(report: &Report) -> Self {
        let (tone, state) = state(report);
        let total = report.done.len() + report.open.len();
        let mut facts = vec![
            state.to_owned(),
            format!(
                "{} of {total} tasks that it worked on are done",
                report.done.len()
            ),
            used(&report.spent),
        ];
        if report.waited_ms > 0 {
            facts.push(format!("waited {}", Span::from_millis(report.waited_ms)));
        }
        facts.push(report.agent.clone());
        let mut sections = sections(report);
        sections.retain(|section| !section.rows.is_empty());
        Self {
            title: format!("{} · {}", report.spec, report.run),
            facts,
            tone,
            sections,
        }
    }
}

fn state(report: &Report) -> (Tone, &'static str) {
    if report.is_active {
        return (Tone::Action, "running");
    }
    match report.outcome {
        Some("all_green") if report.marked(Mark::Unverified).next().is_some() => {
            (Tone::Warning, "done, with unverified tasks")
        }
        Some("all_green") if report.marked(Mark::KnownFailures).next().is_some() => {
            (Tone::Warning, "done, with known failures")
        }
        Some("all_green") => (Tone::Good, "all tasks done"),
        Some("only_done") => (Tone::Good, "the requested task is done"),
        Some("skipped") => (Tone::Warning, "open tasks were skipped"),
        Some("limit") => (Tone::Bad, "limit reached"),
        Some("regressed") => (Tone::Bad, "finished tasks no longer pass"),
        Some("needs_person") => (Tone::Question, "needs your decision"),
        Some("try_later") => (Tone::Warning, "try again later"),
        Some("set_up") => (Tone::Bad, "setup must be fixed"),
        Some(_) => (Tone::Warning, "stopped"),
        None => (Tone::Bad, "killed; `regreen run` resumes it"),
    }
}

fn sections(report: &Report) -> Vec<Section> {
    let questions = report.questions.iter().map(|question| Row {
        name: format!("{} {}", question.id, question.title),
        notes: vec![question.why.clone()],
        ..Row::default()
    });
    let review = report.review_first.iter().map(|reason| Row {
        name: format!("{} {}", reason.id, reason.title),
        notes: vec![reason.why.join(" · ")],
        ..Row::default()
    });
    let open = report.open.iter().map(|task| Row {
        notes: task.failure.iter().map(|why| headline_of(why)).collect(),
        ..row(task)
    });
    let healed = report.healed.iter().map(|healed| {
        let notes = healed.fixes.iter().map(|fix| {
            let commit = fix.commit.as_ref().map(|hash| format!(" ({hash})"));
            let (cause, commit) = (headline_of(&fix.cause), commit.unwrap_or_default());
            format!("{cause} → {} {}{commit}", fix.fix, fix.title)
        });
        Row {
            name: format!("{} {}", healed.id, healed.title),
            notes: notes.collect(),
            ..Row::default()
        }
    });
    let warnings = report.warnings.iter().map(|warning| Row {
        name: warning.clone(),
        ..Row::default()
    });
    let named = |task: &ReportedTask| Row {
        name: format!("{} {}", task.id, task.title),
        ..Row::default()
    };
    let ticked = report.ticked_before.iter().map(|task| Row {
        notes: vec!["ticked before the first run, never checked".to_owned()],
        ..named(task)
    });
    let marked = |mark| report.marked(mark).map(named).collect();
    vec![
        section("ASK", "Needs you", Tone::Question, questions.collect()),
        section("REVIEW", "Review first", Tone::Warning, review.collect()),
        section("OPEN", "Open", Tone::Bad, open.collect()),
        section(
            "RED",
            "No longer passes",
            Tone::Bad,
            report.regressed.iter().map(named).collect(),
        ),
        section(
            "PASS",
            "Done",
            Tone::Good,
            report.done.iter().map(row).collect(),
        ),
        section("HEALED", "Healed", Tone::Action, healed.collect()),
        section(
            "UNVERIF",
            "Unverified",
            Tone::Warning,
            marked(Mark::Unverified),
        ),
        section("FLAKY", "Flaky", Tone::Warning, marked(Mark::Flaky)),
        section(
            "KNOWN",
            "With known failures",
            Tone::Warning,
            marked(Mark::KnownFailures),
        ),
        section(
            "REVERT",
            "Taken back",
            Tone::Warning,
            report.taken_back.iter().map(named).collect(),
        ),
        section("TICKED", "Never checked", Tone::Warning, ticked.collect()),
        section("WARN", "Warnings", Tone::Warning, warnings.collect()),
    ]
}

fn section(label: &'static str, title: &'static str, tone: Tone, rows: Vec<Row>) -> Section {
    Section {
        label,
        title,
        tone,
        rows,
    }
}

/// Describes a task: its commits, its attempts and their cost.
fn row(task: &ReportedTask) -> Row {
    let mut notes = Vec::new();
    if task.attempts > 1 {
        notes.push(format!("{} attempts", task.attempts));
    }
    if let Some(micro) = task.spent.cost_micro_usd {
        notes.push(Dollars::from_micro(micro).to_string());
    }
    Row {
        name: format!("{} {}", task.id, task.title),
        time_ms: Some(task.spent.time_ms),
        trailing: task.commits.join(" "),
        notes: Some(notes.join(" · "))
            .filter(|notes| !notes.is_empty())
            .into_iter()
            .collect(),
    }
}

fn used(spent: &Spending) -> String {
    let mut parts = vec![Span::from_millis(spent.time_ms).to_string()];
    if let Some(micro) = spent.cost_micro_usd {
        parts.push(Dollars::from_micro(micro).to_string());
    }
    if spent.tokens() > 0 {
        parts.push(format!("{} tokens", short_count(spent.tokens())));
    }
    parts.join(" · ")
}
