//! Tells the project's own modules from packages, by the task's Files and by the workspace.

use std::path::Path;

use regreen_diagnosis::{missing_module, without_installation};
use regreen_model::{Failure, TaskKey};

use crate::performer::{PerformError, Performer};

/// Where projects keep their own modules.
const FOLDERS: [&str; 4] = ["", "src", "lib", "app"];
const ENDINGS: [&str; 7] = ["py", "js", "mjs", "ts", "jsx", "tsx", "rs"];

/// Removes advice to install one of the project's own modules from a diagnosis.
pub(crate) fn without_own_modules(
    performer: &mut Performer,
    task: &TaskKey,
    found: Option<Box<Failure>>,
) -> Result<Option<Box<Failure>>, PerformError> {
    let Some(failure) = found else {
        return Ok(None);
    };
    let Some(module) = missing_module(&failure).map(str::to_owned) else {
        return Ok(Some(failure));
    };
    let file = performer.plan.read()?;
    let row = file.resolve(task);
    let named = row.and_then(|row| file.task(row)?.fields.files);
    let is_own = names(&named.unwrap_or_default(), &module) || has(&performer.paths.root, &module);
    Ok(Some(if is_own {
        Box::new(without_installation(*failure, &module))
    } else {
        failure
    }))
}

/// Whether a list of files names a module.
fn names(files: &str, module: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/');
    let words = files.split(|c: char| !is_part(c));
    let mut parts = words.flat_map(|word| word.split('/'));
    parts.any(|part| match part.rsplit_once('.') {
        Some((stem, ending)) => stem == module && ENDINGS.contains(&ending),
        None => part == module,
    })
}

/// Whether the workspace has a module.
fn has(root: &Path, module: &str) -> bool {
    FOLDERS.iter().any(|folder| {
        let folder = root.join(folder);
        let mut files = ENDINGS.iter().map(|ending| format!("{module}.{ending}"));
        folder.join(module).is_dir() || files.any(|file| folder.join(file).is_file())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_name_modules_by_their_own_name_and_by_their_folder() {
        assert!(names("`src/inv.py`, tests/test_inv.py", "inv"));
        assert!(names("inv/stock.py", "inv"));
        assert!(!names("src/inventory.py, inv.txt", "inv"));
        assert!(!names("", "inv"));
    }
}
