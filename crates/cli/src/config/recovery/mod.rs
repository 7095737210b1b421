//! The recovery templates of the user and a workspace, from `recovery.toml`.

mod read;
mod schema;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use regreen_model::{Failure, RecoveryTemplate, TemplateOwner, TemplateStrategy};
use regreen_workspace::{ReadError, RealDisk, read_text};
use serde_json::{Value, json};

use self::read::read_templates;
pub use self::schema::recovery_schema;
use super::files::name_of;
use super::key::Owner;
use super::prompts::is_below;
use super::read::{ConfigError, ConfigFault, ConfigFile};
use crate::output;
use crate::problem::Problem;

/// The file, beside the user's configuration file and in the workspace.
const FILE: &str = "recovery.toml";
/// What every file of ours has. Another program may use the same name.
const HEADER: &str = "[[template]]";

/// A template and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenTemplate {
    pub template: RecoveryTemplate,
    /// The name of the file, for messages.
    pub file: String,
    /// The line, counted from 1.
    pub line: usize,
}

/// The templates of the user and a workspace, read once. The user's come first, so that they count
/// where both have one.
#[derive(Clone, Debug, Default)]
pub struct RecoveryTemplates(Vec<WrittenTemplate>);

impl RecoveryTemplates {
    /// Reads the file beside the user's configuration file, then the workspace's. Messages show
    /// paths relative to `here`.
    pub fn load(user_file: Option<&Path>, root: &Path, here: &Path) -> Result<Self, Problem> {
        let beside = user_file.and_then(Path::parent);
        let own = beside.map(|folder| folder.join(FILE));
        let own_name = own.as_deref().map_or_else(
            || format!("$XDG_CONFIG_HOME/regreen/{FILE}"),
            output::path_from_home,
        );
        let file = |owner, path: PathBuf| ConfigFile {
            owner,
            path: Arc::from(path),
            user_file: own_name.clone(),
        };
        let mut found = Vec::new();
        if let Some(path) = own {
            found.extend(read(&file(Owner::User, path), None, here)?);
        }
        let offered = file(Owner::Workspace, root.join(FILE));
        found.extend(read(&offered, Some(root), here)?);
        Ok(Self(found))
    }

    /// Returns them as the settings of a run, which keep them.
    pub fn for_run(&self) -> Vec<RecoveryTemplate> {
        self.0.iter().map(|one| one.template.clone()).collect()
    }

    /// Returns the template that a run would follow for a failure.
    pub fn of(&self, failure: &Failure) -> Option<&WrittenTemplate> {
        let templates = self.for_run();
        let name = RecoveryTemplate::for_failure(&templates, failure)?.name();
        self.0.iter().find(|one| one.template.name() == name)
    }

    /// Returns those that a run may follow: of two for the same failures, the first counts.
    pub fn iter(&self) -> impl Iterator<Item = &WrittenTemplate> {
        let is_first = |at: usize, one: &WrittenTemplate| {
            let mut before = self.0.iter().take(at);
            !before.any(|other| other.template.name() == one.template.name())
        };
        let numbered = self.0.iter().enumerate();
        numbered
            .filter(move |(at, one)| is_first(*at, one))
            .map(|(_, one)| one)
    }
}

impl WrittenTemplate {
    /// Returns it as text, headed by the failures that it is for.
    pub fn text(&self) -> String {
        let Self {
            template,
            file,
            line,
        } = self;
        let mut text = format!("template {}: {file}:{line}\n", template.name());
        for strategy in &template.first {
            let charge = strategy.charge_words();
            let what = self.words(*strategy);
            text.push_str(&format!("  {strategy}: {what}; charged to {charge}\n"));
        }
        text
    }

    /// Returns it as JSON.
    pub fn to_json(&self) -> Value {
        let first = self.template.first.iter().map(|strategy| {
            json!({
                "strategy": strategy,
                "charged_to": strategy.charge_words(),
                "does": self.words(*strategy),
            })
        });
        json!({
            "template": self.template.name(),
            "owner": self.template.owner,
            "file": self.file,
            "line": self.line,
            "first": Value::from_iter(first),
            "prompt": self.template.prompt,
        })
    }

    fn words(&self, strategy: TemplateStrategy) -> String {
        let words = strategy.words();
        match (strategy, &self.template.repair) {
            (TemplateStrategy::Wait, _) => {
                let wait = regreen_model::Span::from_millis(self.template.wait_ms);
                format!("waits {wait}, then tries again")
            }
            (TemplateStrategy::Repair, Some(repair)) => format!("{words}: {}", repair.does),
            _ => words.to_owned(),
        }
    }
}

/// Reads a file; nothing if there is none, or if the workspace's belongs to another program.
fn read(
    file: &ConfigFile,
    inside: Option<&Path>,
    here: &Path,
) -> Result<Vec<WrittenTemplate>, Problem> {
    let found = match read_text(&RealDisk, output::inside(here, &file.path)) {
        Ok(found) => found,
        Err(ReadError::NotFound { .. }) => return Ok(Vec::new()),
        Err(error) => return Err(Problem::ReadConfig(error)),
    };
    let text = found.text;
    if inside.is_some() && !text.contains(HEADER) {
        return Ok(Vec::new());
    }
    let name = name_of(file.owner, &file.path, here);
    let read = if inside.is_some_and(|root| !is_below(&found.path, root)) {
        Err(vec![links_out()])
    } else {
        read_templates(&text, file)
    };
    match read {
        Ok(templates) => {
            let written = |(template, at): (RecoveryTemplate, usize)| WrittenTemplate {
                template,
                line: line_at(&text, at),
                file: name.clone(),
            };
            Ok(templates.into_iter().map(written).collect())
        }
        Err(faults) => Err(Problem::Config(ConfigError {
            file: name,
            text,
            faults,
        })),
    }
}

/// Agents would be told what the link points at.
fn links_out() -> ConfigFault {
    ConfigFault {
        message: "it links outside the workspace".to_owned(),
        span: 0..0,
        label: "this file".to_owned(),
        hint: format!("replace the link with a file, or remove {FILE}"),
    }
}

fn line_at(text: &str, at: usize) -> usize {
    let before = text.as_bytes().iter().take(at);
    1 + before.filter(|byte| **byte == b'\n').count()
}

fn owner_of(owner: Owner) -> TemplateOwner {
    match owner {
        Owner::User => TemplateOwner::User,
        Owner::Workspace => TemplateOwner::Workspace,
    }
}
