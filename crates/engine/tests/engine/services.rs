//! Services run for as long as tasks need them.

use regreen_engine::{Command, Decision, Input, ServicesOrder, State, decide};
use regreen_model::{
    AttemptReport, PickedTask, PlanChanges, Service, ServiceChange, ServiceReport, Timestamp,
};

use crate::script::{Run, picked, signalled, task};

fn service(command: &str) -> Service {
    Service {
        task: task("1.1"),
        command: command.to_owned(),
        ready: vec![],
        is_own: false,
        is_whole_task: false,
    }
}

fn needing(id: &str, commands: &[&str]) -> PickedTask {
    PickedTask {
        services: commands.iter().map(|command| service(command)).collect(),
        ..picked(id, 0)
    }
}

fn report(command: &str, change: ServiceChange) -> ServiceReport {
    ServiceReport {
        task: task("1.1"),
        command: command.to_owned(),
        log: format!("{command}.log"),
        change,
    }
}

fn started(again: bool) -> ServiceChange {
    ServiceChange::Started { again, took_ms: 5 }
}

/// Tells a run what happened to services.
fn changed(state: &mut State, reports: Vec<ServiceReport>) {
    let input = Input::ServicesChanged { reports };
    let Decision { events, .. } = decide(state, Timestamp::from_millis(1_000), &input);
    for event in &events {
        state.apply(event);
    }
}

/// The last order about services.
fn order(run: &Run) -> Option<&ServicesOrder> {
    run.commands().find_map(|command| match command {
        Command::KeepServices(order) => Some(&**order),
        _ => None,
    })
}

/// The services that are to run from now on, and whether each may be started.
fn kept(run: &Run) -> Option<Vec<(&str, bool)>> {
    let services = order(run)?.services.iter();
    let shown = services.map(|one| (one.service.command.as_str(), one.may_start));
    Some(shown.collect())
}

/// The services that are to run, and whether each is started anew.
fn fresh(run: &Run) -> Vec<(&str, bool)> {
    let services = order(run).into_iter().flat_map(|order| &order.services);
    services
        .map(|one| (one.service.command.as_str(), one.fresh))
        .collect()
}

#[test]
fn a_service_starts_with_the_first_task_that_needs_it_and_ends_with_the_last() {
    let mut run = Run::start(vec![]);
    run.pick(picked("1.1", 0));
    assert_eq!(kept(&run), None, "no task has needed one so far");
    run.attempt_ends(signalled());
    run.finish_task();
    run.pick(needing("1.2", &["serve"]));
    assert_eq!(kept(&run), Some(vec![("serve", true)]));
    changed(&mut run.state, vec![report("serve", started(false))]);
    run.attempt_ends(signalled());
    run.finish_task();
    run.pick(picked("1.3", 2));
    assert_eq!(kept(&run), Some(vec![]), "it has to be ended");
}

#[test]
fn each_service_of_a_task_is_started_again_once() {
    let mut run = Run::start(vec![]);
    run.pick(needing("1.2", &["serve", "queue"]));
    let reports = vec![
        report("serve", started(false)),
        report("queue", started(false)),
        report(
            "serve",
            ServiceChange::Died {
                why: "exit 1".to_owned(),
            },
        ),
        report("serve", started(true)),
    ];
    changed(&mut run.state, reports);
    let running = |run: &Run| -> Vec<(String, bool)> {
        let services = run.state.services.iter();
        services
            .map(|one| (one.command.clone(), one.is_running))
            .collect()
    };
    let both = [("serve".to_owned(), true), ("queue".to_owned(), true)];
    assert_eq!(running(&run), both);
    run.attempt_ends(signalled());
    assert_eq!(kept(&run), Some(vec![("serve", false), ("queue", true)]));
}

#[test]
fn before_a_check_only_the_services_that_the_attempted_task_declares_start_anew() {
    let own = Service {
        is_own: true,
        ..service("serve")
    };
    let mut run = Run::start(vec![]);
    run.pick(PickedTask {
        services: vec![own, service("queue")],
        ..picked("1.1", 0)
    });
    assert_eq!(fresh(&run), [("serve", false), ("queue", false)]);
    run.attempt_ends(signalled());
    assert_eq!(fresh(&run), [("serve", true), ("queue", false)]);
}

#[test]
fn a_service_that_no_person_declared_does_not_run_during_checks() {
    let mut run = Run::start(vec![]);
    run.pick(picked("1.1", 0));
    run.attempt_ends(AttemptReport {
        plan: PlanChanges {
            services: vec!["fake".to_owned()],
            ..PlanChanges::default()
        },
        ..signalled()
    });
    run.finish_task();
    run.pick(needing("1.2", &["serve", "fake"]));
    let withheld = |run: &Run| -> Vec<(String, bool)> {
        let services = order(run).into_iter().flat_map(|order| &order.services);
        services
            .map(|one| (one.service.command.clone(), one.withheld))
            .collect()
    };
    let with = |fake| vec![("serve".to_owned(), false), ("fake".to_owned(), fake)];
    assert_eq!(withheld(&run), with(false));
    run.attempt_ends(signalled());
    assert_eq!(withheld(&run), with(true));
}
