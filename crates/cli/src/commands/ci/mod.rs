//! `regreen ci`: waits for the checks of a pull request, and has what fails fixed until all is green.

mod view;

use std::collections::BTreeSet;

use clap::Args;
use regreen_forge::{Limits, Patience, Repository};
use regreen_model::TaskId;
use regreen_runtime::{CiEnd, CiEvent, CiHost, CiSetup, PullRequestChoice, Stop, until_green};

use self::view::CiView;
use super::Run;
use crate::config::{
    Configuration, RuleFiles, SettingFlags, StoredLimits, TimeSpan, usual_user_file,
};
use crate::exit::Exit;
use crate::output;
use crate::problem::Problem;
use crate::spec_context::{SpecContext, own_secrets};

const SECOND: u64 = 1000;

#[derive(Debug, Args)]
pub struct Ci {
    /// Spec name or folder, or a task file [default: the current or only spec]
    #[arg(value_name = "SPEC|FILE")]
    pub spec: Option<String>,
    /// Number of the pull request [default: the open one of the current branch]
    #[arg(long, value_name = "N", conflicts_with = "create")]
    pub pr: Option<u64>,
    /// Open a pull request if the branch has none
    #[arg(long)]
    pub create: bool,
    /// Push commits of the current branch; never by force, and never to the default branch
    #[arg(long)]
    pub allow_push: bool,
    /// Maximum number of fixes to push
    #[arg(long, value_name = "N", default_value_t = Limits::default().cycles)]
    pub max_cycles: u32,
    /// Maximum number of times to run a check again if the machine or a service failed
    #[arg(long, value_name = "N", default_value_t = Limits::default().reruns)]
    pub max_reruns: u32,
    /// Don't wait for this check, although it ran on the base branch; may be repeated
    #[arg(long, value_name = "CHECK")]
    pub without: Vec<String>,
    /// Git remote of the branch
    #[arg(long, value_name = "NAME", default_value = "origin", value_parser = remote)]
    pub remote: String,
    /// Repository of the pull request [default: that of the remote]
    #[arg(long, value_name = "[HOST/]OWNER/NAME", value_parser = repository)]
    pub repo: Option<Repository>,
    /// How often to ask GitHub [default: 15s]
    #[arg(long, value_name = "TIME")]
    pub poll: Option<TimeSpan>,
    /// How long nothing must change before a result counts, because checks may appear late
    /// [default: 30s]
    #[arg(long, value_name = "TIME")]
    pub settle: Option<TimeSpan>,
    /// How long to wait for expected checks that never report [default: 10m]
    #[arg(long, value_name = "TIME")]
    pub missing_after: Option<TimeSpan>,
    /// Print one JSON event per line
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub settings: SettingFlags,
}

fn repository(text: &str) -> Result<Repository, &'static str> {
    Repository::parse(text).ok_or("write OWNER/NAME")
}

fn remote(text: &str) -> Result<String, &'static str> {
    let is_name = !text.is_empty() && !text.starts_with('-') && !text.contains("::");
    is_name
        .then(|| text.to_owned())
        .ok_or("this is not the name of a remote")
}

pub fn run(arguments: &Ci) -> Result<Exit, Problem> {
    let context = SpecContext::find(arguments.spec.as_deref())?;
    let root = &context.places.root;
    let rules = RuleFiles::load(usual_user_file().as_deref(), root);
    rules.note_broken(&context.here);
    let configuration = Configuration::load(usual_user_file(), root, &context.here)?;
    let settings = configuration.resolve(&arguments.settings, &StoredLimits::default());
    let stop = Stop::default();
    stop.listen().map_err(Problem::Signals)?;
    let run_config = settings.run_config(&context.places.spec.name, None);
    let time = |given: Option<TimeSpan>, usual: u64| given.map_or(usual, TimeSpan::ms);
    let usual = Patience::default();
    let setup = CiSetup {
        repository: arguments.repo.clone(),
        remote: arguments.remote.clone(),
        pull_request: match arguments.pr {
            Some(number) => PullRequestChoice::Number(number),
            None if arguments.create => PullRequestChoice::Create,
            None => PullRequestChoice::OfBranch,
        },
        may_push: arguments.allow_push || settings.ci_push.value,
        limits: Limits {
            cycles: arguments.max_cycles,
            reruns: arguments.max_reruns,
            ..Limits::default()
        },
        patience: Patience {
            settle_ms: time(arguments.settle, usual.settle_ms),
            missing_ms: time(arguments.missing_after, usual.missing_ms),
            ..usual
        },
        poll_ms: time(arguments.poll, 15 * SECOND),
        max_wait_ms: run_config.max_wait_ms,
        without: arguments.without.iter().cloned().collect::<BTreeSet<_>>(),
        gate: run_config.gate,
        own_rules: std::sync::Arc::new(rules.rules),
        secrets: own_secrets(),
        keeper: std::env::current_exe().map_err(Problem::OwnProgram)?,
        stop,
        paths: context.places,
    };
    let mut host = Host {
        view: CiView::new(arguments.json),
        arguments,
    };
    let end = until_green(setup, &mut host)?;
    host.view.end(&end)?;
    Ok(exit_of(&end))
}

/// Shows events, and starts the runs that make fixes.
struct Host<'a> {
    view: CiView,
    arguments: &'a Ci,
}

impl CiHost for Host<'_> {
    fn event(&mut self, _at: regreen_model::Timestamp, event: &CiEvent) {
        self.view.event(event);
    }

    fn run_task(&mut self, task: &TaskId) -> u8 {
        let run = Run {
            spec: self.arguments.spec.clone(),
            only: Some(task.clone()),
            dry_run: false,
            detach: false,
            detached: false,
            no_input: true,
            json: self.arguments.json,
            junit: None,
            recovery_mode: false,
            no_recovery_mode: false,
            max_fix_tasks: None,
            keep_going: false,
            wait_for_answers: None,
            settings: self.arguments.settings.clone(),
        };
        let ended = super::run::run_for(&run, usual_user_file());
        match ended {
            Ok(exit) => exit.code(),
            Err(problem) => {
                output::complain(&problem);
                problem.exit().code()
            }
        }
    }
}

/// Returns the exit code for an end.
fn exit_of(end: &CiEnd) -> Exit {
    let code = match end {
        CiEnd::Green(_) => return Exit::Success,
        CiEnd::NeedsPerson { .. } => return Exit::NeedsPerson,
        CiEnd::OutOfCycles { .. } => return Exit::Incomplete,
        CiEnd::TryLater { .. } => return Exit::TryLater,
        CiEnd::FixFailed { code, .. } => *code,
        CiEnd::Stopped(signal) => signal.exit_code(),
    };
    let exit = Exit::ALL.into_iter().find(|exit| exit.code() == code);
    exit.unwrap_or(Exit::Incomplete)
}

#[cfg(test)]
mod tests {
    use regreen_model::StopSignal;
    use regreen_runtime::GreenReport;

    use super::*;

    #[test]
    fn every_end_has_the_exit_code_that_scripts_rely_on() {
        let fix = |code| CiEnd::FixFailed {
            task: TaskId::from_position(1),
            code,
        };
        let why = String::new;
        let ends = [
            (CiEnd::Green(GreenReport::default()), 0),
            (CiEnd::OutOfCycles { cycles: 10 }, 1),
            (fix(1), 1),
            (fix(3), 3),
            (fix(78), 78),
            (
                CiEnd::NeedsPerson {
                    reasons: Vec::new(),
                    help: why(),
                },
                3,
            ),
            (CiEnd::TryLater { why: why() }, 75),
            (CiEnd::Stopped(StopSignal::Interrupt), 130),
            (CiEnd::Stopped(StopSignal::Terminate), 143),
        ];
        for (end, code) in ends {
            assert_eq!(exit_of(&end).code(), code, "{end:?}");
        }
    }

    #[test]
    fn a_remote_is_a_name() {
        assert!(remote("origin").is_ok());
        for bad in ["", "--upload-pack=x", "ext::sh -c x"] {
            assert!(remote(bad).is_err(), "{bad}");
        }
    }
}
