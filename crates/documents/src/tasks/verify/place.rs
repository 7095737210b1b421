//! The folder in which a command should run: "in `app/`", "from the app folder". regreen runs
//! everything in the root of the workspace, so it doesn't follow such a text, and says so.

use regreen_model::VerifyCommand;

/// Words that introduce a folder.
const LEADING: &[&str] = &["in", "inside", "within", "from", "under"];
/// Words that may come in between.
const ARTICLES: &[&str] = &["the", "your", "its", "each"];
/// Words for a folder, after its name.
const FOLDERS: &[&str] = &["directory", "dir", "folder", "subdirectory", "subfolder"];
/// Names of the folder in which commands run anyway.
const ROOT: &[&str] = &[
    ".",
    "root",
    "repo",
    "repository",
    "project",
    "workspace",
    "working",
    "current",
    "same",
    "top-level",
];

/// Returns the words that name another folder to run commands in, unless the commands themselves
/// name it.
pub(super) fn stated(prose: &str, commands: &[VerifyCommand]) -> Option<String> {
    prose.lines().find_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        (0..words.len()).find_map(|at| {
            let (length, folder) = place_at(words.get(at..)?)?;
            let folder = folder.trim_end_matches('/');
            let is_named = commands.iter().any(|one| one.command.contains(folder));
            let text = words.get(at..at + length)?.join(" ");
            (!is_named).then(|| text.trim_matches(PUNCTUATION).to_owned())
        })
    })
}

const PUNCTUATION: &[char] = &['(', ')', ',', ';', ':', '.'];

/// Returns the number of words that name a folder, and its name.
fn place_at<'t>(words: &[&'t str]) -> Option<(usize, &'t str)> {
    let (first, rest) = words.split_first()?;
    let first = first.trim_start_matches('(').to_lowercase();
    if !LEADING.contains(&first.as_str()) {
        return None;
    }
    let has_article = rest
        .first()
        .is_some_and(|word| ARTICLES.contains(&word.to_lowercase().as_str()));
    let rest = rest.get(usize::from(has_article)..)?;
    let word = rest.first()?.trim_end_matches([')', ',', ';', ':', '.']);
    let name = word.trim_matches('`');
    let next = rest.get(1).map(|next| next.trim_end_matches(PUNCTUATION));
    let is_followed = next.is_some_and(|next| FOLDERS.contains(&next.to_lowercase().as_str()));
    let is_code = word.len() > name.len() + 1;
    let is_folder = is_path(name) && (name.ends_with('/') || (is_code && is_relative(name)));
    let is_root = ROOT.contains(&name.to_lowercase().trim_end_matches('/'));
    let count = 2 + usize::from(has_article) + usize::from(is_followed);
    (!name.is_empty() && !is_root && (is_followed || is_folder)).then_some((count, name))
}

fn is_path(name: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "._-/@".contains(c);
    !name.contains("//") && name.chars().all(is_part)
}

/// Whether this is a folder, not a file: its last part has no extension.
fn is_relative(name: &str) -> bool {
    let last = name.rsplit('/').next().unwrap_or(name);
    !name.starts_with('/') && !last.trim_start_matches('.').contains('.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_the_commands_do_not_name_is_a_place() {
        for (prose, place) in [
            ("X in app/", Some("in app/")),
            ("X (in `app/`)", Some("in `app/`")),
            ("X in `packages/core`", Some("in `packages/core`")),
            (
                "From the `app` directory run X",
                Some("From the `app` directory"),
            ),
            ("X in the app folder", Some("in the app folder")),
            ("Inside the app dir: X", Some("Inside the app dir")),
            ("X in the root folder", None),
            ("X from the project directory", None),
            ("X in `src/a.rs`", None),
            ("X in CI", None),
            ("X in the browser", None),
            ("X from `./`", None),
            ("lines in and/or out", None),
        ] {
            assert_eq!(stated(prose, &[]).as_deref(), place, "{prose}");
        }
        let commands = [VerifyCommand::always("cd app && make")];
        assert_eq!(stated("X in app/", &commands), None);
    }
}
