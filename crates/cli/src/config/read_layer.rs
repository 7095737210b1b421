//! The text of a configuration file, read.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

use super::entry::Entry;
use super::fault::Fault;
use super::key::Key;
use super::layer::Layer;
use super::owner::Owner;
use super::source::Source;

/// A table that repositories may be tempted to have: it would bring programs along.
const AGENTS: &str = "agents";

/// Reads a configuration file.
///
/// # Errors
/// Everything in it that cannot stand there, in the order of the file.
pub fn read_layer(text: &str, source: &Source) -> Result<Layer, Vec<Fault>> {
    let table = match DeTable::parse(text) {
        Ok(table) => table.into_inner(),
        Err(error) => return Err(vec![not_toml(&error)]),
    };
    let mut layer = Layer::default();
    let mut faults = Vec::new();
    for (key, value) in &table {
        if let Err(fault) = read_key(text, source, &mut layer, key, value) {
            faults.push(fault);
        }
    }
    faults.sort_by_key(|fault| fault.span.start);
    if faults.is_empty() {
        Ok(layer)
    } else {
        Err(faults)
    }
}

fn read_key(
    text: &str,
    source: &Source,
    layer: &mut Layer,
    name: &Spanned<DeString<'_>>,
    value: &Spanned<DeValue<'_>>,
) -> Result<(), Fault> {
    let span = name.span();
    let Some(key) = Key::named(name.get_ref()) else {
        return Err(unknown(name.get_ref(), span, source));
    };
    if !key.is_open_to(source.owner) {
        return Err(refused(key.name(), span, &source.users_file));
    }
    let entry = Entry {
        key,
        value,
        line: line_at(text, span.start),
        source,
    };
    fill(layer, &entry)
}

fn fill(layer: &mut Layer, entry: &Entry<'_>) -> Result<(), Fault> {
    match entry.key {
        Key::Agent => layer.agent = Some(entry.agent()?),
        Key::AgentPermissions => layer.agent_permissions = Some(entry.parsed()?),
        Key::AgentModel => layer.agent_model = Some(entry.parsed()?),
        Key::AgentArgs => layer.agent_args = Some(entry.agent_args()?),
        Key::AgentEnv => layer.agent_env = Some(entry.agent_env()?),
        Key::Gate => layer.gate = Some(entry.parsed()?),
        Key::Timeout => layer.timeout = Some(entry.parsed()?),
        Key::VerifyTimeout => layer.verify_timeout = Some(entry.parsed()?),
        Key::IdleTimeout => layer.idle_timeout = Some(entry.parsed()?),
        Key::MaxWait => layer.max_wait = Some(entry.parsed()?),
        Key::MaxTaskIterations => layer.max_task_iterations = Some(entry.count()?),
        Key::MaxGlobalIterations => layer.max_global_iterations = Some(entry.count()?),
        Key::MaxCost => layer.max_cost = Some(entry.number()?),
        Key::MaxTokens => layer.max_tokens = Some(entry.number()?),
        Key::MaxTime => layer.max_time = Some(entry.parsed()?),
        Key::MaxTaskCost => layer.max_task_cost = Some(entry.number()?),
        Key::MaxTaskTokens => layer.max_task_tokens = Some(entry.number()?),
        Key::MaxTaskTime => layer.max_task_time = Some(entry.parsed()?),
        Key::Repairs => layer.repairs = Some(entry.parsed()?),
        Key::IncludeOptional => layer.include_optional = Some(entry.flag()?),
        Key::Commit => layer.commit = Some(entry.parsed()?),
        Key::KeepState => layer.keep_state = Some(entry.flag()?),
        Key::Prompts => layer.prompts = Some(entry.prompts()?),
        Key::OnEnd => layer.on_end = Some(entry.on_end()?),
    }
    Ok(())
}

fn not_toml(error: &toml::de::Error) -> Fault {
    Fault {
        message: "this is no TOML".to_owned(),
        span: error.span().unwrap_or_default(),
        label: error.message().lines().collect::<Vec<&str>>().join(", "),
        way_out: "settings look like this: timeout = \"30m\"".to_owned(),
    }
}

fn unknown(name: &str, span: Range<usize>, source: &Source) -> Fault {
    if source.owner == Owner::Workspace && name == AGENTS {
        return refused(name, span, &source.users_file);
    }
    let known: Vec<&str> = Key::open_to(source.owner).map(Key::name).collect();
    Fault {
        message: format!("there is no setting `{name}`"),
        span,
        label: match Key::nearest(name, source.owner) {
            Some(key) => format!("do you mean `{}`?", key.name()),
            None => "nothing known looks like it".to_owned(),
        },
        way_out: format!("known here are: {}", known.join(", ")),
    }
}

/// What would let a repository start programs of its choice.
fn refused(name: &str, span: Range<usize>, users_file: &str) -> Fault {
    let way_out = if name == AGENTS {
        format!(
            "if you trust it, choose its program in {users_file}: agent = \"command:PROGRAM ARGS\""
        )
    } else {
        format!("if you want it, put it into {users_file}")
    };
    Fault {
        message: format!("a repository may not set `{name}`"),
        span,
        label: match name {
            "repairs" => "it says what is repaired on your machine",
            name if name.starts_with("agent_") => "it says what the agent may do on your machine",
            _ => "it says which program is run on your machine",
        }
        .to_owned(),
        way_out,
    }
}

fn line_at(text: &str, offset: usize) -> usize {
    let before = text.as_bytes().iter().take(offset);
    1 + before.filter(|byte| **byte == b'\n').count()
}

#[cfg(test)]
mod tests;
