//! The runs of this machine for the dashboard and the terminal interface.

use std::collections::BTreeMap;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use regreen_documents::TaskFile;
use regreen_model::{OutlineKind, OutlineRow, Timestamp};
use regreen_overview::{
    Action, AttemptRef, AttemptText, ChangeFeed, EarlierRun, JournalReader, LogPage, Machine,
    PageStart, RunDetails, RunKey, RunSummary, RunView,
};
use regreen_redaction::Masks;
use regreen_runtime::{now, open_store_read_only, outline, workspace_masks};
use regreen_store::{AttemptKey, RunId};
use regreen_supervisor::is_started_by_a_run;
use regreen_workspace::{RealDisk, open_file, read_text};

use crate::commands::{answer, inspect, stop};
use crate::known_runs::{self, FollowedRuns, KnownRun};
use crate::output;
use crate::problem::Problem;
use crate::spec_context::own_secrets;

/// More bytes of a diff than anyone reads.
const MAX_DIFF: usize = 8 * 1024 * 1024;

/// This machine. It keeps what it has read, and reads only what is new.
#[derive(Debug, Default)]
pub struct LocalMachine {
    runs: Mutex<FollowedRuns>,
    plans: Mutex<BTreeMap<PathBuf, ReadPlan>>,
}

/// A task file as it was read.
#[derive(Clone, Debug)]
struct ReadPlan {
    /// Changes when the file does.
    version: (Option<SystemTime>, u64),
    rows: Arc<Vec<OutlineRow>>,
}

impl LocalMachine {
    fn known(&self) -> Vec<KnownRun> {
        let mut runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
        // What can't be read is a note of `regreen ps`.
        runs.refresh().0
    }

    fn known_run(&self, key: &RunKey) -> Option<KnownRun> {
        self.known().into_iter().find(|run| run.place == key.place)
    }

    /// Returns the run with this id: the newest one of its spec, or an earlier one.
    fn run_of(&self, key: &RunKey) -> Option<KnownRun> {
        let newest = self.known_run(key)?;
        if newest.view.run == key.run {
            return Some(newest);
        }
        let store = open_store_read_only(&newest.paths.root).ok()??;
        let run = store.run(&RunId::named(&key.run)).ok()?;
        if run.spec != newest.paths.spec_key() {
            return None;
        }
        let mut view = RunView::default();
        let mut reader = JournalReader::new(run.id);
        reader
            .for_each_new(&store, |at, event| view.apply(at, &event))
            .ok()?;
        Some(KnownRun {
            view: Arc::new(view),
            holder: None,
            ..newest
        })
    }

    fn rows(&self, tasks: &Path) -> Arc<Vec<OutlineRow>> {
        let found = tasks.metadata().ok();
        let version = found.map_or((None, 0), |file| (file.modified().ok(), file.len()));
        let mut plans = self.plans.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(plan) = plans.get(tasks).filter(|plan| plan.version == version) {
            return Arc::clone(&plan.rows);
        }
        let text = read_text(&RealDisk, tasks).map(|read| read.text);
        let rows = Arc::new(outline(&TaskFile::read(text.unwrap_or_default())));
        let plan = ReadPlan {
            version,
            rows: Arc::clone(&rows),
        };
        plans.insert(tasks.to_owned(), plan);
        rows
    }

    fn summary(&self, run: &KnownRun) -> RunSummary {
        let rows = self.rows(&run.paths.spec.tasks);
        let counted = |row: &&OutlineRow| row.kind == OutlineKind::Task && !row.optional;
        let originals = || rows.iter().filter(counted);
        let has_questions = run.view.questions().next().is_some();
        let questions = if has_questions {
            run.questions()
        } else {
            Vec::new()
        };
        RunSummary {
            key: RunKey {
                place: run.place.clone(),
                run: run.view.run.clone(),
            },
            spec: run.paths.spec.name.clone(),
            workspace: output::path_from_home(&run.paths.root),
            state: run.state(),
            process: run.holder.as_ref().and_then(|holder| holder.pid),
            last_sign: run.last_sign(),
            started: run.view.started,
            activity: run.view.activity.clone(),
            current: run.view.current.clone(),
            spent: run.view.spent,
            done: (
                originals().filter(|row| row.done).count(),
                originals().count(),
            ),
            questions: questions
                .into_iter()
                .map(|(task, question)| (task.key.clone(), question.why.clone()))
                .collect(),
        }
    }

    fn diff(&self, run: &KnownRun, attempt: &AttemptRef) -> Result<Vec<u8>, Problem> {
        let git = inspect::open_git(&run.paths)?;
        let kept = git
            .snapshots(Some(&attempt.run.run))
            .map_err(Problem::Git)?;
        let key = AttemptKey {
            run: RunId::named(&attempt.run.run),
            task: attempt.task.clone(),
            number: attempt.number,
        };
        let inspect::Around::Both(span) = inspect::Around::of(&kept, &key) else {
            return Err(Problem::NoSnapshot {
                task: attempt.task.id.to_string(),
            });
        };
        let mut diff = Vec::new();
        git.diff_into(&span.before, &span.after, None, |bytes| {
            let room = MAX_DIFF.saturating_sub(diff.len());
            diff.extend_from_slice(bytes.get(..room.min(bytes.len())).unwrap_or_default());
            diff.len() < MAX_DIFF
        })
        .map_err(Problem::Git)?;
        Ok(diff)
    }

    fn do_it(&self, key: &RunKey, action: &Action) -> Result<String, Problem> {
        // Whoever looks through this process, it may not decide for a person.
        if is_started_by_a_run() {
            return Err(Problem::NotAPerson);
        }
        let run = self.known_run(key).filter(|run| run.view.run == key.run);
        let run = run.ok_or_else(|| Problem::NoRun {
            spec: key.run.clone(),
        })?;
        match action {
            Action::Stop => Ok(match &run.holder {
                Some(holder) if stop::ask_to_stop(holder) => {
                    "asked the run to stop; `regreen run` resumes it".to_owned()
                }
                _ => "no run is active here".to_owned(),
            }),
            Action::StopAfterTask => stop::stop_after_task(&run.paths.root),
            Action::Choose { task, what } => answer::decide(&run, task, *what),
            Action::Answer { task, choice, text } => {
                let asked = run.questions();
                let asked = asked.into_iter().find(|(asked, _)| asked.key == *task);
                let (task, question) = asked.ok_or_else(|| Problem::NoSuchQuestion {
                    id: task.id.to_string(),
                    known: Vec::new(),
                })?;
                let text = Some(text.as_str()).filter(|text| !text.trim().is_empty());
                answer::give(&run, task, question, *choice, text)
            }
        }
    }
}

impl Machine for LocalMachine {
    fn now(&self) -> Timestamp {
        now()
    }

    fn runs(&self) -> Vec<RunSummary> {
        self.known().iter().map(|run| self.summary(run)).collect()
    }

    fn run(&self, key: &RunKey) -> Option<RunDetails> {
        let run = self.run_of(key)?;
        Some(RunDetails {
            summary: self.summary(&run),
            rows: self.rows(&run.paths.spec.tasks),
            earlier: earlier(&run),
            view: run.view,
        })
    }

    fn text(
        &self,
        attempt: &AttemptRef,
        text: AttemptText,
        blamed: Option<&str>,
        start: PageStart,
        lines: usize,
    ) -> Result<LogPage, String> {
        let run = self.run_of(&attempt.run).ok_or("there is no such run")?;
        let page = match text {
            AttemptText::Diff => {
                let diff = self
                    .diff(&run, attempt)
                    .map_err(|problem| words(&problem))?;
                LogPage::read(&mut diff.as_slice(), blamed, start, lines)
            }
            _ => open(&run, attempt, text)
                .and_then(|log| LogPage::read(&mut BufReader::new(log), blamed, start, lines)),
        };
        let mut page = page.map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => "there is none".to_owned(),
            _ => error.to_string(),
        })?;
        let masks = match text {
            AttemptText::Diff => workspace_masks(&run.paths.root, &own_secrets()),
            _ => Masks::built_in(),
        };
        for line in &mut page.lines {
            line.text = masks.mask(&line.text);
        }
        Ok(page)
    }

    fn act(&self, run: &RunKey, action: &Action) -> Result<String, String> {
        let done = self.do_it(run, action);
        done.map(|text| text.trim_end().to_owned())
            .map_err(|problem| words(&problem))
    }

    fn watch(&self) -> io::Result<ChangeFeed> {
        let mut feed = known_runs::watch()?;
        for run in self.known() {
            // A workspace that is gone has no changes.
            let _ = feed.watch_folder(&run.paths.own());
            if let Some(holder) = &run.holder {
                holder.pid.map(|pid| feed.watch_process(pid));
                let log = run.current_log();
                let _ = log.and_then(|log| feed.watch_folder(log.parent()?).ok());
            }
        }
        Ok(feed)
    }
}

/// Opens what an attempt left in a file.
fn open(run: &KnownRun, attempt: &AttemptRef, text: AttemptText) -> io::Result<Box<dyn Read>> {
    let log = run
        .paths
        .log(&attempt.run.run, &attempt.task, attempt.number);
    match text {
        AttemptText::Prompt => Ok(Box::new(open_file(&log.with_extension("prompt.md"))?)),
        AttemptText::Verify => {
            let logs = inspect::verify_logs(&log);
            let none: io::Result<Option<Box<dyn Read>>> = Ok(None);
            let all = logs.iter().fold(none, |all, log| {
                let next = open_file(log)?;
                Ok(Some(match all? {
                    Some(first) => Box::new(first.chain(next)),
                    None => Box::new(next),
                }))
            });
            all?.ok_or_else(|| io::ErrorKind::NotFound.into())
        }
        AttemptText::Log | AttemptText::Diff => Ok(Box::new(open_file(&log)?)),
    }
}

fn earlier(run: &KnownRun) -> Vec<EarlierRun> {
    let store = open_store_read_only(&run.paths.root).ok().flatten();
    let runs = store.and_then(|store| store.runs(usize::MAX).ok());
    let runs = runs.unwrap_or_default().into_iter();
    let others = runs.filter(|one| one.spec == run.paths.spec_key());
    others
        .filter(|one| one.id.as_str() != run.view.run)
        .map(|one| EarlierRun {
            run: one.id.to_string(),
            started: Timestamp::from_millis(u64::try_from(one.started_ms).unwrap_or(0)),
        })
        .collect()
}

/// Returns what went wrong and what to do about it, for a page.
fn words(problem: &Problem) -> String {
    let messages = problem.messages().into_iter();
    let texts = messages.flat_map(|one| [Some(one.message), one.help]);
    let texts: Vec<String> = texts.flatten().collect();
    Masks::built_in().mask(&texts.join(": "))
}
