//! `regreen stats`: how tasks went and what failed on this machine.

mod chart;
mod page;

use regreen_history::{Alert, Filter, Statistics};
use regreen_reporters::{Status, StatusLine};
use regreen_workspace::{RealDisk, workspace_root};

use crate::arguments::{Since, Stats, StatsPeriod};
use crate::config::{Configuration, SettingFlags, StoredLimits, TimeSpan, usual_user_file};
use crate::exit::Exit;
use crate::learned::{alerts, now_ms, open_history, tell, workspace};
use crate::output;
use crate::problem::Problem;
use crate::spec_context::current_dir;

const DAY_MS: u64 = 24 * 60 * 60 * 1000;
const USUAL_PERIOD: StatsPeriod = StatsPeriod::Since(Since::Ago(TimeSpan::from_ms(30 * DAY_MS)));

pub fn run(arguments: &Stats) -> Result<Exit, Problem> {
    let root = workspace_root(&RealDisk, &current_dir()?);
    let filter = Filter {
        since_ms: 0,
        spec: arguments.spec.clone(),
        agent: arguments.agent.clone(),
        workspace: arguments.here.then(|| workspace(&root).path),
    };
    if arguments.check {
        return check(arguments, filter);
    }
    let filter = Filter {
        since_ms: since_ms(arguments.since.unwrap_or(USUAL_PERIOD)),
        ..filter
    };
    let statistics = match open_history()? {
        Some(history) => history.statistics(&filter, now_ms())?,
        None => Statistics::default(),
    };
    if arguments.json {
        output::print(&output::json(&statistics))?;
    } else {
        output::print_lines(&page::lines(&statistics, output::line_style()))?;
    }
    Ok(Exit::Success)
}

fn since_ms(period: StatsPeriod) -> i64 {
    match period {
        StatsPeriod::All => 0,
        StatsPeriod::Since(since) => {
            let moment = since.moment(regreen_runtime::now());
            i64::try_from(moment.as_millis()).unwrap_or(i64::MAX)
        }
    }
}

fn check(arguments: &Stats, filter: Filter) -> Result<Exit, Problem> {
    let here = current_dir()?;
    let root = workspace_root(&RealDisk, &here);
    let configuration = Configuration::load(usual_user_file(), &root, &here)?;
    let settings = configuration.resolve(&SettingFlags::default(), &StoredLimits::default());
    if settings.thresholds().is_empty() {
        output::note("no thresholds are set; see `alert` in `regreen config`");
    }
    let alerts = alerts(&settings, filter)?;
    if arguments.json {
        output::print(&output::json(&alerts))?;
    } else {
        output::print_lines(&alerts.iter().map(line).collect::<Vec<StatusLine>>())?;
    }
    tell(&root, &settings, &alerts);
    Ok(if alerts.is_empty() {
        Exit::Success
    } else {
        Exit::Incomplete
    })
}

fn line(alert: &Alert) -> StatusLine {
    StatusLine::new(Status::Warn, alert.message.clone())
        .wrapped()
        .detail(format!("{} = {}", alert.setting, alert.threshold))
}
