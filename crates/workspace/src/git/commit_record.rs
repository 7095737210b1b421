//! Finds a commit that regreen made earlier.

use std::fs;
use std::path::Path;
use std::time::SystemTime;

use crate::StepError;
use crate::files::{IoContext, MAX_FILE, read_text_file};

use super::commit::NewCommit;
use super::commit_request::CommitRequest;
use super::commit_request::clean_message;
use super::invocation::Invocation;
use super::raw_diff::{RawChange, parse_raw};
use super::reference_files::HeadFile;
use super::repository::Git;
use super::repository::Oid;
use super::runner::GitError;

/// How far back to read the reflog of HEAD.
const MOVES: &str = "--max-count=64";

/// The shortest abbreviation that git allows.
const SHORTEST: usize = 4;

/// A commit that was made.
#[derive(Debug)]
pub(super) struct CommitRecord {
    pub(super) oid: Oid,
    pub(super) tree: Oid,
    short: String,
}

impl CommitRecord {
    pub(super) fn concluded(&self, index_updated: Result<(), GitError>) -> NewCommit {
        NewCommit {
            oid: self.oid.clone(),
            short: self.short.clone(),
            index_behind: index_updated.err().map(|error| error.to_string()),
        }
    }

    /// Returns the changes of the commit.
    pub(super) fn changes(&self, git: &Git) -> Result<Vec<RawChange>, GitError> {
        let call = Invocation::reading("diff-tree")
            .args(["--root", "-m", "--first-parent", "-r", "-z", "--raw"])
            .args(["--no-abbrev", "--no-renames", "--no-commit-id"])
            .args(["--ignore-submodules=none", self.oid.as_str()]);
        git.ask_parsed(call, parse_raw)
    }
}

impl CommitRequest {
    /// Returns the line that identifies this commit in the reflog of HEAD.
    pub(super) fn marker(&self) -> String {
        marker_of(&self.key)
    }
}

fn marker_of(key: &str) -> String {
    let plain = |c: char| {
        if c.is_whitespace() || c.is_control() {
            '-'
        } else {
            c
        }
    };
    format!("regreen {}", key.chars().map(plain).collect::<String>())
}

pub(super) fn read_record(git: &Git, name: &str) -> Result<CommitRecord, GitError> {
    let call = Invocation::reading("log")
        .args(["--max-count=1", "--no-patch", "--format=%H %T %h"])
        .args([name, "--"]);
    git.ask_parsed(call, parse_record)
}

/// Reads the commit that HEAD is at now from what `git commit` has printed and stored; `None` if git
/// must be asked, for example because a hook has replaced the commit.
pub(super) fn record_of(git: &Git, printed: &[u8]) -> Option<CommitRecord> {
    let files = git.reference_files()?;
    let oid = match files.head()? {
        HeadFile::Branch(branch) => files.value(&branch)?,
        HeadFile::Detached(oid) => oid,
    };
    let short = abbreviation_in(printed, &oid)?;
    let tree = git.loose_objects().ok()??.tree_of_commit(&oid)?;
    Some(CommitRecord { oid, tree, short })
}

/// Finds the abbreviated name in `[main (root-commit) abc1234] title`. Hooks don't print here: git sends
/// what they print to its standard error.
fn abbreviation_in(printed: &[u8], oid: &Oid) -> Option<String> {
    let line = printed.split(|byte| *byte == b'\n').next()?;
    let line = std::str::from_utf8(line).ok()?.strip_prefix('[')?;
    let mut names = line.split(' ').filter_map(|word| word.strip_suffix(']'));
    let is_short = |name: &&str| name.len() >= SHORTEST && oid.as_str().starts_with(name);
    names.find(is_short).map(str::to_owned)
}

fn parse_record(answer: &[u8]) -> Option<CommitRecord> {
    let mut names = std::str::from_utf8(answer).ok()?.trim_end().split(' ');
    Some(CommitRecord {
        oid: Oid::parse(names.next()?)?,
        tree: Oid::parse(names.next()?)?,
        short: names.next()?.to_owned(),
    })
}

/// Finds the commit for this request, if an earlier call made it and HEAD still contains it.
pub(super) fn find_made(
    git: &Git,
    request: &CommitRequest,
    head: Option<&Oid>,
    scratch: &Path,
) -> Result<Option<CommitRecord>, GitError> {
    let Some(head) = head else { return Ok(None) };
    if request.parent.as_ref() == Some(head) {
        return Ok(None);
    }
    let found = match find_by_marker(git, &format!("{}: ", request.marker()))? {
        Some(oid) => Some(oid),
        None if is_made_by_message(git, request, scratch)? => Some(head.clone()),
        None => None,
    };
    found.map(|oid| read_record(git, oid.as_str())).transpose()
}

/// Finds the last move of HEAD whose reflog message starts with `marker`, if HEAD contains the
/// commit.
fn find_by_marker(git: &Git, marker: &str) -> Result<Option<Oid>, GitError> {
    let call = Invocation::reading("log")
        .args(["--walk-reflogs", MOVES, "--format=%H%x09%gs", "HEAD"])
        .arg("--");
    let answer = git.ask(call)?;
    for line in String::from_utf8_lossy(&answer).lines() {
        if let Some(oid) = parse_move(line, marker)
            && git.is_part_of_head(&oid)?
        {
            return Ok(Some(oid));
        }
    }
    Ok(None)
}

/// Parses `<commit>\t<reflog message>`; returns the commit if the marker matches.
fn parse_move(line: &str, marker: &str) -> Option<Oid> {
    let (name, what) = line.split_once('\t')?;
    what.starts_with(marker).then(|| Oid::parse(name))?
}

/// Recognizes the commit by message and parent, for repositories without a reflog.
fn is_made_by_message(
    git: &Git,
    request: &CommitRequest,
    scratch: &Path,
) -> Result<bool, GitError> {
    let parent = match remembered_parent(scratch, request) {
        Some(parent) => parent,
        None => request.parent.clone(),
    };
    let call = Invocation::reading("log")
        .args(["--max-count=1", "--encoding=UTF-8"])
        .args(["--format=%H %P%x09%B", "HEAD", "--"]);
    let answer = git.ask(call)?;
    let answer = String::from_utf8_lossy(&answer);
    let message = clean_message(&request.message);
    Ok(answer.split_once('\t').is_some_and(|(names, body)| {
        let mut names = names.split(' ').skip(1).filter_map(Oid::parse);
        names.next() == parent && body.trim() == message
    }))
}

/// The file with the marker of the last requested commit and HEAD at that time.
const ASKED: &str = "commit-asked";

/// Records which commit the requested one will follow.
pub(super) fn remember_parent(
    scratch: &Path,
    request: &CommitRequest,
    head: Option<&Oid>,
) -> Result<(), StepError> {
    let (path, new) = (scratch.join(ASKED), scratch.join("commit-asked.new"));
    let head = head.map_or("", Oid::as_str);
    let text = format!("{}\n{head}\n", request.marker());
    fs::write(&new, text).context("write", &new)?;
    fs::rename(&new, &path).context("replace", &path)
}

/// Forgets the requested commit, because it wasn't made.
pub(super) fn forget_parent(scratch: &Path) {
    let _it_would_only_be_compared = fs::remove_file(scratch.join(ASKED));
}

impl Git {
    /// Returns the abbreviated name of the last commit whose key starts with `beginning`, if HEAD
    /// contains it.
    ///
    /// # Errors
    /// Returns an error if git fails.
    pub fn commit_with_key(&self, beginning: &str) -> Result<Option<String>, GitError> {
        if self.head()?.is_none() {
            return Ok(None);
        }
        let Some(oid) = find_by_marker(self, &marker_of(beginning))? else {
            return Ok(None);
        };
        Ok(Some(read_record(self, oid.as_str())?.short))
    }

    /// Returns when an earlier call requested this commit, if one did. If that call was killed, git
    /// may have left locks that are newer than that.
    #[must_use]
    pub fn commit_asked_since(
        &self,
        request: &CommitRequest,
        scratch: &Path,
    ) -> Option<SystemTime> {
        remembered_parent(scratch, request)?;
        fs::metadata(scratch.join(ASKED)).ok()?.modified().ok()
    }
}

/// Returns HEAD at the time when this commit was first requested; `Some(None)` if there was no
/// commit then.
fn remembered_parent(scratch: &Path, request: &CommitRequest) -> Option<Option<Oid>> {
    let text = read_text_file(&scratch.join(ASKED), MAX_FILE).ok()?;
    let (marker, head) = text.split_once('\n')?;
    (marker == request.marker()).then(|| Oid::parse(head.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_abbreviated_name_is_found_in_what_git_prints() {
        let oid = Oid::parse("86ec437aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa").unwrap();
        let found = |printed: &str| abbreviation_in(printed.as_bytes(), &oid);
        for printed in [
            "[main 86ec437] feat: it\n 1 file changed\n",
            "[main (root-commit) 86ec437] first\n",
            "[detached HEAD 86ec437] 86ec] x\n",
            "[odd]name 86ec437] x\n",
        ] {
            assert_eq!(found(printed).as_deref(), Some("86ec437"), "{printed}");
        }
        for printed in [
            "",
            "main 86ec437] x\n",
            "[main 1234567] x\n",
            "\n[main 86ec437] x\n",
        ] {
            assert_eq!(found(printed), None, "{printed}");
        }
    }
}
