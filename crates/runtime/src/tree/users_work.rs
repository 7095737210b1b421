//! The user's other work: uncommitted files, other branches, tags, the stash. An attempt that
//! resets, cleans or stashes can take it away. Nothing is lost, because the snapshot before the
//! attempt and its saved references keep it, but the user has to know.

use std::collections::BTreeSet;

use regreen_workspace::{AttemptName, Git, GitError, Oid, References, RelPath, SnapshotSide};

/// The most files that a message names.
const NAMED: usize = 5;

/// The user's work before an attempt.
pub(super) struct UsersWork<'a> {
    pub(super) git: &'a Git,
    pub(super) attempt: &'a AttemptName,
    /// The files that the user had changed before the run.
    pub(super) uncommitted: &'a BTreeSet<RelPath>,
    pub(super) references: Option<&'a References>,
    /// The snapshot from before the attempt.
    pub(super) before: Option<&'a Oid>,
}

impl UsersWork<'_> {
    /// Returns a message for each loss, with the way back.
    pub(super) fn harm(
        &self,
        after: &Oid,
        changed: &BTreeSet<RelPath>,
        head_before: Option<&Oid>,
    ) -> Result<Vec<String>, GitError> {
        let mut messages = self.harm_to_files(after, changed, head_before)?;
        let Some(references) = self.references else {
            return Ok(messages);
        };
        let branch = self.git.head_position()?.branch;
        let lost = self
            .git
            .lost_references(references, branch.as_deref(), self.attempt)?;
        messages.extend(lost.iter().map(|lost| {
            let (what, way_back) = (lost.shown(), lost.way_back());
            format!("{what} {}; to get it back: `{way_back}`", self.when())
        }));
        Ok(messages)
    }

    fn harm_to_files(
        &self,
        after: &Oid,
        changed: &BTreeSet<RelPath>,
        head_before: Option<&Oid>,
    ) -> Result<Vec<String>, GitError> {
        let Some(head) = self.git.head()? else {
            return Ok(Vec::new());
        };
        let has_committed = head_before.is_some_and(|before| *before != head);
        let (touched, untouched): (Vec<&RelPath>, Vec<&RelPath>) = self
            .uncommitted
            .iter()
            .partition(|path| changed.contains(path));
        if touched.is_empty() && (untouched.is_empty() || !has_committed) {
            return Ok(Vec::new());
        }
        let differing = self.git.changed_files(&head, after)?;
        let differing: BTreeSet<RelPath> = differing.into_iter().map(|one| one.path).collect();
        let is_as_committed = |path: &&RelPath| !differing.contains(path);
        let (thrown_away, kept): (Vec<_>, Vec<_>) = touched.into_iter().partition(is_as_committed);
        let overwritten = self.overwritten(&head, after, &kept)?;
        let committed: Vec<_> = untouched
            .into_iter()
            .filter(|path| has_committed && is_as_committed(path))
            .collect();
        let lost = [("thrown away", thrown_away), ("overwritten", overwritten)];
        let lost = lost
            .into_iter()
            .filter(|(_, files)| !files.is_empty())
            .map(|(how, files)| self.lost(how, &files));
        let committed = (!committed.is_empty()).then(|| {
            let files = named(&committed);
            format!(
                "your uncommitted changes were committed {}: {files}",
                self.when()
            )
        });
        Ok(lost.chain(committed).collect())
    }

    /// Returns the files in which nothing is left of what the user had added to them.
    fn overwritten<'p>(
        &self,
        head: &Oid,
        after: &Oid,
        paths: &[&'p RelPath],
    ) -> Result<Vec<&'p RelPath>, GitError> {
        let Some(before) = self.before.filter(|_| !paths.is_empty()) else {
            return Ok(Vec::new());
        };
        let names: BTreeSet<RelPath> = paths.iter().map(|path| (*path).clone()).collect();
        let texts = |snapshot| self.git.texts(snapshot, &names);
        let (committed, before, after) = (texts(head)?, texts(before)?, texts(after)?);
        let is_lost = |path: &&&RelPath| {
            let after = after.get(**path);
            let own = before.get(**path).zip(after);
            own.is_some_and(|(own, after)| {
                let committed = committed.get(**path).map_or("", String::as_str);
                has_lost_additions(committed, own, after)
            })
        };
        Ok(paths.iter().filter(is_lost).copied().collect())
    }

    fn lost(&self, how: &str, paths: &[&RelPath]) -> String {
        let snapshot = self.attempt.reference(SnapshotSide::Before);
        let quoted = paths.iter().map(|path| shell_quoted(path));
        let quoted = quoted.collect::<Vec<_>>().join(" ");
        format!(
            "your uncommitted changes were {how} {}: {}; to get them back: `git --literal-pathspecs restore --source={snapshot} -- {quoted}`",
            self.when(),
            named(paths)
        )
    }

    fn when(&self) -> String {
        let AttemptName { task, attempt, .. } = self.attempt;
        format!("during attempt {attempt} of task {task}")
    }
}

/// Whether none of the lines that one version adds to the committed one is left in another.
fn has_lost_additions(committed: &str, own: &str, after: &str) -> bool {
    let lines = |text: &'_ str| -> BTreeSet<String> {
        let lines = text.lines().map(str::trim);
        lines
            .filter(|line| !line.is_empty())
            .map(str::to_owned)
            .collect()
    };
    let (committed, after) = (lines(committed), lines(after));
    let mut added = lines(own);
    added.retain(|line| !committed.contains(line));
    !added.is_empty() && added.is_disjoint(&after)
}

/// Says that only the index had a version of a file, and how to get that back.
pub(super) fn staged_version_lost(attempt: &AttemptName, path: &RelPath, version: &Oid) -> String {
    let AttemptName { task, attempt, .. } = attempt;
    let copy = RelPath::new([path.as_bytes(), b".staged"].concat());
    let copy = copy.map_or_else(|_| "staged".to_owned(), |copy| shell_quoted(&copy));
    format!(
        "the staged version of {path} was replaced during attempt {attempt} of task {task}; to get it back: `git cat-file -p {} >{copy}`",
        version.as_str()
    )
}

/// Quotes a path for a shell, whatever bytes are in its name.
pub(crate) fn shell_quoted(path: &RelPath) -> String {
    match std::str::from_utf8(path.as_bytes()) {
        Ok(text) if !text.chars().any(char::is_control) => shell_words::quote(text).into_owned(),
        _ => format!("$'{}'", path.as_bytes().escape_ascii()),
    }
}

fn named(paths: &[&RelPath]) -> String {
    let mut named: Vec<String> = paths.iter().take(NAMED).map(ToString::to_string).collect();
    if paths.len() > NAMED {
        named.push(format!("{} more", paths.len() - NAMED));
    }
    named.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_lost_if_none_of_its_lines_is_left() {
        assert!(has_lost_additions(
            "base\n",
            "base\nmine\n",
            "base\nagent\n"
        ));
        assert!(has_lost_additions("", "notes\n", "other\n"));
        assert!(!has_lost_additions(
            "base\n",
            "base\nmine\n",
            "base\n  mine\nagent\n"
        ));
        assert!(!has_lost_additions("base\nold\n", "base\n", "agent\n"));
    }

    #[test]
    fn the_shell_gets_every_path_back_as_it_is() {
        for (name, quoted) in [
            ("a b", "'a b'"),
            ("$(touch x)", "'$(touch x)'"),
            (":(top)x", "':(top)x'"),
            ("tab\there", "$'tab\\there'"),
            ("new\nline's", "$'new\\nline\\'s'"),
            ("\u{1}ü\\", "$'\\x01\\xc3\\xbc\\\\'"),
        ] {
            let path = RelPath::new(name).unwrap();
            assert_eq!(shell_quoted(&path), quoted);
        }
    }
}
