//! The tasks of a run as a tree, with fixes below what they fix.

use regreen_model::{OutlineKind, OutlineRow};
use regreen_overview::{RunDetails, TaskView};

use super::{Site, badge, task_link};
use crate::html::Html;
use crate::{address, words};

/// How many rows a page shows: more of them take a browser too long.
const ROWS: usize = 200;
/// Deeper rows are not indented any further.
const MAX_DEPTH: u16 = 8;

/// Which tasks are shown.
const FILTERS: [(&str, &str); 6] = [
    ("all", "All"),
    ("open", "Open"),
    ("failed", "Failed"),
    ("healed", "Healed"),
    ("done", "Done"),
    ("marked", "With remarks"),
];

pub(super) fn tree(h: &mut Html, site: &Site<'_>, run: &RunDetails) {
    let filter = Filter {
        show: site.query.get("show"),
        words: site.query.get("q").to_lowercase(),
    };
    let rows: Vec<&OutlineRow> = run
        .rows
        .iter()
        .filter(|row| filter.keeps(run, row))
        .collect();
    let pages = rows.len().div_ceil(ROWS).max(1);
    let page = site.query.number("page").unwrap_or_else(|| {
        // The page with the current task, while nothing is asked for.
        let current = run.summary.current.as_ref();
        let at = rows.iter().position(|row| Some(&row.key) == current);
        at.map_or(1, |at| at / ROWS + 1)
    });
    let page = page.clamp(1, pages);
    h.el("section", &[("aria-labelledby", "tasks")], |h| {
        h.say("h2", &[("id", "tasks")], "Tasks");
        search(h, run, &filter);
        if rows.is_empty() {
            h.say("p", &[("class", "empty")], "No task is like that.");
        }
        h.el("ul", &[("class", "tree")], |h| {
            let shown = rows.iter().skip((page - 1) * ROWS).take(ROWS);
            shown.for_each(|row| self::row(h, run, row));
        });
        if pages > 1 {
            turn(h, run, &filter, page, pages);
        }
    });
}

struct Filter<'a> {
    show: &'a str,
    words: String,
}

impl Filter<'_> {
    fn keeps(&self, run: &RunDetails, row: &OutlineRow) -> bool {
        let task = run.view.task(&row.key);
        let is_shown = match self.show {
            "open" => !row.done,
            "failed" => task.is_some_and(|task| task.failure.is_some()),
            "healed" => task.is_some_and(|task| task.done && !task.fixes.is_empty()),
            "done" => row.done,
            "marked" => task.is_some_and(|task| !task.marks.is_empty()),
            _ => true,
        };
        let name = || words::name(&row.key).to_lowercase();
        is_shown && (self.words.is_empty() || name().contains(&self.words))
    }

    fn query(&self, page: usize) -> String {
        let mut query = form_urlencoded::Serializer::new(String::new());
        query.append_pair("show", self.show);
        query.append_pair("q", &self.words);
        query.append_pair("page", &page.to_string());
        query.finish()
    }
}

fn search(h: &mut Html, run: &RunDetails, filter: &Filter<'_>) {
    let to = format!("{}#tasks", address::run(&run.summary.key));
    let form = [
        ("method", "get"),
        ("action", to.as_str()),
        ("class", "search"),
        ("role", "search"),
    ];
    h.el("form", &form, |h| {
        h.say("label", &[("for", "show")], "Show");
        h.el("select", &[("id", "show"), ("name", "show")], |h| {
            for (value, text) in FILTERS {
                let chosen = [("value", value), ("selected", "")];
                let count = if value == filter.show { 2 } else { 1 };
                h.say("option", chosen.get(..count).unwrap_or(&chosen), text);
            }
        });
        h.say("label", &[("for", "q")], "Search");
        let field = [
            ("id", "q"),
            ("name", "q"),
            ("type", "search"),
            ("value", &filter.words),
        ];
        h.void("input", &field);
        h.say("button", &[("type", "submit")], "Show");
    });
}

fn row(h: &mut Html, run: &RunDetails, row: &OutlineRow) {
    let task = run.view.task(&row.key);
    let depth = format!("row d{}", row.depth.min(MAX_DEPTH));
    h.el("li", &[("class", &depth)], |h| {
        badge(h, state(run, row, task));
        if row.kind == OutlineKind::Fix {
            h.say("span", &[("class", "facts")], "fix");
        }
        task_link(h, &run.summary.key, &row.key);
        if let Some(task) = task {
            let mut facts: Vec<String> = task.marks.iter().map(ToString::to_string).collect();
            if task.attempts > 1 {
                facts.push(format!("{} attempts", task.attempts));
            }
            h.say("span", &[("class", "facts")], &facts.join(" · "));
        }
    });
}

/// Returns the state of a row. The file has the last word about what is done.
fn state(
    run: &RunDetails,
    row: &OutlineRow,
    task: Option<&TaskView>,
) -> (&'static str, &'static str) {
    let is_current = run.summary.is_active() && run.summary.current.as_ref() == Some(&row.key);
    match task {
        _ if is_current && !row.done => ("now", "badge action"),
        Some(task) if task.done == row.done => words::task_state(task),
        _ if row.done => ("done", "badge good"),
        Some(task) if task.question.is_some() => words::task_state(task),
        _ if row.optional => ("optional", "badge plain"),
        _ => ("open", "badge plain"),
    }
}

fn turn(h: &mut Html, run: &RunDetails, filter: &Filter<'_>, page: usize, pages: usize) {
    let to = |page: usize| {
        let of = address::run(&run.summary.key);
        format!("{of}?{}#tasks", filter.query(page))
    };
    h.el(
        "nav",
        &[("class", "turn"), ("aria-label", "Pages of tasks")],
        |h| {
            if page > 1 {
                h.link(&to(page - 1), "Earlier tasks");
            }
            h.say("span", &[], &format!("page {page} of {pages}"));
            if page < pages {
                h.link(&to(page + 1), "Later tasks");
            }
        },
    );
}
