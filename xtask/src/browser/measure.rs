//! How much the browser and the server have to do for a very large run.

use std::thread;
use std::time::Duration;

use super::driver::Browser;
use super::project::Project;
use super::{Result, fail, large};

const MAX_PAINT_MS: f64 = 300.0;
const MAX_TASK_MS: f64 = 100.0;
const MAX_ASSETS: f64 = 150.0 * 1024.0;
const MAX_SERVER_KB: u64 = 40 * 1024;
/// The machine may be busy with something else, so the best of some loads counts.
const LOADS: usize = 5;

/// Returns the time of the first paint, the longest task, and the bytes of everything but the page itself.
const SCRIPT: &str = "
const done = arguments[arguments.length - 1];
const longest = [0];
new PerformanceObserver((list) => list.getEntries().forEach((one) => longest.push(one.duration)))
  .observe({type: 'longtask', buffered: true});
setTimeout(() => {
  const paint = performance.getEntriesByName('first-contentful-paint')[0];
  const parts = performance.getEntriesByType('resource').filter((one) => one.initiatorType != 'fetch');
  const bytes = parts.map((one) => one.encodedBodySize).reduce((sum, one) => sum + one, 0);
  const page = performance.getEntriesByType('navigation')[0].encodedBodySize;
  done([paint ? paint.startTime : 1e9, Math.max(...longest), bytes, page]);
}, 500);";

/// Looks at a run of 10,000 tasks.
pub(super) fn large(browser: &Browser, project: &Project, origin: &str, server: u32) -> Result<()> {
    let events = project.enlarge()?;
    browser.look(1280, 900, "light")?;
    browser.go(origin)?;
    browser.sees("large")?;
    let run = "return [...document.querySelectorAll('#all ~ ul a')].find((one) => one.innerText.includes('large')).href";
    let run = browser.script(run)?;
    let run = run.as_str().ok_or("the large run has no link")?;
    for (what, address) in [
        ("all runs", origin.to_owned()),
        ("the run", run.to_owned()),
        ("its tasks that failed", format!("{run}?show=failed")),
        ("a search in it", format!("{run}?q=case+77")),
    ] {
        page(browser, what, &address, events)?;
    }
    let [peak, own, code] = ["VmHWM", "RssAnon", "RssFile"].map(|field| memory_kb(server, field));
    let (peak, own, code) = (peak?, own?, code?);
    let told =
        format!("the server has used {peak} KB at most, now {own} KB and {code} KB of its program");
    // The program of a debug build is several times as large as that of a release build.
    if peak.saturating_sub(code) > MAX_SERVER_KB {
        return fail(told);
    }
    println!("ok  {told}");
    Ok(())
}

fn page(browser: &Browser, what: &str, address: &str, events: usize) -> Result<()> {
    let mut best = [f64::MAX; 2];
    let mut sizes = [0.0; 2];
    for _ in 0..LOADS {
        browser.go(address)?;
        let found = browser.script_with_callback(SCRIPT)?;
        let number = |at: usize| found[at].as_f64().ok_or("no measurement");
        best = [best[0].min(number(0)?), best[1].min(number(1)?)];
        sizes = [number(2)?, number(3)?];
        thread::sleep(Duration::from_millis(50));
    }
    let ([paint, task], [assets, page]) = (best, sizes);
    let told = format!(
        "{what}, with {} tasks and {events} events: first paint {paint:.0} ms, longest task {task:.0} ms, \
         {:.1} KB and {:.1} KB of assets",
        large::TASKS,
        page / 1024.0,
        assets / 1024.0
    );
    if paint > MAX_PAINT_MS || task > MAX_TASK_MS || assets > MAX_ASSETS {
        return fail(told);
    }
    println!("ok  {told}");
    Ok(())
}

/// Returns what the system says about the memory of a process.
fn memory_kb(process: u32, field: &str) -> Result<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status"))?;
    let line = status.lines().find(|line| line.starts_with(field));
    let digits = line.and_then(|line| line.split_whitespace().nth(1));
    Ok(digits.ok_or("the system does not say")?.parse()?)
}
