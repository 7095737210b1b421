//! The loop: one turn after the other, with waits in between, until there is an end.

use std::sync::Arc;
use std::time::Duration;

use regreen_forge::{
    Base, CiProgress, CommitId, Forge, GitHub, NewPullRequest, RemoteAddress, Repository,
};
use regreen_model::Timestamp;
use regreen_supervisor::Keepers;
use regreen_workspace::{Git, Oid};

use super::gh::SupervisedGh;
use super::progress_file::ProgressFile;
use super::{CiEnd, CiError, CiEvent, CiHost, CiSetup, PullRequestChoice};
use crate::asleep::SleepLedger;
use crate::clock::now;
use crate::process::{Processes, workspace_masks};
use crate::tree::SupervisedGit;
use crate::tree_lock::create_own_folder;

/// How long a push, a fetch or a hook may take.
const GIT_TIMEOUT: Duration = Duration::from_secs(30 * 60);
/// The longest pause while GitHub is unreachable.
const MAX_PAUSE_MS: u64 = 5 * 60 * 1000;

/// What follows a turn.
#[derive(Debug)]
pub(super) enum Turn {
    /// Something was done; look again.
    Again,
    /// Nothing is to be done before something changes.
    Wait,
    /// That is all.
    End(CiEnd),
}

/// A pull request on its way to green.
pub(super) struct Watch<'h> {
    pub(super) setup: CiSetup,
    pub(super) host: &'h mut dyn CiHost,
    pub(super) forge: Box<dyn Forge>,
    pub(super) git: Git,
    pub(super) branch: String,
    /// The owner of the repository that the branch is pushed to.
    pub(super) head_owner: String,
    pub(super) default_branch: String,
    pub(super) file: ProgressFile,
    pub(super) progress: CiProgress,
    /// What the commit's checks are compared with.
    pub(super) base: Option<(CommitId, Base)>,
    /// The remote has to be compared with this branch.
    pub(super) needs_sync: bool,
    /// What was last shown of a wait.
    pub(super) shown: Option<CiEvent>,
}

/// Waits until all checks of the current branch's pull request are green, and has fixed what they
/// report. Goes on where an earlier call was interrupted.
///
/// # Errors
/// Returns an error if GitHub, git or the plan can't be used. Nothing is lost then.
pub fn until_green(setup: CiSetup, host: &mut dyn CiHost) -> Result<CiEnd, CiError> {
    let mut watch = Watch::open(setup, host)?;
    let mut trouble: Option<Trouble> = None;
    loop {
        if let Some(signal) = watch.setup.stop.asked() {
            return Ok(CiEnd::Stopped(signal));
        }
        let pause = match watch.turn() {
            Ok(Turn::End(end)) => return watch.ended(end),
            Ok(Turn::Again) => {
                trouble = None;
                continue;
            }
            Ok(Turn::Wait) => {
                trouble = None;
                watch.setup.poll_ms
            }
            // A request that was cut short says nothing about GitHub.
            Err(_) if watch.setup.stop.asked().is_some() => continue,
            Err(CiError::Forge(error)) if error.may_pass() => {
                let trouble = trouble.get_or_insert_with(|| Trouble::begin(now()));
                if now().since(trouble.since) >= watch.setup.max_wait_ms {
                    let why = error.to_string();
                    return Ok(CiEnd::TryLater { why });
                }
                let is_first = trouble.count == 0;
                if is_first {
                    watch.notice(format!("{error}; asking again"));
                }
                trouble.next_pause(watch.setup.poll_ms)
            }
            Err(error) => return Err(error),
        };
        watch.setup.stop.sleep_until(now().plus(pause));
    }
}

/// GitHub does not answer.
#[derive(Debug)]
struct Trouble {
    since: Timestamp,
    count: u32,
}

impl Trouble {
    fn begin(since: Timestamp) -> Self {
        Self { since, count: 0 }
    }

    /// Returns how long to wait, longer each time.
    fn next_pause(&mut self, poll_ms: u64) -> u64 {
        let pause = poll_ms.saturating_mul(1 << self.count.min(10));
        self.count += 1;
        pause.min(MAX_PAUSE_MS.max(poll_ms))
    }
}

impl<'h> Watch<'h> {
    fn open(setup: CiSetup, host: &'h mut dyn CiHost) -> Result<Self, CiError> {
        let root = &setup.paths.root;
        create_own_folder(root).map_err(|source| CiError::File {
            path: setup.paths.own(),
            source,
        })?;
        let processes = Processes {
            keepers: Keepers::new(setup.keeper.clone()),
            root: root.clone(),
            masks: workspace_masks(root, &setup.secrets),
            stop: setup.stop.clone(),
            run: "ci".to_owned(),
            asleep: SleepLedger::default(),
            last_copy: None,
        };
        let git = Git::open(root)?.with_hook_runner(Arc::new(SupervisedGit {
            processes: processes.clone(),
            timeout: GIT_TIMEOUT,
        }));
        let branch = current_branch(&git)?;
        let address = git.remote_address(&setup.remote)?;
        let address = address.ok_or_else(|| {
            CiError::usage(
                format!("there is no remote `{}`", setup.remote),
                "name one with --remote NAME; `git remote -v` lists them",
            )
        })?;
        let pushed_to = RemoteAddress(&address).repository();
        let repository = setup.repository.clone().or_else(|| pushed_to.clone());
        let repository = repository.ok_or_else(|| {
            CiError::usage(
                format!(
                    "the remote `{}` is not a repository on GitHub",
                    setup.remote
                ),
                "name the repository with --repo OWNER/NAME",
            )
        })?;
        let head_owner = pushed_to.map_or_else(|| repository.owner.clone(), |to| to.owner);
        let forge = github(repository, processes);
        let default_branch = forge.default_branch()?;
        if branch == default_branch {
            return Err(CiError::usage(
                format!("`{branch}` is the default branch; regreen never pushes to it"),
                "make a branch for the work: git switch -c NAME",
            ));
        }
        let (file, progress) = ProgressFile::lock(&setup.paths, &branch)?;
        Ok(Self {
            host,
            forge,
            git,
            branch,
            head_owner,
            default_branch,
            file,
            progress,
            base: None,
            needs_sync: true,
            shown: None,
            setup,
        })
    }

    /// Ends. After a result, a limit or a decision, the next call begins to count afresh.
    fn ended(&mut self, end: CiEnd) -> Result<CiEnd, CiError> {
        if let (CiEnd::FixFailed { .. }, Some(signal)) = (&end, self.setup.stop.asked()) {
            return Ok(CiEnd::Stopped(signal));
        }
        if matches!(
            end,
            CiEnd::Green(_) | CiEnd::OutOfCycles { .. } | CiEnd::NeedsPerson { .. }
        ) {
            self.progress.begin_counting();
            self.save()?;
        }
        Ok(end)
    }

    pub(super) fn save(&self) -> Result<(), CiError> {
        self.file.save(&self.progress)
    }

    pub(super) fn tell(&mut self, event: &CiEvent) {
        self.host.event(now(), event);
    }

    pub(super) fn notice(&mut self, text: impl Into<String>) {
        self.tell(&CiEvent::Notice { text: text.into() });
    }

    /// Returns the number of the pull request, and whether it was opened just now.
    pub(super) fn find_pull_request(&mut self) -> Result<Option<(u64, bool)>, CiError> {
        if let PullRequestChoice::Number(number) = self.setup.pull_request {
            return Ok(Some((number, false)));
        }
        if let Some(number) = self.progress.pull_request {
            return Ok(Some((number, false)));
        }
        let head = format!("{}:{}", self.head_owner, self.branch);
        let open = self.forge.open_pull_requests(&head)?;
        match open[..] {
            [number] => return Ok(Some((number, false))),
            [] if self.setup.pull_request == PullRequestChoice::Create => {}
            [] => return Ok(None),
            _ => {
                let numbers: Vec<String> = open.iter().map(|n| format!("#{n}")).collect();
                return Err(CiError::usage(
                    format!(
                        "this branch has several open pull requests: {}",
                        numbers.join(", ")
                    ),
                    "choose one with --pr N",
                ));
            }
        }
        let new = NewPullRequest {
            title: self.setup.paths.spec.name.clone(),
            body: format!(
                "The tasks of `{}`, opened by `regreen ci`.",
                self.setup.paths.spec_key()
            ),
            branch: head,
            base: self.default_branch.clone(),
        };
        let opened = self.forge.create_pull_request(&new)?;
        Ok(Some((opened.number, true)))
    }

    /// Returns what the checks of this commit are compared with.
    pub(super) fn base_of(&mut self, commit: &CommitId, base: &str) -> Result<Base, CiError> {
        if let Some((of, known)) = &self.base
            && of == commit
        {
            return Ok(known.clone());
        }
        let found = self.forge.base(base)?;
        self.base = Some((commit.clone(), found.clone()));
        Ok(found)
    }
}

fn github(repository: Repository, processes: Processes) -> Box<dyn Forge> {
    Box::new(GitHub::new(repository, SupervisedGh { processes }))
}

pub(super) fn current_branch(git: &Git) -> Result<String, CiError> {
    let branch = git.head_position()?.branch;
    let branch = branch
        .as_deref()
        .and_then(|name| name.strip_prefix("refs/heads/"));
    branch.map(str::to_owned).ok_or_else(|| {
        CiError::usage(
            "HEAD is not on a branch",
            "switch to the branch of the pull request: git switch NAME",
        )
    })
}

/// Returns the commit as the code host names it.
pub(super) fn commit_id(oid: &Oid) -> Result<CommitId, CiError> {
    CommitId::parse(oid.as_str())
        .ok_or_else(|| CiError::usage("unknown form of a commit id", "report this"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_get_longer_up_to_five_minutes() {
        let mut trouble = Trouble::begin(Timestamp::default());
        let pauses: Vec<u64> = (0..7).map(|_| trouble.next_pause(15_000)).collect();
        assert_eq!(
            pauses,
            [15_000, 30_000, 60_000, 120_000, 240_000, 300_000, 300_000]
        );
    }
}
