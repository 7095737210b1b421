//! What a person does with the dashboard.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::driver::Browser;
use super::project::Project;
use super::{Result, fail, measure};

/// How a page is looked at: its name, width, height and colours.
const LOOKS: [(&str, u32, u32, &str); 3] = [
    ("desktop", 1280, 900, "light"),
    ("desktop-dark", 1280, 900, "dark"),
    ("phone", 390, 844, "light"),
];

/// What is checked on every page.
struct Checks<'a> {
    browser: &'a Browser,
    axe: &'a str,
    folder: &'a Path,
}

pub(super) fn all(browser: &Browser, project: &Project, axe: &str, folder: &Path) -> Result<()> {
    let checks = Checks {
        browser,
        axe,
        folder,
    };
    let (mut served, address) = project.serve()?;
    let result = look(&checks, project, &address)
        .and_then(|()| measure::large(browser, project, &origin(&address), served.id()));
    let _ = served.kill();
    let _ = served.wait();
    result?;
    // Chromium notes the lost connection, which is no error of the page.
    browser.complaints().map(drop)
}

fn look(checks: &Checks<'_>, project: &Project, address: &str) -> Result<()> {
    let browser = checks.browser;
    let mut asked = project.run("billing", "shell")?;
    asked.wait()?;
    let mut run = project.run("login", "command:sh agent.sh")?;
    browser.go(address)?;
    browser.sees("Needs you")?;

    watch(checks, project)?;
    find_blamed_line(checks)?;
    answer(checks)?;
    browser.go(&format!("{}/statistics", origin(address)))?;
    checks.page("statistics")?;

    browser.go(&origin(address))?;
    browser.sees("1.3 Wait for the test")?;
    let since = Instant::now();
    run.kill()?;
    run.wait()?;
    browser.sees("killed")?;
    within(
        since.elapsed(),
        Duration::from_secs(2),
        "a killed run is shown",
    )?;

    project
        .command("login", &["report", "--html", "report.html"])
        .status()?;
    browser.go(&format!(
        "file://{}",
        project.path("login/report.html").display()
    ))?;
    browser.sees("login")?;
    checks.page("report")
}

/// A run goes on while the page is open, and nobody reloads it.
fn watch(checks: &Checks<'_>, project: &Project) -> Result<()> {
    let browser = checks.browser;
    while !project.path("login/working").exists() {
        std::thread::sleep(Duration::from_millis(50));
    }
    let took = browser.sees("1.3 Wait for the test · attempt 1")?;
    println!("ok  a run is watched live; the page was renewed within {took:?}");
    checks.page("home")
}

fn find_blamed_line(checks: &Checks<'_>) -> Result<()> {
    let browser = checks.browser;
    browser.click("#all ~ ul a[href*='/runs/']")?;
    browser.sees("What failed")?;
    checks.page("run")?;
    browser.click("#failures ~ ul a")?;
    let text = "test_form.py:18: AssertionError: expected 'name is required', got ''";
    browser.sees(text)?;
    let marked = browser.script("return document.querySelector('mark').innerText")?;
    if marked
        .as_str()
        .is_none_or(|marked| !marked.contains("AssertionError"))
    {
        return fail(format!("the blamed line is not marked, but {marked}"));
    }
    println!("ok  the blamed line is two clicks away");
    checks.page("task")?;
    browser.click("a[href$='/log']")?;
    browser.sees("working on line 40")?;
    checks.page("log")?;
    browser.click("a[href$='/diff']")?;
    browser.sees("Diff")?;
    checks.page("diff")
}

fn answer(checks: &Checks<'_>) -> Result<()> {
    let browser = checks.browser;
    browser.click(".top a[href='/']")?;
    browser.sees("2.1 Import invoices")?;
    browser.click("#attention ~ ul a")?;
    browser.sees("Leave the task out")?;
    checks.page("question")?;
    browser.click("button[value='skip']")?;
    browser.sees("skipping 2.1 from now on")?;
    println!("ok  a question is answered");
    checks.page("answered")
}

fn origin(address: &str) -> String {
    address.split("/?").next().unwrap_or(address).to_owned()
}

fn within(took: Duration, limit: Duration, what: &str) -> Result<()> {
    if took > limit {
        return fail(format!("{what} only after {took:?}"));
    }
    println!("ok  {what} within {took:?}");
    Ok(())
}

impl Checks<'_> {
    /// Looks at a page in all sizes and colours.
    fn page(&self, name: &str) -> Result<()> {
        for (look, width, height, colours) in LOOKS {
            self.browser.look(width, height, colours)?;
            self.is_accessible(name, look)?;
            let wide = "return document.documentElement.scrollWidth > innerWidth";
            if self.browser.script(wide)? == Value::Bool(true) {
                return fail(format!("{name} is wider than a {look}"));
            }
            let file = self.folder.join(format!("{name}-{look}.png"));
            self.browser.screenshot(&file)?;
        }
        let complaints = self.browser.complaints()?;
        if complaints.is_empty() {
            println!("ok  {name}: accessible in all sizes and colours, no error of the browser");
            Ok(())
        } else {
            fail(format!("{name}: {}", complaints.join("\n")))
        }
    }

    fn is_accessible(&self, name: &str, look: &str) -> Result<()> {
        self.browser.script(self.axe)?;
        let found = self.browser.script_with_callback(
            "const done = arguments[arguments.length - 1];
             axe.run(document).then((found) => done(found.violations.map((one) =>
               one.id + ': ' + one.nodes.map((node) => node.html + ' ' + node.failureSummary).join('; '))));",
        )?;
        match found.as_array() {
            Some(found) if found.is_empty() => Ok(()),
            Some(found) => fail(format!("{name} on {look}: {found:#?}")),
            None => fail(format!("{name}: axe-core says {found}")),
        }
    }
}
