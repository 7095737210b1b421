//! The user's and the workspace's own rules, from `rules/*.toml`.

use std::path::{Path, PathBuf};

use regreen_diagnosis::{MAX_RULE_FILE, OwnRules};
use regreen_workspace::{Disk as _, RealDisk, read_text_file};

use super::prompts::is_below;
use crate::output;

/// The folder with rules, beside the user's configuration file and in the workspace.
const FOLDER: &str = "rules";
/// Further files of a folder are not read.
const MAX_FILES: usize = 32;

/// The rules of the user and a workspace, read once.
#[derive(Debug, Default)]
pub struct RuleFiles {
    pub rules: OwnRules,
    /// The files that were read, with the number of rules in each.
    pub files: Vec<(PathBuf, usize)>,
    /// The files that can't be used, and why.
    pub broken: Vec<(PathBuf, String)>,
}

impl RuleFiles {
    /// Reads the rules beside the user's configuration file, then the workspace's.
    pub fn load(user_file: Option<&Path>, root: &Path) -> Self {
        let mut found = Self::default();
        if let Some(folder) = user_file.and_then(Path::parent) {
            found.read_folder("user", &folder.join(FOLDER), None);
        }
        found.read_folder("workspace", &root.join(FOLDER), Some(root));
        found
    }

    /// Prints a note for each file that can't be used.
    pub fn note_broken(&self, here: &Path) {
        for (file, why) in &self.broken {
            let file = output::path_from(here, file);
            let why = why.lines().next().unwrap_or_default();
            output::note(&format!(
                "{file} is not used: {why}; see `regreen rules test`"
            ));
        }
    }

    fn read_folder(&mut self, owner: &str, folder: &Path, inside: Option<&Path>) {
        let mut names = RealDisk.list(folder).unwrap_or_default();
        names.retain(|name| {
            Path::new(name)
                .extension()
                .is_some_and(|ending| ending == "toml")
        });
        names.sort();
        for name in names.into_iter().take(MAX_FILES) {
            let file = folder.join(name);
            match read(owner, &file, inside) {
                Ok(None) => {}
                Ok(Some(rules)) => {
                    self.files.push((file, rules.iter().count()));
                    self.rules.extend(rules);
                }
                Err(why) => self.broken.push((file, why)),
            }
        }
    }
}

/// Reads the rules in a file; `None` if the file belongs to another program.
fn read(owner: &str, file: &Path, inside: Option<&Path>) -> Result<Option<OwnRules>, String> {
    let real = RealDisk.resolve(file).map_err(|error| error.to_string())?;
    if inside.is_some_and(|root| !is_below(&real, root)) {
        return Err("it links outside the workspace".to_owned());
    }
    let text = read_text_file(file, MAX_RULE_FILE).map_err(|error| error.to_string())?;
    if !text.contains("[[rule]]") {
        return Ok(None);
    }
    let rules = OwnRules::parse(owner, &text).map_err(|error| error.to_string())?;
    Ok(Some(rules))
}
