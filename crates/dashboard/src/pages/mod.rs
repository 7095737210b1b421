//! The pages. Each is a function of what the machine says.

mod attempt;
mod home;
mod questions;
mod run;
mod statistics;
mod task;
mod tree;

use regreen_history::Statistics;
use regreen_model::TaskKey;
use regreen_overview::{Machine, RunKey, RunSummary};

pub(crate) use self::attempt::attempt_text;
pub(crate) use self::home::home;
pub(crate) use self::run::run;
pub(crate) use self::statistics::statistics;
pub(crate) use self::task::task;
use crate::form::Fields;
use crate::html::Html;
use crate::{address, words};

/// What every page needs.
pub(crate) struct Site<'a> {
    pub(crate) machine: &'a dyn Machine,
    /// What forms must carry; `None` if this dashboard only shows.
    pub(crate) form_token: Option<&'a str>,
    pub(crate) query: &'a Fields,
    /// What the action did that led to this page.
    pub(crate) result: Option<&'a Result<String, String>>,
    pub(crate) statistics: fn() -> Option<Statistics>,
}

/// A link of the path that leads to a page.
type Crumb = (String, String);

/// Makes a whole page around its content.
fn page(site: &Site<'_>, title: &str, path: &[Crumb], content: impl FnOnce(&mut Html)) -> String {
    frame(title, true, |h| {
        h.el("header", &[("class", "top")], |h| top(h, path));
        h.el("main", &[("id", "main"), ("tabindex", "-1")], |h| {
            h.say("h1", &[], title);
            result(h, site);
            content(h);
        });
        h.say(
            "p",
            &[("id", "lost"), ("role", "status"), ("hidden", "")],
            "The dashboard does not answer. What you see may be old; `regreen serve` starts it again.",
        );
    })
}

fn frame(title: &str, is_live: bool, body: impl FnOnce(&mut Html)) -> String {
    let mut html = Html::default();
    html.el("html", &[("lang", "en")], |h| {
        h.el("head", &[], |h| {
            h.void("meta", &[("charset", "utf-8")]);
            let viewport = "width=device-width, initial-scale=1";
            h.void("meta", &[("name", "viewport"), ("content", viewport)]);
            h.void(
                "meta",
                &[("name", "color-scheme"), ("content", "light dark")],
            );
            h.say("title", &[], &format!("{title} · regreen"));
            let style = "/assets/dashboard.css";
            h.void("link", &[("rel", "stylesheet"), ("href", style)]);
            h.void("link", &[("rel", "icon"), ("href", "data:,")]);
            if is_live {
                let script = [("src", "/assets/dashboard.js"), ("defer", "")];
                h.el("script", &script, |_| {});
            }
        });
        h.el("body", &[], body);
    });
    html.into_page()
}

fn top(h: &mut Html, path: &[Crumb]) {
    let skip = [("href", "#main"), ("class", "skip")];
    h.say("a", &skip, "Skip to the content");
    h.el("nav", &[("aria-label", "Pages")], |h| {
        h.link("/", "Runs");
        for (to, text) in path {
            h.say("span", &[("aria-hidden", "true")], "›");
            h.link(to, text);
        }
        let aside = [("href", "/statistics"), ("class", "aside")];
        h.say("a", &aside, "Statistics");
    });
}

fn result(h: &mut Html, site: &Site<'_>) {
    match site.result {
        Some(Ok(done)) => h.say("p", &[("class", "note good"), ("role", "status")], done),
        Some(Err(why)) => h.say("p", &[("class", "note bad"), ("role", "alert")], why),
        None => {}
    }
}

pub(crate) fn not_found(site: &Site<'_>) -> String {
    page(site, "Not found", &[], |h| {
        let text = "There is no such page. The run may belong to a workspace that is gone.";
        h.say("p", &[], text);
    })
}

/// A page for someone who may not see any other.
pub(crate) fn refusal(why: &str) -> String {
    frame("Refused", false, |h| {
        h.el("main", &[], |h| {
            h.say("h1", &[], "Refused");
            h.say("p", &[], why);
        });
    })
}

fn run_crumb(run: &RunSummary) -> Crumb {
    (address::run(&run.key), run.spec.clone())
}

fn badge(h: &mut Html, (text, class): (&str, &str)) {
    h.say("span", &[("class", class)], text);
}

/// Adds a list of facts, between dots.
fn facts(h: &mut Html, facts: &[String]) {
    let filled = facts.iter().filter(|fact| !fact.is_empty());
    let joined: Vec<&str> = filled.map(String::as_str).collect();
    h.say("p", &[("class", "facts")], &joined.join(" · "));
}

/// Adds a form that acts on a run, unless this dashboard only shows.
fn form(
    h: &mut Html,
    site: &Site<'_>,
    run: &RunKey,
    task: Option<&TaskKey>,
    inside: impl FnOnce(&mut Html),
) {
    let Some(token) = site.form_token else { return };
    let to = address::actions(run);
    h.el("form", &[("method", "post"), ("action", &to)], |h| {
        hidden(h, "token", token);
        if let Some(task) = task {
            hidden(h, "task", task.id.as_str());
            hidden(h, "occurrence", &task.occurrence.to_string());
        }
        inside(h);
    });
}

fn hidden(h: &mut Html, name: &str, value: &str) {
    h.void(
        "input",
        &[("type", "hidden"), ("name", name), ("value", value)],
    );
}

fn button(h: &mut Html, name: &str, value: &str, text: &str) {
    let attributes = [("type", "submit"), ("name", name), ("value", value)];
    h.say("button", &attributes, text);
}

/// Adds a link to a task of a run.
fn task_link(h: &mut Html, run: &RunKey, key: &TaskKey) {
    h.link(&address::task(run, key), &words::name(key));
}
