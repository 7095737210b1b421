//! A tree in git: snapshots around every attempt, commits of exactly what attempts changed.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use regreen_engine::CommitResult;
use regreen_model::{TaskKey, Timestamp};
use regreen_repairs::release_git_lock;
use regreen_supervisor::{Exit, Stdin, Stream};
use regreen_workspace::{
    AttemptName, AttemptSpan, CommitError, CommitOutcome, CommitReport, CommitRequest, Git,
    GitCall, GitError, GitReply, GitRunner, GuardedHead, MAX_FILE, Oid, PathStatus, RealDisk,
    References, RelPath, SnapshotLimits, SnapshotSide, Snapshots, StagedVersions, StoredSnapshot,
    path_status, read_file,
};

use super::users_work::{UsersWork, staged_version_lost};
use super::{AttemptChanges, ClosingJob, CommitJob, TreeError};
use crate::atomic_file::write_atomically;
use crate::clock;
use crate::process::{Job, Processes, Sink};

/// Lists the paths that the user had changed before the run began, each terminated by a zero byte.
const DIRTY: &str = "dirty-before";

/// A working tree in git.
#[derive(Debug)]
pub(crate) struct GitTree {
    snapshots: Snapshots,
    scratch: PathBuf,
    before: Option<(AttemptName, Oid)>,
    /// HEAD and the snapshot from before the attempt; once the attempt is over, HEAD as it left it.
    guarded: Option<(AttemptName, GuardedHead, Oid)>,
    /// People's references before the attempt.
    references: Option<(AttemptName, References)>,
    /// What was staged of the user's changes before the attempt.
    staged: StagedVersions,
    /// Files that the snapshot before the attempt has not, or not as they are.
    left_out: BTreeSet<RelPath>,
    /// The user's own changes, which are never committed.
    users: BTreeSet<RelPath>,
    /// The changes of this process's attempts.
    changed: BTreeMap<AttemptName, BTreeSet<RelPath>>,
    /// This process began the run, so it has seen all attempts.
    has_begun_run: bool,
    /// Commits whose paths the user's index still shows as changed: another program held it.
    behind: Vec<Oid>,
}

impl GitTree {
    pub(super) fn new(
        git: Git,
        scratch: &Path,
        processes: &Processes,
        hook_timeout: Duration,
    ) -> Self {
        let git = git.with_hook_runner(Arc::new(SupervisedGit {
            processes: processes.clone(),
            timeout: hook_timeout,
        }));
        Self {
            snapshots: Snapshots::new(git, scratch, SnapshotLimits::default()),
            scratch: scratch.to_owned(),
            before: None,
            guarded: None,
            references: None,
            staged: StagedVersions::default(),
            left_out: BTreeSet::new(),
            users: BTreeSet::new(),
            changed: BTreeMap::new(),
            has_begun_run: false,
            behind: Vec::new(),
        }
    }

    pub(super) fn commit_of(&self, run: &str, task: &TaskKey) -> Result<Option<String>, GitError> {
        let git = self.snapshots.git();
        git.commit_with_key(&key_of_task(run, task))
    }

    pub(super) fn flagged(&self) -> &BTreeSet<RelPath> {
        self.snapshots.flagged()
    }

    pub(super) fn git(&self) -> &Git {
        self.snapshots.git()
    }

    /// Takes dirty paths as the user's, unless an attempt made them. A resumed run loads what it
    /// found at its start.
    pub(super) fn begin(
        &mut self,
        run_folder: &Path,
        own: &BTreeSet<RelPath>,
    ) -> Result<(), TreeError> {
        let path = run_folder.join(DIRTY);
        self.users = match read_file(&path, MAX_FILE) {
            Ok(bytes) => parse_paths(&bytes),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let users = self.users_paths(run_folder, own)?;
                // Atomically, because a resumed run would commit any path that is missing here.
                write_atomically(&path, &render_paths(&users))?;
                self.has_begun_run = true;
                users
            }
            Err(source) => return Err(TreeError::Remember { path, source }),
        };
        Ok(())
    }

    /// Returns the dirty paths, except files that are exactly as an attempt left them, or as they
    /// were before it and `regreen undo` restored them.
    fn users_paths(
        &mut self,
        run_folder: &Path,
        own: &BTreeSet<RelPath>,
    ) -> Result<BTreeSet<RelPath>, TreeError> {
        let mut dirty = self.snapshots.git().dirty_paths()?;
        dirty.retain(|path| !own.contains(path));
        let kept = self.snapshots.git().snapshots(None)?;
        if dirty.is_empty() || kept.is_empty() {
            return Ok(dirty);
        }
        let now = self.snapshots.current_tree()?;
        let runs: BTreeSet<&str> = kept.iter().map(|one| one.name.run.as_str()).collect();
        for run in runs {
            let users_then = users_of_run(run_folder, run);
            let of_run = kept.iter().filter(|one| one.name.run == run);
            for span in AttemptSpan::of(&of_run.cloned().collect::<Vec<_>>()) {
                for path in self.left_as_made(&span, &dirty, &users_then, &now)? {
                    dirty.remove(&path);
                }
            }
        }
        Ok(dirty)
    }

    /// Returns those of the paths that an attempt changed and that are now as it left them, or as
    /// they were before it. Changes that the user had made before that run are theirs again once
    /// the attempt is undone.
    fn left_as_made(
        &self,
        span: &AttemptSpan,
        paths: &BTreeSet<RelPath>,
        users_then: &BTreeSet<RelPath>,
        now: &Oid,
    ) -> Result<BTreeSet<RelPath>, GitError> {
        let mut made = self.changed_between(&span.before, &span.after)?;
        made.retain(|path| paths.contains(path));
        if !made.is_empty() {
            let since = self.changed_between(&span.after, now)?;
            let apart = self.changed_between(&span.before, now)?;
            let is_undone = |path: &RelPath| !apart.contains(path) && !users_then.contains(path);
            made.retain(|path| !since.contains(path) || is_undone(path));
        }
        Ok(made)
    }

    pub(super) fn changed_between(
        &self,
        before: &Oid,
        after: &Oid,
    ) -> Result<BTreeSet<RelPath>, GitError> {
        let changes = self.snapshots.git().changed_files(before, after)?;
        Ok(changes.into_iter().map(|change| change.path).collect())
    }

    /// Returns warnings about files that are not in the snapshot.
    pub(super) fn before(
        &mut self,
        name: &AttemptName,
        now: Timestamp,
    ) -> Result<Vec<String>, TreeError> {
        let taken = self.snapshots.take_before(name, clock::system_time(now))?;
        let root = self.git().root().to_owned();
        let left_out = taken.warnings.iter().map(|warning| warning.path.clone());
        let is_there = |path: &RelPath| path.under(&root).symlink_metadata().is_ok();
        self.left_out = left_out.filter(is_there).collect();
        let guarded = self.snapshots.guard_head()?;
        self.references = Some((name.clone(), self.git().references()?));
        self.guarded = Some((name.clone(), guarded, taken.oid.clone()));
        self.staged = self.git().staged_versions(&self.users);
        self.before = Some((name.clone(), taken.oid));
        Ok(taken.warnings.iter().map(ToString::to_string).collect())
    }

    /// Names the files that no snapshot has and that are gone now.
    fn lost_for_good(&mut self, name: &AttemptName) -> Vec<String> {
        let root = self.git().root().to_owned();
        let mut gone = std::mem::take(&mut self.left_out);
        gone.retain(|path| path.under(&root).symlink_metadata().is_err());
        let AttemptName { task, attempt, .. } = name;
        let gone = gone.iter().map(|path| {
            format!(
                "{path} was removed during attempt {attempt} of task {task}, and no snapshot has it"
            )
        });
        gone.collect()
    }

    pub(super) fn after(
        &mut self,
        name: &AttemptName,
        now: Timestamp,
    ) -> Result<AttemptChanges, TreeError> {
        let Some(before) = self.before_of(name)? else {
            return Ok(AttemptChanges::default());
        };
        let now = clock::system_time(now);
        let after = self.snapshots.take_after(name, &before, now)?;
        let head_before = self.guarded_head(name);
        let moved = self.put_head_back(name)?;
        if moved.is_some() {
            // Files have been written since the tree was scanned.
            let _outdated = self.snapshots.take_ignored();
        }
        // Verify runs from here on.
        self.guarded = Some((
            name.clone(),
            self.snapshots.guard_head()?,
            after.oid.clone(),
        ));
        let changed = match after.changed {
            Some(changed) => changed,
            None => self.changed_between(&before, &after.oid)?,
        };
        self.changed.insert(name.clone(), changed.clone());
        let head = self.git().head()?;
        let mut warnings: Vec<String> = after.warnings.iter().map(ToString::to_string).collect();
        warnings.extend(self.lost_for_good(name));
        let trees: Vec<&Oid> = [Some(&before), head_before.as_ref(), head.as_ref()]
            .into_iter()
            .flatten()
            .collect();
        let lost = self.git().lost_versions(&self.staged, &trees, name);
        warnings.extend(
            lost.iter()
                .map(|(path, oid)| staged_version_lost(name, path, oid)),
        );
        warnings.extend(self.harm_to_users_work(
            name,
            [&before, &after.oid],
            &changed,
            head_before.as_ref(),
        )?);
        Ok(AttemptChanges {
            changed: changed.into_iter().collect(),
            head: head.map(|head| head.as_str().to_owned()),
            warnings,
            moved,
        })
    }

    /// Returns HEAD from before the attempt.
    fn guarded_head(&self, name: &AttemptName) -> Option<Oid> {
        let (_, guarded, _) = self.guarded.as_ref().filter(|(of, ..)| of == name)?;
        guarded.commit().cloned()
    }

    /// Describes what the attempt did to the user's work outside its task.
    fn harm_to_users_work(
        &self,
        attempt: &AttemptName,
        [before, after]: [&Oid; 2],
        changed: &BTreeSet<RelPath>,
        head_before: Option<&Oid>,
    ) -> Result<Vec<String>, GitError> {
        let references = self.references.as_ref().filter(|(of, _)| of == attempt);
        let work = UsersWork {
            git: self.git(),
            attempt,
            uncommitted: &self.users,
            references: references.map(|(_, references)| references),
            before: Some(before),
        };
        work.harm(after, changed, head_before)
    }

    /// Puts HEAD and its branch back if they have moved since they were last checked.
    pub(super) fn put_head_back(
        &mut self,
        name: &AttemptName,
    ) -> Result<Option<String>, TreeError> {
        let Some((_, guarded, snapshot)) = self.guarded.clone().filter(|(of, ..)| of == name)
        else {
            return Ok(None);
        };
        let moved = self
            .snapshots
            .put_head_back(&RealDisk, name, &guarded, &snapshot)?;
        let reference = name.reference(SnapshotSide::After);
        let folder = reference.trim_end_matches("after");
        Ok(moved.map(|moved| {
            format!("{moved}. regreen has put the branch back; the commits are kept under {folder}. Work on the branch as it is, and only add commits to it")
        }))
    }

    pub(super) fn texts_before(
        &self,
        name: &AttemptName,
        paths: &BTreeSet<RelPath>,
    ) -> Result<Option<BTreeMap<RelPath, String>>, TreeError> {
        let Some(before) = self.before_of(name)? else {
            return Ok(None);
        };
        Ok(Some(self.git().texts(&before, paths)?))
    }

    pub(super) fn restore_before(
        &mut self,
        name: &AttemptName,
        paths: &BTreeSet<RelPath>,
    ) -> Result<Vec<RelPath>, TreeError> {
        let Some(before) = self.before_of(name)? else {
            return Ok(Vec::new());
        };
        Ok(self.snapshots.restore_files(&RealDisk, &before, paths)?)
    }

    /// Returns the snapshot from before the first attempt that a run made at a task.
    pub(super) fn before_task(&self, run: &str, task: &TaskKey) -> Result<Option<Oid>, GitError> {
        let kept = self.snapshots.git().snapshots(Some(run))?;
        let of_task = |one: &&StoredSnapshot| {
            one.side == SnapshotSide::Before && one.name.run == run && one.name.is_of(task)
        };
        let first = kept
            .iter()
            .filter(of_task)
            .min_by_key(|one| one.name.attempt);
        // Earlier attempts may have been removed; what is left is from after their changes.
        Ok(first
            .filter(|one| one.name.attempt == 1)
            .map(|one| one.oid.clone()))
    }

    pub(super) fn check_out_beside(&mut self, tree: &Oid, folder: &Path) -> Result<(), TreeError> {
        Ok(self.snapshots.check_out_beside(tree, folder)?)
    }

    /// Returns the snapshot from before an attempt, which an earlier process may have taken.
    fn before_of(&self, name: &AttemptName) -> Result<Option<Oid>, GitError> {
        if let Some((of, oid)) = &self.before
            && of == name
        {
            return Ok(Some(oid.clone()));
        }
        self.stored(name, SnapshotSide::Before)
    }

    fn stored(&self, name: &AttemptName, side: SnapshotSide) -> Result<Option<Oid>, GitError> {
        let kept = self.snapshots.git().snapshots(Some(&name.run))?;
        let is_it = |one: &&StoredSnapshot| one.side == side && one.name == *name;
        Ok(kept.iter().find(is_it).map(|one| one.oid.clone()))
    }

    /// Returns the paths that have changed since an attempt ended; `None` if its end was not seen.
    pub(super) fn changed_since(
        &mut self,
        name: &AttemptName,
    ) -> Result<Option<BTreeSet<RelPath>>, TreeError> {
        let Some(after) = self.stored(name, SnapshotSide::After)? else {
            return Ok(None);
        };
        self.changed_from(&after).map(Some)
    }

    pub(super) fn current(&mut self) -> Result<Oid, TreeError> {
        Ok(self.snapshots.current_tree()?)
    }

    /// Returns the paths that differ from an earlier state of the work tree.
    pub(super) fn changed_from(&mut self, before: &Oid) -> Result<BTreeSet<RelPath>, TreeError> {
        let now = self.current()?;
        if now == *before {
            return Ok(BTreeSet::new());
        }
        Ok(self.changed_between(before, &now)?)
    }

    /// Lists the files of the workspace as of the last snapshot.
    pub(super) fn listed_files(&self) -> Option<Vec<RelPath>> {
        let listed = self.snapshots.listed_files();
        listed.or_else(|| self.snapshots.git().listed_files().ok())
    }

    pub(super) fn take_ignored(&mut self) -> Option<Vec<Vec<u8>>> {
        self.snapshots.take_ignored()
    }

    pub(super) fn commit(&mut self, job: &CommitJob) -> (CommitResult, Vec<String>) {
        let paths = match self.changed_in(job) {
            Ok(paths) => paths,
            Err(error) => return (impossible(&error.into()), Vec::new()),
        };
        self.commit_request(&CommitRequest {
            key: commit_key(job),
            message: job.message.clone(),
            paths,
            leave_alone: self.users.clone(),
            spec_files: job.spec_files.clone(),
            parent: job.parent.as_deref().and_then(Oid::parse),
        })
    }

    /// Commits only the spec's own files and the tracked ones about several specs.
    pub(super) fn close_commit(&mut self, job: &ClosingJob) -> (CommitResult, Vec<String>) {
        let root = self.snapshots.git().root();
        let is_tracked = |path: &&RelPath| path_status(root, path) == PathStatus::Tracked;
        let shared = job.shared_files.iter().filter(is_tracked);
        self.commit_request(&CommitRequest {
            key: format!("{}/closing/{}", job.run, job.number),
            message: job.message.clone(),
            paths: shared.cloned().collect(),
            leave_alone: self.users.clone(),
            spec_files: job.spec_files.clone(),
            parent: None,
        })
    }

    fn commit_request(&mut self, request: &CommitRequest) -> (CommitResult, Vec<String>) {
        let (committed, mut released) = self.commit_past_stale_locks(request);
        let (result, warnings) = match committed {
            Ok(committed) => {
                self.snapshots.follow_commit(&committed);
                self.catch_up_index();
                self.behind.extend(committed.index_behind_of().cloned());
                result(committed)
            }
            Err(CommitError::Refused { output }) => {
                (CommitResult::HookFailed { output }, Vec::new())
            }
            Err(error) => (impossible(&error), Vec::new()),
        };
        released.extend(warnings);
        (result, released)
    }

    /// Updates the user's index for the commits that it is behind of, if no program holds it anymore.
    pub(super) fn catch_up_index(&mut self) {
        let git = self.snapshots.git();
        // What fails was told, and is tried again.
        let is_behind = |commit: &Oid| !git.catch_up_index(commit).unwrap_or(false);
        self.behind.retain(is_behind);
    }

    /// Commits. If locks whose owner is proven dead are in the way, moves them aside and tries
    /// again. Also returns what was done about locks.
    fn commit_past_stale_locks(
        &self,
        request: &CommitRequest,
    ) -> (Result<CommitReport, CommitError>, Vec<String>) {
        let git = self.snapshots.git();
        let killed_since = git.commit_asked_since(request, &self.scratch);
        let committed = git.commit(request, &self.scratch);
        let is_locked = match &committed {
            Err(CommitError::Git(_)) => true,
            Ok(report) => report.index_behind_of().is_some(),
            Err(_) => false,
        };
        let locks = match is_locked.then(|| git.commit_locks()) {
            Some(Ok(locks)) if !locks.is_empty() => locks,
            _ => return (committed, Vec::new()),
        };
        let told: Vec<String> = locks
            .iter()
            .map(|lock| release(git.root(), lock, killed_since))
            .collect();
        (git.commit(request, &self.scratch), told)
    }

    /// Returns the paths that attempts at the task and its fixes changed, except the state file.
    fn changed_in(&self, job: &CommitJob) -> Result<BTreeSet<RelPath>, GitError> {
        let git = self.snapshots.git();
        let mut paths = BTreeSet::new();
        for run in &job.runs {
            if self.has_begun_run && *run == job.run {
                let known = self.changed.iter();
                let known = known.filter(|(name, _)| name.run == *run && is_part(name, job));
                paths.extend(known.flat_map(|(_, changed)| changed.clone()));
                continue;
            }
            let mut kept = git.snapshots(Some(run))?;
            kept.retain(|one| is_part(&one.name, job));
            for span in AttemptSpan::of(&kept) {
                paths.extend(self.changed_between(&span.before, &span.after)?);
            }
        }
        if let Some(state) = &job.state {
            paths.remove(state);
        }
        Ok(paths)
    }
}

/// Whether this is an attempt at the task of a commit, or at one of its fixes.
fn is_part(attempt: &AttemptName, job: &CommitJob) -> bool {
    job.tasks.iter().any(|task| attempt.is_of(task))
}

/// Returns the paths that the user had changed before an earlier run began.
fn users_of_run(run_folder: &Path, run: &str) -> BTreeSet<RelPath> {
    let earlier = run_folder.with_file_name(run).join(DIRTY);
    let read = read_file(&earlier, MAX_FILE);
    read.map(|bytes| parse_paths(&bytes)).unwrap_or_default()
}

/// Moves a stale lock aside. Returns a message that says so, or why it stays.
fn release(root: &Path, lock: &Path, killed_since: Option<SystemTime>) -> String {
    let shown = lock.strip_prefix(root).unwrap_or(lock).display();
    match release_git_lock(root, lock, killed_since, SystemTime::now()) {
        Ok(()) => format!("moved {shown}, left behind by a killed git, to .regreen/removed/"),
        Err(why) => format!(
            "{shown} is in the way of the commit, and it may still be in use ({why}); if no git is running, delete it: `rm {}`",
            shell_words::quote(&lock.to_string_lossy())
        ),
    }
}

/// Identifies a commit among all of regreen's commits, by what the journal knew before the request:
/// only a repeated request has the same key.
fn commit_key(job: &CommitJob) -> String {
    let task = key_of_task(&job.run, &job.task);
    format!("{task}{}/{}", job.attempts, job.number)
}

/// Returns the prefix of the keys of all commits that a run makes for a task.
fn key_of_task(run: &str, task: &TaskKey) -> String {
    format!("{run}/{}+{}/", task.id, task.occurrence)
}

fn result(committed: CommitReport) -> (CommitResult, Vec<String>) {
    let skipped = committed.skipped.iter().map(ToString::to_string);
    let mut warnings: Vec<String> = skipped.collect();
    let made = match committed.outcome {
        CommitOutcome::Made(made) | CommitOutcome::AlreadyMade(made) => made,
        CommitOutcome::NothingToCommit => return (CommitResult::Nothing, warnings),
    };
    let hash = made.short;
    warnings.extend(made.index_behind.map(|why| {
        format!(
"committed {hash}, but git's index still shows the commit's files as changed. regreen tries again with the next commit and at the end of the run; if `git status` shows them then, run `git restore --staged .` ({why})"
        )
    }));
    let warned = Vec::new();
    (
        CommitResult::Done {
            hash,
            warnings: warned,
        },
        warnings,
    )
}

fn impossible(error: &CommitError) -> CommitResult {
    CommitResult::Impossible {
        why: format!("the work is done, but committing it failed: {error}"),
    }
}

fn render_paths(paths: &BTreeSet<RelPath>) -> Vec<u8> {
    let lines = paths.iter().map(|path| [path.as_bytes(), b"\0"].concat());
    lines.collect::<Vec<_>>().concat()
}

fn parse_paths(bytes: &[u8]) -> BTreeSet<RelPath> {
    let lines = bytes.split(|byte| *byte == 0);
    lines.filter_map(|line| RelPath::new(line).ok()).collect()
}

/// How much of a hook's output is kept.
const MAX_OUTPUT: usize = 256 * 1024;

/// Git under a keeper: a commit runs the user's hooks, which must end with the run.
#[derive(Debug)]
pub(crate) struct SupervisedGit {
    pub(crate) processes: Processes,
    pub(crate) timeout: Duration,
}

impl GitRunner for SupervisedGit {
    fn run(&self, call: &GitCall) -> io::Result<GitReply> {
        let argv = std::iter::once(OsString::from("git")).chain(call.args.iter().cloned());
        let job = Job {
            argv: argv.collect(),
            env: call.env.clone(),
            stdin: if call.stdin.is_empty() {
                Stdin::Empty
            } else {
                Stdin::Bytes(call.stdin.clone())
            },
            timeout: self.timeout,
            idle: None,
            purpose: "git".to_owned(),
        };
        let processes = Processes {
            root: call.folder.clone(),
            ..self.processes.clone()
        };
        let mut output = CapturedOutput::default();
        let ended = processes
            .run(job, &mut output)
            .map_err(|error| io::Error::other(error.to_string()))?;
        if let Exit::NotStarted { errno, .. } = ended.exit {
            return Err(io::Error::from_raw_os_error(errno));
        }
        Ok(GitReply {
            exit: match ended.exit {
                Exit::Exited(code) => Some(code),
                _ => None,
            },
            stdout: output.streams[0].clone(),
            stderr: output.streams[1].clone(),
            cut: false,
        })
    }
}

#[derive(Default)]
struct CapturedOutput {
    streams: [Vec<u8>; 2],
}

impl Sink for CapturedOutput {
    fn take(&mut self, stream: Stream, bytes: &[u8]) -> bool {
        let kept = match stream {
            Stream::Stdout => &mut self.streams[0],
            Stream::Stderr => &mut self.streams[1],
        };
        let room = MAX_OUTPUT.saturating_sub(kept.len());
        kept.extend_from_slice(bytes.get(..bytes.len().min(room)).unwrap_or_default());
        true
    }
}
