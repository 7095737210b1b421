use std::collections::BTreeMap;

use regreen_model::RepairAction;
use serde::Deserialize;

use crate::template::fill;

/// A repair as a rule writes it: an action whose arguments may hold `{capture}`s.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub(crate) struct RepairTemplate(RepairAction);

/// Longer arguments are no names and no paths.
const MAX_ARGUMENT: usize = 200;

impl RepairTemplate {
    /// The action for one case; `None` if a value from the text is missing or could be
    /// taken for anything but a name or a path.
    pub(crate) fn fill(&self, captures: &BTreeMap<String, String>) -> Option<RepairAction> {
        let one = |text: &String| argument(text, captures);
        let all = |args: &Vec<String>| args.iter().map(one).collect::<Option<Vec<_>>>();
        Some(match &self.0 {
            RepairAction::AptInstall { args } => RepairAction::AptInstall { args: all(args)? },
            RepairAction::Ask { what } => RepairAction::Ask {
                what: fill(what, captures)?,
            },
            RepairAction::CargoAdd { args } => RepairAction::CargoAdd { args: all(args)? },
            RepairAction::CargoInstall { args } => RepairAction::CargoInstall { args: all(args)? },
            RepairAction::ChmodX { path } => RepairAction::ChmodX { path: one(path)? },
            RepairAction::CleanCache { path } => RepairAction::CleanCache { path: one(path)? },
            RepairAction::CopyFile { args } => RepairAction::CopyFile { args: all(args)? },
            RepairAction::CrlfToLf { path } => RepairAction::CrlfToLf { path: one(path)? },
            RepairAction::GoGet { args } => RepairAction::GoGet { args: all(args)? },
            RepairAction::Mkdir { path } => RepairAction::Mkdir { path: one(path)? },
            RepairAction::NpmInstall { args } => RepairAction::NpmInstall { args: all(args)? },
            RepairAction::PipInstall { args } => RepairAction::PipInstall { args: all(args)? },
            RepairAction::RemoveStaleLock { path } => {
                RepairAction::RemoveStaleLock { path: one(path)? }
            }
            RepairAction::Run { args } => RepairAction::Run { args: all(args)? },
            RepairAction::RunFormatter { args } => RepairAction::RunFormatter { args: all(args)? },
            RepairAction::SetEnv { args } => RepairAction::SetEnv { args: all(args)? },
            RepairAction::VenvCreate { path } => RepairAction::VenvCreate { path: one(path)? },
        })
    }
}

/// Our own words may be options (`--write`); what comes from the text may not.
fn argument(template: &str, captures: &BTreeMap<String, String>) -> Option<String> {
    if !template.contains('{') {
        return Some(template.to_owned());
    }
    let value = fill(template, captures)?;
    let is_plain = value
        .chars()
        .all(|c| c.is_alphanumeric() || "@/._-+:=~[],".contains(c));
    let is_argument = !value.is_empty() && value.len() <= MAX_ARGUMENT && !value.starts_with('-');
    (is_plain && is_argument).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(value: &str) -> Option<RepairAction> {
        let template = RepairTemplate(RepairAction::PipInstall {
            args: vec!["{name}".to_owned()],
        });
        template.fill(&BTreeMap::from([("name".to_owned(), value.to_owned())]))
    }

    #[test]
    fn only_names_and_paths_become_arguments() {
        assert!(filled("PyYAML").is_some());
        assert!(filled("@scope/name").is_some());
        for bad in [
            "",
            "-r",
            "--index-url=x",
            "a b",
            "a;b",
            "$(x)",
            "`x`",
            "a\nb",
            "\"a\"",
        ] {
            assert_eq!(filled(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_value_that_was_not_in_the_text_makes_no_repair() {
        let template = RepairTemplate(RepairAction::Mkdir {
            path: "{folder}".to_owned(),
        });
        assert_eq!(template.fill(&BTreeMap::new()), None);
    }
}
