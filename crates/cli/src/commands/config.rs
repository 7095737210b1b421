//! `regreen config`: lists every setting and where its value comes from. Runs nothing.

use std::fmt::Write as _;
use std::path::Path;

use clap::{Args, ValueEnum};
use regreen_agents::AgentChoice;
use regreen_redaction::Masks;
use regreen_runtime::SpecPaths;
use regreen_workspace::{Programs, RealDisk, Spec, SpecError, find_spec, workspace_root};
use serde_json::{Map, Value, json};

use crate::agent_lookup::find_agent;
use crate::config::{
    Configuration, Key, Origin, Owner, PromptTexts, Row, SettingFlags, Settings, StoredLimits,
    name_of, recovery_schema, schema, usual_user_file,
};
use crate::exit::Exit;
use crate::output;
use crate::problem::Problem;
use crate::remembered_agent::RememberedAgent;
use crate::spec_context::{current_dir, path_variable};
use crate::state_file::limits_beside;

#[derive(Debug, Args)]
pub struct Config {
    /// Spec name or folder, or a task file; includes the limits stored with it
    #[arg(value_name = "SPEC|FILE")]
    pub spec: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Print the JSON schema of a configuration file
    #[arg(
        long,
        value_enum,
        value_name = "FILE",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "workspace",
        exclusive = true
    )]
    pub schema: Option<SchemaOf>,
    #[command(flatten)]
    pub settings: SettingFlags,
}

/// Of which file a schema is wanted.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum SchemaOf {
    /// regreen.toml
    Workspace,
    /// Your user configuration, config.toml
    User,
    /// Recovery templates, recovery.toml
    Recovery,
}

pub fn run(arguments: &Config) -> Result<Exit, Problem> {
    let text = match arguments.schema {
        Some(SchemaOf::Workspace) => format!("{:#}\n", schema(Owner::Workspace)),
        Some(SchemaOf::User) => format!("{:#}\n", schema(Owner::User)),
        Some(SchemaOf::Recovery) => format!("{:#}\n", recovery_schema()),
        None => settings(arguments)?,
    };
    output::print(&text)?;
    Ok(Exit::Success)
}

fn settings(arguments: &Config) -> Result<String, Problem> {
    let here = current_dir()?;
    let root = workspace_root(&RealDisk, &here);
    let configuration = Configuration::load(usual_user_file(), &root, &here)?;
    let spec = find_spec(&RealDisk, &root, &here, arguments.spec.as_deref());
    let spec = spec_if_any(spec)?;
    let stored = match &spec {
        Some(spec) => limits_beside(&spec.tasks)?,
        None => StoredLimits::default(),
    };
    let flags = &arguments.settings;
    let remembered = spec.as_ref().map(|spec| {
        let paths = SpecPaths::new(&root, spec.clone());
        RememberedAgent::recall(&paths, &flags.agent).layer()
    });
    let settings = configuration.resolve_with(flags, remembered.unwrap_or_default(), &stored);
    let texts = PromptTexts::load(&settings.prompts, &root, &here)?;
    for file in texts.ignored {
        let file = output::path_from(&here, &file);
        output::note(&format!("{file} is ignored: no prompt has this name"));
    }
    let programs = Programs::new(&path_variable(), &root);
    let listing = Listing {
        agent: find_agent(&settings, &programs).name(),
        settings: &settings,
        configuration: &configuration,
        spec: spec.as_ref().map(|spec| spec.name.as_str()),
        here: &here,
        masks: Masks::built_in(),
    };
    Ok(if arguments.json {
        listing.to_json()
    } else {
        listing.to_table()
    })
}

/// Settings can be shown without a spec, but a spec that the user names must exist.
fn spec_if_any(found: Result<Spec, SpecError>) -> Result<Option<Spec>, Problem> {
    match found {
        Ok(spec) => Ok(Some(spec)),
        Err(SpecError::None { .. }) => Ok(None),
        Err(SpecError::Several { specs }) => {
            output::note(&format!(
                "limits stored with a spec are not shown; name a spec to include them: {}",
                specs.join(", ")
            ));
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}

/// Longer values do not widen the column.
const WIDEST: usize = 32;

/// All settings, as a table or as JSON.
struct Listing<'s> {
    settings: &'s Settings,
    /// The name of the agent that a run would use.
    agent: &'static str,
    configuration: &'s Configuration,
    spec: Option<&'s str>,
    here: &'s Path,
    masks: Masks,
}

impl Listing<'_> {
    fn to_table(&self) -> String {
        let rows = self.settings.rows();
        let lines: Vec<[String; 3]> = rows.iter().map(|row| self.line(row)).collect();
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

    fn line(&self, row: &Row<'_>) -> [String; 3] {
        let value = self.masks.mask(&self.value(row)).replace('\n', "\\n");
        [
            row.key.name().to_owned(),
            output::printable(&value),
            self.origin(row),
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

    fn origin(&self, row: &Row<'_>) -> String {
        match row.origin {
            Origin::Flag => format!("--{}", row.key.name().replace('_', "-")),
            Origin::File { owner, file, line } => {
                format!("{}:{line}", name_of(*owner, file, self.here))
            }
            Origin::Remembered => "the spec's last run".to_owned(),
            Origin::Stored => "the spec's state file".to_owned(),
            Origin::Default => "default".to_owned(),
        }
    }

    fn files(&self) -> String {
        let named = |owner, file: &Path, exists: bool| {
            let remark = if exists { "" } else { " (not found)" };
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
            None => "none (no home folder)".to_owned(),
        };
        let spec = output::printable(self.spec.unwrap_or("none"));
        format!("\nworkspace file: {ours}\nuser file:      {yours}\nspec:           {spec}\n")
    }

    /// Returns the settings as JSON. Scripts rely on the keys.
    fn to_json(&self) -> String {
        let rows = self.settings.rows().into_iter();
        let settings: Map<String, Value> = rows
            .map(|row| (row.key.name().to_owned(), self.json_row(row)))
            .collect();
        let Configuration {
            workspace_file,
            user_file,
            workspace,
            user,
        } = self.configuration;
        let file = |path: &Path, exists: bool| json!({ "path": path, "exists": exists });
        let listing = json!({
            "settings": settings,
            "workspace_file": file(workspace_file, workspace.is_some()),
            "user_file": user_file.as_deref().map(|path| file(path, user.is_some())),
            "spec": self.spec,
        });
        format!("{listing:#}\n")
    }

    fn json_row(&self, row: Row<'_>) -> Value {
        let (file, line) = row.origin.file_and_line().unzip();
        let mut object = json!({
            "value": masked(row.json, &self.masks),
            "origin": row.origin.name(),
            "file": file,
            "line": line,
        });
        if row.key == Key::Agent {
            object["means"] = json!(self.agent);
        }
        object
    }
}

fn masked(value: Value, masks: &Masks) -> Value {
    match value {
        Value::String(text) => masks.mask(&text).into(),
        Value::Array(words) => words.into_iter().map(|word| masked(word, masks)).collect(),
        other => other,
    }
}
