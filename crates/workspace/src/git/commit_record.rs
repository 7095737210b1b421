//! Finds a commit that regreen made earlier.

use super::commit::NewCommit;
use super::commit_request::CommitRequest;
use super::commit_request::clean_message;
use super::invocation::Invocation;
use super::raw_diff::{RawChange, parse_raw};
use super::repository::Git;
use super::repository::Oid;
use super::runner::GitError;

/// How far back the reflog of HEAD is read.
const MOVES: &str = "--max-count=64";

/// A commit that was made, and what it changed.
#[derive(Debug)]
pub(super) struct CommitRecord {
    oid: Oid,
    short: String,
    pub(super) changes: Vec<RawChange>,
}

impl CommitRecord {
    pub(super) fn concluded(&self, index_updated: Result<(), GitError>) -> NewCommit {
        NewCommit {
            oid: self.oid.clone(),
            short: self.short.clone(),
            index_behind: index_updated.err().map(|error| error.to_string()),
        }
    }
}

impl CommitRequest {
    /// Returns the line that identifies this commit in the reflog of HEAD.
    pub(super) fn marker(&self) -> String {
        let plain = |c: char| {
            if c.is_whitespace() || c.is_control() {
                '-'
            } else {
                c
            }
        };
        format!(
            "regreen {}",
            self.key.chars().map(plain).collect::<String>()
        )
    }
}

pub(super) fn read_record(git: &Git, name: &str) -> Result<CommitRecord, GitError> {
    let call = Invocation::reading("rev-parse").args(["--short", name]);
    let short = String::from_utf8_lossy(&git.ask(call)?).trim().to_owned();
    let call = Invocation::reading("diff-tree")
        .args(["--root", "-m", "--first-parent", "-r", "-z", "--raw"])
        .args(["--no-abbrev", "--no-renames", "--pretty=tformat:%H"])
        .args(["--ignore-submodules=none", name]);
    let (oid, changes) = git.ask_parsed(call, parse_record)?;
    Ok(CommitRecord {
        oid,
        short,
        changes,
    })
}

/// Parses the commit's name and its changes.
fn parse_record(answer: &[u8]) -> Option<(Oid, Vec<RawChange>)> {
    let is_gap = |byte: &u8| matches!(byte, 0 | b'\n');
    let end = answer.iter().position(is_gap)?;
    let (oid, rest) = answer.split_at(end);
    let gap = rest.iter().take_while(|byte| is_gap(byte)).count();
    let oid = Oid::parse(std::str::from_utf8(oid).ok()?)?;
    Some((oid, parse_raw(rest.get(gap..)?)?))
}

/// Finds the commit of this request, if an earlier call made it and HEAD still contains it.
pub(super) fn find_made(
    git: &Git,
    request: &CommitRequest,
    head: Option<&Oid>,
) -> Result<Option<CommitRecord>, GitError> {
    let Some(head) = head else { return Ok(None) };
    if request.parent.as_ref() == Some(head) {
        return Ok(None);
    }
    let found = match find_by_marker(git, request)? {
        Some(oid) => Some(oid),
        None if is_made_by_message(git, request)? => Some(head.clone()),
        None => None,
    };
    found.map(|oid| read_record(git, oid.as_str())).transpose()
}

fn find_by_marker(git: &Git, request: &CommitRequest) -> Result<Option<Oid>, GitError> {
    let call = Invocation::reading("log")
        .args(["--walk-reflogs", MOVES, "--format=%H %P%x09%gs", "HEAD"])
        .arg("--");
    let answer = git.ask(call)?;
    let marker = format!("{}: ", request.marker());
    for line in String::from_utf8_lossy(&answer).lines() {
        if let Some(oid) = parse_move(line, &marker, request.parent.as_ref())
            && git.is_part_of_head(&oid)?
        {
            return Ok(Some(oid));
        }
    }
    Ok(None)
}

/// Parses `<commit> <parents…>\t<reflog message>`; returns the commit if marker and parent
/// match.
fn parse_move(line: &str, marker: &str, parent: Option<&Oid>) -> Option<Oid> {
    let (names, what) = line.split_once('\t')?;
    let mut names = names.split(' ').filter_map(Oid::parse);
    let (oid, first_parent) = (names.next()?, names.next());
    (what.starts_with(marker) && first_parent.as_ref() == parent).then_some(oid)
}

/// Recognizes the commit by message and parent, for repositories without a reflog.
fn is_made_by_message(git: &Git, request: &CommitRequest) -> Result<bool, GitError> {
    let call = Invocation::reading("log")
        .args(["--max-count=1", "--encoding=UTF-8"])
        .args(["--format=%H %P%x09%B", "HEAD", "--"]);
    let answer = git.ask(call)?;
    let answer = String::from_utf8_lossy(&answer);
    let message = clean_message(&request.message);
    Ok(answer.split_once('\t').is_some_and(|(names, body)| {
        let mut names = names.split(' ').skip(1).filter_map(Oid::parse);
        names.next() == request.parent && body.trim() == message
    }))
}
