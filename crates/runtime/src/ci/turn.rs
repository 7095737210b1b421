//! One turn: what is there, what it means, and the one thing that follows.

use std::collections::{BTreeMap, BTreeSet};

use regreen_documents::{EditError, InsertPosition, TaskFile};
use regreen_forge::{
    Base, CheckKey, CheckState, CommitId, Expected, Mergeable, Next, PendingFix, PullRequest, Red,
    RedCheck, Seen, SeenAt, Verdict, decide, judge,
};
use regreen_model::{NewTask, TaskKey, fnv1a};
use regreen_workspace::{InProgress, MergeOutcome, Oid, Push, PushOutcome, RealDisk, read_text};

use super::driver::{Turn, Watch, commit_id, current_branch};
use super::evidence::{CheckEvidence, LogReader};
use super::fix_task::{TrustedCommands, fix_task, merge_task, place};
use super::progress_file::ci_folder;
use super::{CiEnd, CiError, CiEvent, GreenReport};
use crate::clock::now;
use crate::plan_file::PlanFile;
use crate::tree_lock::{LockPurpose, TreeLock};

const WORKFLOWS: &str = ".github/workflows";
/// How long a rerun may stay invisible before it is asked for again.
const RERUN_LAG_MS: u64 = 2 * 60 * 1000;

impl Watch<'_> {
    pub(super) fn turn(&mut self) -> Result<Turn, CiError> {
        if let Some(turn) = self.finish_fix()? {
            return Ok(turn);
        }
        let on = current_branch(&self.git)?;
        if on != self.branch {
            return Ok(needs_person(
                [format!("HEAD is on `{on}` now, not on `{}`", self.branch)],
                "switch back and run the same command again",
            ));
        }
        // A run may have commits that nothing has checked yet.
        let Ok(lock) = TreeLock::take(&self.setup.paths, LockPurpose::Change) else {
            return Ok(Turn::Wait);
        };
        let head = self.head()?;
        if (self.needs_sync || self.progress.commit.as_ref() != Some(&commit_id(&head)?))
            && let Some(turn) = self.sync(&head)?
        {
            return Ok(turn);
        }
        drop(lock);
        let commit = commit_id(&head)?;
        let request = match self.pull_request(&commit)? {
            Ok(request) => request,
            Err(turn) => return Ok(turn),
        };
        if request.mergeable == Mergeable::Conflict {
            return self.update_from_base(&request, &commit);
        }
        self.look_at_checks(&request, &commit)
    }

    fn head(&self) -> Result<Oid, CiError> {
        let head = self.git.head()?;
        head.ok_or_else(|| CiError::usage("the branch has no commit", "commit something first"))
    }

    fn plan(&self) -> Result<TaskFile, CiError> {
        Ok(TaskFile::read(
            read_text(&RealDisk, &self.setup.paths.spec.tasks)?.text,
        ))
    }

    /// Has a pending fix made. Without its row, the failure is judged again.
    fn finish_fix(&mut self) -> Result<Option<Turn>, CiError> {
        let Some(fix) = self.progress.fix.clone() else {
            return Ok(None);
        };
        let plan = self.plan()?;
        let row = plan.rows_with_id(&fix.task).next();
        let is_done = row.and_then(|row| plan.task(row)).map(|task| task.done);
        if let (Some(row), Some(false)) = (row, is_done) {
            let root = plan.id(plan.root(row)).unwrap_or(&fix.task).clone();
            let code = self.host.run_task(&root);
            let plan = self.plan()?;
            let task = plan.rows_with_id(&fix.task).next();
            let is_open = task
                .and_then(|row| plan.task(row))
                .is_some_and(|task| !task.done);
            if code != 0 || is_open {
                let task = fix.task;
                return Ok(Some(Turn::End(CiEnd::FixFailed {
                    task,
                    code: code.max(1),
                })));
            }
            return Ok(Some(Turn::Again));
        }
        if is_done.is_some() && commit_id(&self.head()?)? == fix.commit {
            return Ok(Some(needs_person(
                [format!(
                    "fix {} is done, but nothing was committed",
                    fix.task
                )],
                "commit the change, then run this command again",
            )));
        }
        self.progress.fix = None;
        self.needs_sync = true;
        self.save()?;
        Ok(None)
    }

    /// Makes the remote branch what HEAD is, if nobody else has changed it.
    fn sync(&mut self, head: &Oid) -> Result<Option<Turn>, CiError> {
        let (remote, branch) = (self.setup.remote.clone(), self.branch.clone());
        let there = self.git.remote_head(&remote, &branch)?;
        if there.as_ref() != Some(head) {
            let is_behind = match &there {
                // A branch that was there and is gone was deleted by someone.
                None => self.progress.commit.is_none(),
                Some(there) => self.git.contains(head, there) && !self.went_back(there),
            };
            if !is_behind {
                return Ok(Some(self.moved(there.as_ref())));
            }
            if !self.setup.may_push {
                return Ok(Some(needs_person(
                    [format!("`{branch}` has commits that are not on {remote}")],
                    "push them, or let regreen push with --allow-push (or `ci.push = true` in your own configuration)",
                )));
            }
            if !self.git.dirty_paths()?.is_empty() {
                self.notice("uncommitted changes are not pushed");
            }
            let push = Push {
                remote: &remote,
                branch: &branch,
                commit: head,
                expected: there.as_ref(),
            };
            if self.git.push(&push)? == PushOutcome::Moved {
                let there = self.git.remote_head(&remote, &branch)?;
                return Ok(Some(self.moved(there.as_ref())));
            }
            let commit = commit_id(head)?.short().to_owned();
            self.tell(&CiEvent::Pushed { branch, commit });
        }
        self.progress.wait_for(commit_id(head)?, now());
        self.needs_sync = false;
        self.save()?;
        Ok(None)
    }

    /// Whether someone has taken the last known commit out of the remote branch.
    fn went_back(&self, there: &Oid) -> bool {
        let known = self.progress.commit.as_ref();
        let known = known.and_then(|known| Oid::parse(known.as_str()));
        known.is_some_and(|known| !self.git.contains(there, &known))
    }

    fn moved(&self, there: Option<&Oid>) -> Turn {
        let (remote, branch) = (&self.setup.remote, &self.branch);
        let what = match there {
            Some(there) => format!(
                "someone else has changed {remote}/{branch}: it is at {} now",
                there.as_str().get(..7).unwrap_or_default()
            ),
            None => format!("{remote}/{branch} was deleted"),
        };
        needs_person(
            [what],
            format!(
                "nothing was overwritten; run `git pull --rebase {remote} {branch}`, then this command again"
            ),
        )
    }

    /// Finds the pull request, open and at exactly this commit.
    fn pull_request(&mut self, commit: &CommitId) -> Result<Result<PullRequest, Turn>, CiError> {
        let Some((number, is_new)) = self.find_pull_request()? else {
            return Err(CiError::usage(
                format!("`{}` has no open pull request", self.branch),
                "open one with --create, or name one with --pr N",
            ));
        };
        let request = self.forge.pull_request(number)?;
        if request.branch != self.branch {
            return Err(CiError::usage(
                format!(
                    "#{number} is about the branch `{}`, not `{}`",
                    request.branch, self.branch
                ),
                "switch to that branch, or name another pull request",
            ));
        }
        if self.progress.pull_request != Some(number) || self.shown.is_none() {
            self.progress.pull_request = Some(number);
            self.save()?;
            if self.shown.is_none() {
                let url = request.url.clone();
                let event = CiEvent::PullRequest {
                    number,
                    url,
                    is_new,
                };
                self.tell(&event);
                self.shown = Some(event);
            }
        }
        if !request.is_open {
            self.progress.pull_request = None;
            self.save()?;
            return Ok(Err(needs_person(
                [format!("#{number} is closed")],
                "reopen it, or open another with --create",
            )));
        }
        if request.head != *commit {
            let there = self.git.remote_head(&self.setup.remote, &self.branch)?;
            let is_ours = there
                .as_ref()
                .is_some_and(|there| there.as_str() == commit.as_str());
            // GitHub may need a moment to notice a push.
            return Ok(Err(if is_ours {
                Turn::Wait
            } else {
                self.moved(there.as_ref())
            }));
        }
        Ok(Ok(request))
    }

    /// Merges the base branch; conflicts are a task.
    fn update_from_base(
        &mut self,
        request: &PullRequest,
        commit: &CommitId,
    ) -> Result<Turn, CiError> {
        let base = &request.base;
        if !self.setup.may_push {
            return Ok(needs_person(
                [format!("#{} conflicts with {base}", request.number)],
                "resolve the conflicts, or let regreen do it with --allow-push",
            ));
        }
        let remote = self.setup.remote.clone();
        let tip = self.git.fetch_branch(&remote, base)?;
        let message = format!("Merge {base} into {}", self.branch);
        if let Some(operation) = InProgress::look(self.git.dir()) {
            return Ok(needs_person(
                [format!("a {operation} is not finished here")],
                "finish or abort it, and run the same command again",
            ));
        }
        let merged = {
            let _lock = TreeLock::take(&self.setup.paths, LockPurpose::Change)
                .map_err(|error| CiError::usage(error.to_string(), "wait until it ends"))?;
            self.git.merge(&tip, &message)?
        };
        let files = match merged {
            MergeOutcome::UpToDate => return Ok(Turn::Wait),
            MergeOutcome::Merged => {
                self.needs_sync = true;
                self.tell(&CiEvent::Merged { base: base.clone() });
                return Ok(Turn::Again);
            }
            MergeOutcome::Conflicts(files) => files,
        };
        if self.progress.cycles >= self.setup.limits.cycles {
            let cycles = self.progress.cycles;
            return Ok(Turn::End(CiEnd::OutOfCycles { cycles }));
        }
        let files: Vec<String> = files.iter().map(ToString::to_string).collect();
        let scope = self.setup.paths.spec.name.clone();
        let made = |plan: &TaskFile| {
            let place = place(plan, &files, &BTreeMap::new())?;
            let task = merge_task(&place, plan, (&remote, base), tip.as_str(), &files, &scope)?;
            Some((plan.key(place.row)?, task))
        };
        self.add_fix(commit, [CheckKey::new("merge", tip.as_str())], made)
    }

    /// Asks for the checks of the commit, and judges them.
    fn look_at_checks(
        &mut self,
        request: &PullRequest,
        commit: &CommitId,
    ) -> Result<Turn, CiError> {
        let base = self.base_of(commit, &request.base)?;
        let seen = self.forge.seen(commit)?;
        if self.progress.notice(fnv1a(seen.digest().as_bytes()), now()) {
            self.save()?;
        }
        let expected = Expected {
            required: base.required.clone(),
            on_base: base.checks.clone(),
            without: self.setup.without.clone(),
        };
        let at = SeenAt {
            changed: self.progress.changed,
            now: now(),
        };
        match judge(&expected, &seen, at, self.setup.patience) {
            Verdict::Waiting { pending, missing } => {
                self.show_wait(commit, pending, missing);
                Ok(Turn::Wait)
            }
            Verdict::Stuck { pending } => Ok(Turn::End(CiEnd::TryLater {
                why: format!(
                    "nothing has happened for long; still running: {}",
                    pending.join(", ")
                ),
            })),
            // GitHub has yet to find out whether there are conflicts.
            Verdict::Green(_)
                if request.mergeable == Mergeable::Unknown
                    && at.now.since(at.changed) < self.setup.patience.missing_ms =>
            {
                Ok(Turn::Wait)
            }
            Verdict::Green(judgement) => {
                self.note_passed(&judgement.passed)?;
                let without = judgement.without_result.iter();
                let without = without.map(|(name, how)| format!("{name} ({})", how.words()));
                let flaky = self.progress.reruns.keys().cloned().collect();
                Ok(Turn::End(CiEnd::Green(GreenReport {
                    commit: commit.short().to_owned(),
                    url: request.url.clone(),
                    passed: judgement.passed.len(),
                    without_result: without.collect(),
                    fixes: self.progress.cycles,
                    flaky,
                    is_blocked: request.is_blocked,
                })))
            }
            Verdict::NeedsPerson {
                blockers,
                judgement,
            } => {
                self.note_passed(&judgement.passed)?;
                let reasons: Vec<String> = blockers.iter().map(ToString::to_string).collect();
                Ok(needs_person(
                    reasons,
                    "look at the pull request; `--without NAME` doesn't wait for a check",
                ))
            }
            Verdict::Red { failed, judgement } => {
                self.note_passed(&judgement.passed)?;
                self.answer_red(commit, &base, &seen, &failed)
            }
        }
    }

    fn show_wait(&mut self, commit: &CommitId, pending: Vec<String>, missing: Vec<String>) {
        let event = CiEvent::Waiting {
            commit: commit.short().to_owned(),
            pending,
            missing,
        };
        if self.shown.as_ref() != Some(&event) {
            self.tell(&event);
            self.shown = Some(event);
        }
    }

    fn note_passed(&mut self, passed: &[String]) -> Result<(), CiError> {
        for check in self.progress.note_passed(passed) {
            self.tell(&CiEvent::Flaky { check });
        }
        self.save()
    }

    /// Saves the logs first, and then does what follows from them.
    fn answer_red(
        &mut self,
        commit: &CommitId,
        base: &Base,
        seen: &Seen,
        failed: &[Red],
    ) -> Result<Turn, CiError> {
        if let Some(turn) = self.awaited_rerun(seen, failed)? {
            return Ok(turn);
        }
        let mut evidence = Vec::new();
        let mut checks = Vec::new();
        for red in failed {
            let one = self.reader().read(&*self.forge, commit, red)?;
            let key = CheckKey::new(&red.check.name, one.fingerprint());
            checks.push(RedCheck {
                red: red.clone(),
                failure: one.failure.clone(),
                is_broken_on_base: self.is_broken_on_base(base, red, &one)?,
                is_flaky: self.progress.flaky.contains(&key),
                reruns: self
                    .progress
                    .reruns
                    .get(&red.check.name)
                    .copied()
                    .unwrap_or(0),
                fixes: self.progress.fixes.get(&key).copied().unwrap_or(0),
            });
            self.tell(&CiEvent::Failed(one.shown.clone()));
            evidence.push(one);
        }
        let key = |at: &usize| {
            let found = checks.get(*at).zip(evidence.get(*at));
            found.map(|(check, one)| CheckKey::new(&check.red.check.name, one.fingerprint()))
        };
        match decide(&checks, self.progress.cycles, &self.setup.limits) {
            Next::OutOfCycles => {
                let cycles = self.progress.cycles;
                Ok(Turn::End(CiEnd::OutOfCycles { cycles }))
            }
            Next::Ask(asked) => {
                let reasons = asked.iter().filter_map(|(at, reason)| {
                    let check = checks.get(*at)?;
                    Some(format!("{}: {reason}", check.red.check.name))
                });
                let advice: BTreeSet<&str> =
                    asked.iter().map(|(_, reason)| reason.advice()).collect();
                let advice = advice.into_iter().collect::<Vec<_>>().join("; ");
                Ok(needs_person(
                    reasons,
                    format!("{advice}; then run this command again"),
                ))
            }
            Next::Rerun(which) => {
                let keys: Vec<CheckKey> = which.iter().filter_map(key).collect();
                let which = which.iter().filter_map(|at| checks.get(*at));
                let which: Vec<&Red> = which.map(|check| &check.red).collect();
                self.rerun(seen, &which, &keys)
            }
            Next::Fix(_) if !self.setup.may_push => Ok(needs_person(
                ["a fix needs a push, which is not allowed".to_owned()],
                "let regreen push with --allow-push (or `ci.push = true` in your own configuration), or fix it yourself",
            )),
            Next::Fix(which) => {
                let keys: Vec<CheckKey> = which.iter().filter_map(key).collect();
                let chosen = which.iter().filter_map(|at| evidence.get(*at)).cloned();
                self.fix(commit, base, &chosen.collect::<Vec<_>>(), keys)
            }
        }
    }

    fn reader(&self) -> LogReader<'_> {
        let paths = &self.setup.paths;
        LogReader {
            paths,
            own_rules: &self.setup.own_rules,
            folder: ci_folder(paths).join("logs"),
        }
    }

    /// Waits for a rerun that isn't listed yet. One that stays away is asked for again: regreen may
    /// have been killed before it could ask.
    fn awaited_rerun(&mut self, seen: &Seen, failed: &[Red]) -> Result<Option<Turn>, CiError> {
        let runs = failed.iter().filter_map(|red| seen.run_of(&red.check));
        let awaited: BTreeSet<u64> = runs
            .filter(|run| self.progress.awaits_rerun(run.id, run.attempt))
            .map(|run| run.id)
            .collect();
        if awaited.is_empty() {
            return Ok(None);
        }
        if now().since(self.progress.changed) >= RERUN_LAG_MS.min(self.setup.patience.missing_ms) {
            for run in awaited {
                self.forge.rerun(run)?;
            }
            self.progress.changed = now();
            self.save()?;
        }
        Ok(Some(Turn::Wait))
    }

    /// Whether the same check fails for the same reason on the base branch.
    fn is_broken_on_base(
        &self,
        base: &Base,
        red: &Red,
        here: &CheckEvidence,
    ) -> Result<bool, CiError> {
        let name = &red.check.name;
        let has_failed = |state: &CheckState| *state == CheckState::Ended(red.conclusion.clone());
        if !base.checks.get(name).is_some_and(has_failed) {
            return Ok(false);
        }
        let on_base = self.forge.seen(&base.commit)?.latest();
        let mut same = on_base.checks.into_iter();
        let same = same.find(|check| check.name == *name && has_failed(&check.state));
        let Some(check) = same else {
            return Ok(false);
        };
        let there = Red {
            check,
            conclusion: red.conclusion.clone(),
        };
        let there = self.reader().read(&*self.forge, &base.commit, &there)?;
        Ok(there.fingerprint() == here.fingerprint())
    }

    fn rerun(&mut self, seen: &Seen, which: &[&Red], keys: &[CheckKey]) -> Result<Turn, CiError> {
        let mut runs = BTreeMap::new();
        for (red, key) in which.iter().zip(keys) {
            self.progress
                .count_rerun(&red.check.name, Some(key.clone()), now());
            if let Some(run) = seen.run_of(&red.check) {
                runs.insert(run.id, run.attempt);
            }
        }
        self.progress.reran.extend(runs.clone());
        self.save()?;
        for run in runs.keys() {
            self.forge.rerun(*run)?;
        }
        let checks = which.iter().map(|red| red.check.name.clone()).collect();
        self.tell(&CiEvent::Rerun { checks });
        Ok(Turn::Wait)
    }

    fn fix(
        &mut self,
        commit: &CommitId,
        base: &Base,
        evidence: &[CheckEvidence],
        keys: Vec<CheckKey>,
    ) -> Result<Turn, CiError> {
        let workflows = self.workflows(base)?;
        let blamed: Vec<String> = evidence
            .iter()
            .filter_map(|one| one.blamed.clone())
            .collect();
        let scope = self.setup.paths.spec.name.clone();
        let gate = self.setup.gate.clone();
        let made = |plan: &TaskFile| {
            let place = place(plan, &blamed, &BTreeMap::new())?;
            let trusted = TrustedCommands {
                plan,
                gate: gate.as_deref(),
                workflows: &workflows,
            };
            let task = fix_task(&place, &trusted, evidence, commit.short(), &scope)?;
            Some((plan.key(place.row)?, task))
        };
        self.add_fix(commit, keys, made)
    }

    /// Returns the workflow files of the base branch: this branch may have changed its own.
    fn workflows(&self, base: &Base) -> Result<Vec<String>, CiError> {
        let Some(commit) = Oid::parse(base.commit.as_str()) else {
            return Ok(Vec::new());
        };
        // Without the commit here, no command of theirs is known.
        Ok(self.git.texts_in(&commit, WORKFLOWS).unwrap_or_default())
    }

    /// Adds a fix to the plan. What is stored first makes sure that it's added once.
    fn add_fix(
        &mut self,
        commit: &CommitId,
        keys: impl IntoIterator<Item = CheckKey>,
        made: impl Fn(&TaskFile) -> Option<(TaskKey, NewTask)>,
    ) -> Result<Turn, CiError> {
        let Some((_, task)) = made(&self.plan()?) else {
            return Ok(needs_person(
                ["no task of the plan is finished, so that none can get a fix".to_owned()],
                "finish the plan first: regreen run",
            ));
        };
        let fix = PendingFix {
            task: task.id.clone(),
            commit: commit.clone(),
        };
        self.progress.begin_fix(fix, keys);
        self.save()?;
        let mut plan = PlanFile::new(&self.setup.paths.spec.tasks);
        let edited = plan.edit(|file| {
            let (parent, task) = made(file).ok_or(EditError::NoSuchRow)?;
            let row = file.resolve(&parent).ok_or(EditError::NoSuchRow)?;
            Ok(file.insert(&task, InsertPosition::After(row))?.edited())
        })?;
        for found in &edited.recovered {
            self.notice(found.to_string());
        }
        self.tell(&CiEvent::FixAdded {
            task: task.id,
            title: task.title.to_string(),
        });
        Ok(Turn::Again)
    }
}

fn needs_person(reasons: impl IntoIterator<Item = String>, help: impl Into<String>) -> Turn {
    Turn::End(CiEnd::NeedsPerson {
        reasons: reasons.into_iter().collect(),
        help: help.into(),
    })
}
