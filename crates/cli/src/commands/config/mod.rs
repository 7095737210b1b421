//! `regreen config`: every setting and where its value comes from. Runs nothing.

mod listing;
mod row;

use regreen_workspace::{Programs, RealDisk, Spec, SpecError, find_spec, workspace_root};

use self::listing::Listing;
use crate::agent_lookup::look_up;
use crate::arguments::{Config, SchemaOf};
use crate::config::{Configuration, Owner, PromptTexts, StoredLimits, schema, usual_user_file};
use crate::exit::Exit;
use crate::output;
use crate::problem::Problem;
use crate::spec_context::{current_dir, path_variable};
use crate::state_file::limits_beside;

pub fn run(arguments: &Config) -> Result<Exit, Problem> {
    let text = match arguments.schema {
        Some(SchemaOf::Workspace) => format!("{:#}\n", schema(Owner::Workspace)),
        Some(SchemaOf::User) => format!("{:#}\n", schema(Owner::User)),
        None => settings(arguments)?,
    };
    output::print(&text)?;
    Ok(Exit::Success)
}

fn settings(arguments: &Config) -> Result<String, Problem> {
    let here = current_dir()?;
    let root = workspace_root(&RealDisk, &here);
    let configuration = Configuration::load(usual_user_file(), &root, &here)?;
    let spec = spec(find_spec(
        &RealDisk,
        &root,
        &here,
        arguments.spec.as_deref(),
    ))?;
    let stored = match &spec {
        Some(spec) => limits_beside(&spec.tasks)?,
        None => StoredLimits::default(),
    };
    let settings = configuration.resolve(&arguments.settings, &stored);
    let texts = PromptTexts::load(&settings.prompts, &root, &here)?;
    for file in texts.ignored {
        let file = output::path_from(&here, &file);
        output::note(&format!(
            "{file} replaces no prompt: there is none of that name"
        ));
    }
    let programs = Programs::new(&path_variable(), &root);
    let agent = look_up(
        settings.agent.value.choice(),
        settings.agent_options(),
        |program| programs.has(&RealDisk, program),
    );
    let listing = Listing {
        settings: &settings,
        agent: agent.name(),
        configuration: &configuration,
        spec: spec.as_ref().map(|spec| spec.name.as_str()),
        here: &here,
    };
    Ok(if arguments.json {
        listing.to_json()
    } else {
        listing.to_table()
    })
}

/// Settings can be asked for where there is no spec yet; but one that is named has to be
/// there.
fn spec(found: Result<Spec, SpecError>) -> Result<Option<Spec>, Problem> {
    match found {
        Ok(spec) => Ok(Some(spec)),
        Err(SpecError::None { .. }) => Ok(None),
        Err(SpecError::Several { specs }) => {
            output::note(&format!(
                "what may be stored with a spec is left out: name one of {}",
                specs.join(", ")
            ));
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}
