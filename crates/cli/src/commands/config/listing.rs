//! All settings, as a table or as JSON.

use std::fmt::Write as _;
use std::path::Path;

use regreen_agents::AgentChoice;
use regreen_redaction::Masks;
use serde_json::{Map, Value, json};

use super::row::Row;
use crate::config::{Configuration, Key, Origin, Owner, Settings, name_of};
use crate::output;

/// Longer values do not move the columns of all others.
const WIDEST: usize = 32;

pub struct Listing<'s> {
    pub settings: &'s Settings,
    /// Who the agent is that is asked for.
    pub agent: &'s str,
    pub configuration: &'s Configuration,
    pub spec: Option<&'s str>,
    pub here: &'s Path,
}

impl Listing<'_> {
    pub fn to_table(&self) -> String {
        let masks = Masks::built_in();
        let lines: Vec<[String; 3]> = Key::ALL
            .into_iter()
            .map(|key| Row::of(key, self.settings))
            .map(|row| self.line(&row, &masks))
            .collect();
        let width = |column: usize| {
            let cells = lines.iter().map(|line| line[column].chars().count());
            cells.filter(|width| *width <= WIDEST).max().unwrap_or(0)
        };
        let (names, values) = (width(0), width(1));
        let mut text = String::new();
        for [name, value, origin] in &lines {
            let _ = writeln!(text, "{name:<names$}  {value:<values$}  {origin}");
        }
        text.push_str(&self.files());
        text
    }

    fn line(&self, row: &Row<'_>, masks: &Masks) -> [String; 3] {
        let value = masks.mask(&self.value(row)).replace('\n', "\\n");
        [
            row.key.name().to_owned(),
            output::printable(&value),
            self.origin(row.key, row.origin),
        ]
    }

    fn value(&self, row: &Row<'_>) -> String {
        let Settings { agent, prompts, .. } = self.settings;
        match (row.key, prompts.value.path()) {
            (Key::Agent, _) if *agent.value.choice() == AgentChoice::Auto => {
                format!("{} ({})", row.text, self.agent)
            }
            (Key::Prompts, Some(folder)) => output::path_from(self.here, folder),
            _ => row.text.clone(),
        }
    }

    fn origin(&self, key: Key, origin: &Origin) -> String {
        match origin {
            Origin::Flag => format!("--{}", key.name().replace('_', "-")),
            Origin::File { owner, file, line } => {
                format!("{}:{line}", name_of(*owner, file, self.here))
            }
            Origin::Stored => "the spec's state file".to_owned(),
            Origin::Default => "default".to_owned(),
        }
    }

    fn files(&self) -> String {
        let named = |owner, file: &Path, is_there: bool| {
            let remark = if is_there { "" } else { " (not there)" };
            format!("{}{remark}", name_of(owner, file, self.here))
        };
        let Configuration {
            workspace_file,
            user_file,
            workspace,
            user,
        } = self.configuration;
        let ours = named(Owner::Workspace, workspace_file, workspace.is_some());
        let yours = match user_file {
            Some(file) => named(Owner::User, file, user.is_some()),
            None => "nowhere, as there is no home folder".to_owned(),
        };
        let spec = output::printable(self.spec.unwrap_or("none"));
        format!("\nworkspace file: {ours}\nyour own file:  {yours}\nspec:           {spec}\n")
    }

    /// The keys are promised to scripts.
    pub fn to_json(&self) -> String {
        let masks = Masks::built_in();
        let settings: Map<String, Value> = Key::ALL
            .into_iter()
            .map(|key| Row::of(key, self.settings))
            .map(|row| (row.key.name().to_owned(), self.entry(row, &masks)))
            .collect();
        let Configuration {
            workspace_file,
            user_file,
            workspace,
            user,
        } = self.configuration;
        let file = |path: &Path, is_there: bool| json!({ "path": path, "exists": is_there });
        let listing = json!({
            "settings": settings,
            "workspace_file": file(workspace_file, workspace.is_some()),
            "user_file": user_file.as_deref().map(|path| file(path, user.is_some())),
            "spec": self.spec,
        });
        format!("{listing:#}\n")
    }

    fn entry(&self, row: Row<'_>, masks: &Masks) -> Value {
        let (file, line) = row.origin.place().unzip();
        let mut entry = json!({
            "value": masked(row.json, masks),
            "origin": row.origin.name(),
            "file": file,
            "line": line,
        });
        if row.key == Key::Agent {
            entry["means"] = json!(self.agent);
        }
        entry
    }
}

fn masked(value: Value, masks: &Masks) -> Value {
    match value {
        Value::String(text) => masks.mask(&text).into(),
        Value::Array(words) => words.into_iter().map(|word| masked(word, masks)).collect(),
        other => other,
    }
}
