//! Plots as SVG, coloured by the style sheet, each with its figures in words.

use regreen_history::ShareFigures;
use regreen_model::{Span, Timestamp};
use regreen_overview::{Stretch, Work};

use crate::html::Html;

/// The width of a plot in its own units.
const WIDTH: u64 = 1000;
/// More colours can't be told apart.
const COLOURS: usize = 6;
/// A wait is folded to at most this part of the whole, however long it took.
const FOLDED: u64 = WIDTH / 50;
/// Parts of the timeline that are closer together are drawn as one.
const MIN_WIDTH: u64 = 2;

/// Draws the stretches of a run. Waits are folded: their width says nothing.
pub(crate) fn timeline(h: &mut Html, stretches: &[Stretch], now: Timestamp) {
    let bars = folded(stretches, now);
    let waits = stretches.iter().filter(|one| one.work.is_wait());
    let waited: u64 = waits.clone().map(|one| one.millis(now)).sum();
    let count = waits.count();
    let label = format!(
        "Timeline with {} stretches of work and {count} folded waits",
        stretches.len() - count
    );
    svg(h, &label, 40, |h| {
        for bar in &bars {
            rect(h, bar.class, (bar.x, 4, bar.width, 32), "");
        }
    });
    h.el("p", &[("class", "legend")], |h| {
        let parts = [
            ("work", "attempt"),
            ("bad", "attempt or check that failed"),
            ("check", "check that passed"),
            ("wait", "wait, folded"),
        ];
        for (class, text) in parts {
            let key = format!("key {class}");
            h.say("span", &[("class", &key)], text);
        }
    });
    if count > 0 {
        let text = format!("{count} waits, {} in all.", Span::whole_seconds(waited));
        h.say("p", &[("class", "facts")], &text);
    }
}

/// A bar of the timeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Bar {
    class: &'static str,
    x: u64,
    width: u64,
}

/// Divides the width between the stretches, by their time; waits get little. What would be too
/// narrow to see is part of what comes before it, unless that hides a failure.
fn folded(stretches: &[Stretch], now: Timestamp) -> Vec<Bar> {
    let work = stretches.iter().filter(|one| !one.work.is_wait());
    let worked: u64 = work.map(|one| one.millis(now)).sum();
    let waits = stretches.iter().filter(|one| one.work.is_wait()).count() as u64;
    let folded = FOLDED.min(WIDTH / 2 / waits.max(1));
    let room = WIDTH - folded * waits;
    let mut bars: Vec<Bar> = Vec::new();
    // In thousandths of a unit, so that many short stretches add up.
    let mut at = 0;
    for one in stretches {
        let width = if one.work.is_wait() {
            folded * 1000
        } else {
            let part = u128::from(one.millis(now)) * u128::from(room) * 1000;
            u64::try_from(part / u128::from(worked.max(1))).unwrap_or(0)
        };
        let (from, to) = (at / 1000, (at + width) / 1000);
        at += width;
        let class = class(one);
        match bars.last_mut() {
            Some(last) if last.class == class || to - last.x <= MIN_WIDTH => {
                last.width = (to - last.x).max(1);
                if class == "bad" {
                    last.class = class;
                }
            }
            _ => bars.push(Bar {
                class,
                x: from,
                width: (to - from).max(1),
            }),
        }
    }
    bars
}

fn class(stretch: &Stretch) -> &'static str {
    match (stretch.work, stretch.went_well) {
        (work, _) if work.is_wait() => "wait",
        (_, Some(false)) => "bad",
        (Work::Verify | Work::FinalCheck, _) => "check",
        _ => "work",
    }
}

/// Draws how many failures of each category there were over time, and lists the sums.
pub(crate) fn shares(h: &mut Html, categories: &[ShareFigures]) {
    let shown = categories.get(..COLOURS).unwrap_or(categories);
    let columns = shown.iter().map(|one| one.trend.len()).max().unwrap_or(0);
    let heights = (0..columns).map(|at| {
        let counts = shown.iter().filter_map(|one| one.trend.get(at));
        counts.sum::<u64>()
    });
    let most = heights.max().unwrap_or(0).max(1);
    let width = WIDTH / (columns as u64).max(1);
    svg(
        h,
        "Failures by category, in twelve parts of the last 30 days",
        200,
        |h| {
            for at in 0..columns {
                let mut top = 200;
                for (colour, one) in shown.iter().enumerate() {
                    let count = one.trend.get(at).copied().unwrap_or(0);
                    let height = count * 190 / most;
                    top -= height;
                    if height > 0 {
                        let x = at as u64 * width + 4;
                        let title = format!("{}: {count}", words(&one.name));
                        rect(h, colour_class(colour), (x, top, width - 8, height), &title);
                    }
                }
            }
        },
    );
    h.el("ul", &[("class", "legend")], |h| {
        for (colour, one) in shown.iter().enumerate() {
            let key = format!("key {}", colour_class(colour));
            let text = format!("{}: {} ({} %)", words(&one.name), one.count, one.percent);
            h.say("li", &[("class", &key)], &text);
        }
    });
}

/// Draws one bar per value. The text beside it says it as well.
pub(crate) fn bars(h: &mut Html, label: &str, values: &[(String, u64, String)]) {
    let most = values.iter().map(|(_, value, _)| *value).max().unwrap_or(0);
    if most == 0 {
        return;
    }
    let height = values.len() as u64 * 30;
    svg(h, label, height, |h| {
        for (at, (name, value, text)) in (0..).zip(values) {
            let width = (value * WIDTH / most).max(1);
            let title = format!("{name}: {text}");
            rect(h, "work", (0, at * 30 + 4, width, 22), &title);
        }
    });
}

fn words(name: &str) -> String {
    if name.is_empty() {
        "unknown".to_owned()
    } else {
        name.replace('_', " ")
    }
}

fn colour_class(at: usize) -> &'static str {
    const CLASSES: [&str; COLOURS] = ["c0", "c1", "c2", "c3", "c4", "c5"];
    CLASSES.get(at).copied().unwrap_or("c5")
}

fn svg(h: &mut Html, label: &str, height: u64, inside: impl FnOnce(&mut Html)) {
    let view = format!("0 0 {WIDTH} {height}");
    let attributes = [
        ("viewBox", view.as_str()),
        ("role", "img"),
        ("aria-label", label),
        ("preserveAspectRatio", "none"),
        ("class", "plot"),
    ];
    h.el("svg", &attributes, inside);
}

fn rect(h: &mut Html, class: &str, (x, y, width, height): (u64, u64, u64, u64), title: &str) {
    let [x, y, width, height] = [x, y, width, height].map(|value| value.to_string());
    let attributes = [
        ("class", class),
        ("x", &x),
        ("y", &y),
        ("width", &width),
        ("height", &height),
    ];
    h.el("rect", &attributes, |h| {
        if !title.is_empty() {
            h.say("title", &[], title);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stretch(work: Work, from: u64, until: u64, went_well: Option<bool>) -> Stretch {
        Stretch {
            work,
            task: None,
            from: Timestamp::from_millis(from),
            until: Some(Timestamp::from_millis(until)),
            went_well,
        }
    }

    #[test]
    fn a_night_of_waiting_takes_less_room_than_the_work() {
        let stretches = [
            stretch(Work::Attempt(1), 0, 1000, Some(true)),
            stretch(Work::Wait, 1000, 50_000_000, None),
            stretch(Work::Attempt(2), 50_000_000, 50_003_000, Some(true)),
        ];
        let bars = folded(&stretches, Timestamp::default());
        let widths: Vec<u64> = bars.iter().map(|bar| bar.width).collect();
        assert_eq!(widths, [245, 20, 735]);
    }

    #[test]
    fn a_hundred_thousand_stretches_are_few_bars_and_hide_no_failure() {
        let stretches: Vec<Stretch> = (0..100_000)
            .map(|at| {
                let work = if at % 2 == 0 {
                    Work::Attempt(1)
                } else {
                    Work::Verify
                };
                stretch(work, at, at + 1, Some(at != 70_000))
            })
            .collect();
        let bars = folded(&stretches, Timestamp::default());
        assert!(bars.len() <= 1000, "{}", bars.len());
        assert!(bars.iter().any(|bar| bar.class == "bad"));
    }
}
