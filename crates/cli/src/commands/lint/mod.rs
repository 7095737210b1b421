//! `regreen lint`: shows how regreen reads a task file, and what to improve.

mod check;
mod finding;
mod judging;
mod risk;

use std::path::Path;

use regreen_documents::TaskFile;
use regreen_model::{Task, TaskKind};
use regreen_reporters::{Status, StatusLine};
use regreen_runtime::SpecPaths;
use regreen_workspace::{
    Programs, RealDisk, Spec, find_spec, propose_gate, read_text, workspace_root,
};

use self::finding::Page;
use crate::agent_lookup::{find_agent, identity};
use crate::arguments::Lint;
use crate::config::{AgentFlags, Configuration, SettingFlags, StoredLimits, usual_user_file};
use crate::exit::Exit;
use crate::outlook::Outlook;
use crate::output;
use crate::problem::Problem;
use crate::remembered_agent::RememberedAgent;
use crate::spec_context::{current_dir, path_variable};

pub fn run(arguments: &Lint) -> Result<Exit, Problem> {
    let here = current_dir()?;
    let root = workspace_root(&RealDisk, &here);
    let spec = find_spec(&RealDisk, &root, &here, arguments.spec.as_deref())?;
    let name = output::path_from(&here, &spec.tasks);
    let text = read_text(&RealDisk, &spec.tasks)?.text;
    let file = TaskFile::read(text.as_str());
    let programs = Programs::new(&path_variable(), &root);
    let findings = check::all(
        &file,
        |command| programs.can_run(&RealDisk, command),
        propose_gate(&RealDisk, &root),
    );
    let page = Page {
        text: &output::printable(&text),
        name: name.clone(),
    };
    output::print_lines(&summary(&name, &file, findings.len()))?;
    output::print_lines(&judging::lines(&file, |command| {
        programs.can_run(&RealDisk, command)
    }))?;
    if let Some(outlook) = outlook(&root, spec, &programs) {
        output::print_lines(&risk::lines(&file, &outlook))?;
    }
    for finding in findings {
        output::print("\n")?;
        output::print_lines(&[finding.line(&page)])?;
    }
    Ok(Exit::Success)
}

/// Returns what the history says about the tasks of the agent that would work on them. Settings that
/// can't be read are not lint's business.
fn outlook(root: &Path, spec: Spec, programs: &Programs) -> Option<Outlook> {
    let paths = SpecPaths::new(root, spec);
    let configuration = Configuration::load(usual_user_file(), root, root).ok()?;
    let remembered = RememberedAgent::recall(&paths, &AgentFlags::default());
    let settings = configuration.resolve_with(
        &SettingFlags::default(),
        remembered.layer(),
        &StoredLimits::default(),
    );
    let agent = identity(&settings, &find_agent(&settings, programs));
    Outlook::read(&settings, agent.name(), &paths)
}

/// Returns the first lines of a lint report.
fn summary(name: &str, file: &TaskFile, findings: usize) -> [StatusLine; 2] {
    let tasks = file.tasks();
    let count = |is: &dyn Fn(&Task) -> bool| tasks.iter().filter(|task| is(task)).count();
    let to_run = count(&|task| task.kind == TaskKind::Task && !task.is_fix());
    let done = count(&|task| task.kind == TaskKind::Task && !task.is_fix() && task.done);
    let mut parts = vec![
        name.to_owned(),
        format!("{} style", file.dialect()),
        format!("{} ({done} done)", counted(to_run, "task")),
    ];
    let others = [
        (count(&|task| task.is_fix()), "fix"),
        (count(&|task| task.kind == TaskKind::Group), "group"),
        (
            count(&|task| task.kind == TaskKind::Optional && !task.is_fix()),
            "optional task",
        ),
        (
            count(&|task| task.kind == TaskKind::Checklist),
            "checklist item",
        ),
    ];
    let others = others.into_iter().filter(|(number, _)| *number > 0);
    parts.extend(others.map(|(number, word)| counted(number, word)));
    let result = match findings {
        0 => StatusLine::new(Status::Pass, "nothing to improve"),
        n => StatusLine::new(Status::Warn, format!("{} to improve", counted(n, "thing"))),
    };
    [
        StatusLine::labelled("PLAN", parts.join(" · ")).wrapped(),
        result,
    ]
}

pub fn counted(number: usize, word: &str) -> String {
    match (number, word) {
        (1, word) => format!("1 {word}"),
        (n, "fix") => format!("{n} fixes"),
        (n, word) => format!("{n} {word}s"),
    }
}
