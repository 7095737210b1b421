//! The tasks of a run as a tree, with fixes below what they fix.

use regreen_model::{OutlineKind, OutlineRow};
use regreen_overview::{RunDetails, TaskFilter, TaskState};

use super::{Site, badge, task_link};
use crate::html::Html;
use crate::{address, words};

/// How many rows a page shows: more of them take a browser too long.
const ROWS: usize = 200;
/// Deeper rows are not indented any further.
const MAX_DEPTH: u16 = 8;

pub(super) fn tree(h: &mut Html, site: &Site<'_>, run: &RunDetails) {
    let filter = Filter {
        show: TaskFilter::from_name(site.query.get("show")).unwrap_or_default(),
        words: site.query.get("q").to_lowercase(),
    };
    let rows: Vec<&OutlineRow> = run
        .rows
        .iter()
        .filter(|row| filter.show.keeps(run, row, &filter.words))
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

/// Which tasks are shown.
struct Filter {
    show: TaskFilter,
    words: String,
}

impl Filter {
    fn query(&self, page: usize) -> String {
        let mut query = form_urlencoded::Serializer::new(String::new());
        query.append_pair("show", self.show.name());
        query.append_pair("q", &self.words);
        query.append_pair("page", &page.to_string());
        query.finish()
    }
}

fn search(h: &mut Html, run: &RunDetails, filter: &Filter) {
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
            for show in TaskFilter::ALL {
                let chosen = [("value", show.name()), ("selected", "")];
                let count = if show == filter.show { 2 } else { 1 };
                let chosen = chosen.get(..count).unwrap_or(&chosen);
                h.say("option", chosen, show.words());
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
        badge(h, words::task_state(TaskState::of_row(run, row)));
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

fn turn(h: &mut Html, run: &RunDetails, filter: &Filter, page: usize, pages: usize) {
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
