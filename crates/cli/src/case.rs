//! One task and all that was done about it: what `why`, `log`, `diff` and `undo` look at.

use regreen_store::{Attempt, Run};

use crate::arguments::{OneAttempt, OneTask};
use crate::history::History;
use crate::plan::{Plan, Subject};
use crate::problem::Problem;
use crate::workplace::Workplace;

#[derive(Debug)]
pub struct Case {
    pub workplace: Workplace,
    pub plan: Plan,
    pub history: History,
    pub runs: Vec<Run>,
    /// All attempts of the spec.
    pub attempts: Vec<Attempt>,
    pub subject: Subject,
}

impl Case {
    pub fn open(named: &OneTask) -> Result<Self, Problem> {
        let workplace = Workplace::with_flag(named.spec.as_deref())?;
        let plan = Plan::read(&workplace)?;
        let history = History::open(&workplace.places)?;
        let runs = history.runs()?;
        let attempts = history.attempts(&runs)?;
        let earlier = attempts.iter().map(|attempt| &attempt.key.task);
        let subject = plan.find(named, earlier)?;
        Ok(Self {
            workplace,
            plan,
            history,
            runs,
            attempts,
            subject,
        })
    }

    /// The attempts of the task itself.
    fn own(&self) -> Result<Vec<&Attempt>, Problem> {
        let is_own = |attempt: &&Attempt| self.plan.is(&self.subject, &attempt.key.task);
        let own: Vec<&Attempt> = self.attempts.iter().filter(is_own).collect();
        match own.as_slice() {
            [] if self.runs.is_empty() => Err(Problem::NoRun {
                spec: self.workplace.places.spec.name.clone(),
            }),
            [] => Err(self.no_attempt(None, &[])),
            _ => Ok(own),
        }
    }

    /// One attempt: by number or the last, of the run that is named or the newest that has
    /// the task.
    pub fn attempt(&self, asked: &OneAttempt) -> Result<&Attempt, Problem> {
        let in_run = in_run(self.own()?, asked.run.as_deref());
        let in_run = in_run.map_err(|known| Problem::NotInRun {
            task: self.subject.key.id.to_string(),
            known,
        })?;
        let is_meant = |one: &&&Attempt| asked.attempt.is_none_or(|n| one.key.number == n);
        let meant = in_run.iter().rfind(is_meant).copied();
        meant.ok_or_else(|| self.no_attempt(asked.attempt, &in_run))
    }

    fn no_attempt(&self, number: Option<u32>, known: &[&Attempt]) -> Problem {
        Problem::NoAttempt {
            task: self.subject.key.id.to_string(),
            number,
            known: known.iter().map(|attempt| attempt.key.number).collect(),
        }
    }

    /// The attempts of the task, of its fixes and of the tasks below it, in order: of one run,
    /// or of all since the task was last finished before.
    pub fn since_finished(&self, run: Option<&str>) -> Result<Vec<&Attempt>, Problem> {
        let belongs = |attempt: &&Attempt| self.plan.belongs(&self.subject, &attempt.key.task);
        let mut all: Vec<&Attempt> = self.attempts.iter().filter(belongs).collect();
        if all.is_empty() {
            return self.own();
        }
        if let Some(run) = run {
            return in_run(all, Some(run)).map_err(|known| Problem::NotInRun {
                task: self.subject.key.id.to_string(),
                known,
            });
        }
        if let Some(run) = self.finished_before(&all)? {
            let last = all.iter().rposition(|one| one.key.run == run.id);
            all.drain(..last.map_or(0, |at| at + 1));
        }
        Ok(all)
    }

    /// The last run in which the task was finished, but for the one that tried it last.
    fn finished_before(&self, attempts: &[&Attempt]) -> Result<Option<&Run>, Problem> {
        let newest = attempts.last().map(|attempt| &attempt.key.run);
        let has_tried = |run: &&Run| attempts.iter().any(|one| one.key.run == run.id);
        for run in self.runs.iter().rev().filter(has_tried) {
            let is_it = |key: &_| self.plan.is(&self.subject, key);
            if Some(&run.id) != newest && self.history.finished(run, is_it)? {
                return Ok(Some(run));
            }
        }
        Ok(None)
    }
}

/// Those of a run, or of the newest; the runs that there are, if it is none of them.
fn in_run<'a>(
    mut attempts: Vec<&'a Attempt>,
    run: Option<&str>,
) -> Result<Vec<&'a Attempt>, Vec<String>> {
    let newest = attempts.last().map(|one| one.key.run.to_string());
    let wanted = run.map(str::to_owned).or(newest).unwrap_or_default();
    let mut runs: Vec<String> = attempts.iter().map(|one| one.key.run.to_string()).collect();
    runs.dedup();
    attempts.retain(|one| one.key.run.as_str() == wanted);
    if attempts.is_empty() {
        return Err(runs);
    }
    Ok(attempts)
}
