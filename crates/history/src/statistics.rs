//! Sums of tasks and failures.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::{ForecastFigures, Response};

/// How many parts a period is divided into, to show a trend.
const PARTS: usize = 12;
/// How many blockers are shown.
const TOP: usize = 10;

/// How many of a number something is true for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Rate {
    /// For how many.
    pub count: u64,
    /// Of how many.
    pub of: u64,
}

impl Rate {
    /// Returns the rounded percentage; 0 of none.
    #[must_use]
    pub fn percent(self) -> u64 {
        let of = self.of.max(1);
        (self.count * 100 + of / 2) / of
    }

    fn plus(self, other: Self) -> Self {
        Self {
            count: self.count + other.count,
            of: self.of + other.of,
        }
    }

    pub(crate) fn add(&mut self, is_true: bool) {
        self.of += 1;
        self.count += u64::from(is_true);
    }
}

/// What a period shows.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Statistics {
    /// When the period begins.
    pub since_ms: i64,
    /// When it ends.
    pub until_ms: i64,
    /// Workspaces with a run or delegation.
    pub workspaces: u64,
    /// Runs and delegations.
    pub runs: u64,
    /// Tasks and delegations.
    pub tasks: TaskFigures,
    /// Failed attempts.
    pub failures: FailureFigures,
    /// Failures by category, most frequent first.
    pub categories: Vec<ShareFigures>,
    /// Failures by kind, most frequent first.
    pub kinds: Vec<ShareFigures>,
    /// The most frequent causes.
    pub blockers: Vec<BlockerFigures>,
    /// The responses to failures, most frequent first.
    pub responses: Vec<ResponseFigures>,
    /// Failures that were looked up, and whether that helped.
    pub recall: RecallFigures,
    /// Agents, by name.
    pub agents: Vec<AgentFigures>,
    /// How good predictions were.
    pub forecast: ForecastFigures,
}

/// Tasks and how they went.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TaskFigures {
    /// Tasks that were attempted, and delegations.
    pub count: u64,
    /// Attempts at them and their fixes.
    pub attempts: u64,
    /// Tasks that passed without a failure.
    pub first_pass: Rate,
    /// Tasks that passed after a failure, of those that failed at first.
    pub healed: Rate,
    /// Tasks that passed in the end.
    pub passed: Rate,
    /// The time of attempts and checks.
    pub time_ms: u64,
    /// The cost, if agents report it.
    pub cost_micro_usd: Option<u64>,
}

/// Failed attempts and what they cost.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FailureFigures {
    /// Failed attempts.
    pub count: u64,
    /// Their time.
    pub lost_ms: u64,
    /// Their cost, if agents report it.
    pub lost_micro_usd: Option<u64>,
    /// How many there were in each twelfth of the period.
    pub trend: Vec<u64>,
}

/// The part of a kind or category.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ShareFigures {
    /// Its name.
    pub name: String,
    /// Its failures.
    pub count: u64,
    /// Its failures as a percentage of all.
    pub percent: u64,
    /// How many there were in each twelfth of the period.
    pub trend: Vec<u64>,
}

/// A cause of failures.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct BlockerFigures {
    /// Its fingerprint.
    pub fingerprint: String,
    /// Its kind.
    pub kind: String,
    /// A line that shows it.
    pub example: String,
    /// Its failures.
    pub count: u64,
    /// Workspaces with such a failure.
    pub workspaces: u64,
    /// The last such failure.
    pub last_ms: i64,
    /// Where it happened most often.
    pub places: Vec<Place>,
}

/// Where a failure happened.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Place {
    /// The folder of the workspace.
    pub workspace: String,
    /// The spec; empty for a delegation.
    pub spec: String,
    /// The task, or the delegation.
    pub task: String,
    /// How often.
    pub count: u64,
}

/// A response to failures, and whether it helped.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ResponseFigures {
    /// What was done.
    pub response: String,
    /// How often it was done.
    pub count: u64,
    /// How often the task passed next, of the times where that is known.
    pub helped: Rate,
}

/// Failures that were looked up, and whether that helped.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RecallFigures {
    /// For how many of the failures that were looked up earlier ones were known.
    pub known: Rate,
    /// How many were followed by a prompt that said what had helped before.
    pub advised: u64,
    /// How often the task passed next then.
    pub with_advice: Rate,
    /// How often it passed next after a prompt that said nothing of the kind.
    pub without_advice: Rate,
}

/// How an agent did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct AgentFigures {
    /// Its name.
    pub agent: String,
    /// Its tasks.
    pub tasks: TaskFigures,
    /// Its failed attempts.
    pub failures: u64,
}

/// Failures with the same cause.
#[derive(Clone, Debug)]
pub(crate) struct Cluster {
    pub(crate) fingerprint: String,
    pub(crate) category: String,
    pub(crate) kind: String,
    pub(crate) example: String,
}

pub(crate) struct TaskRow {
    pub(crate) agent: i64,
    pub(crate) at_ms: i64,
    pub(crate) attempts: u32,
    pub(crate) first_pass: bool,
    pub(crate) passed: bool,
    pub(crate) time_ms: u64,
    pub(crate) cost_micro_usd: Option<u64>,
}

pub(crate) struct FailureRow {
    pub(crate) workspace: i64,
    pub(crate) agent: i64,
    pub(crate) at_ms: i64,
    pub(crate) cluster: i64,
    pub(crate) lost_ms: u64,
    pub(crate) lost_micro_usd: Option<u64>,
    pub(crate) response: Option<i64>,
    pub(crate) helped: Option<bool>,
    pub(crate) known: Option<bool>,
    pub(crate) advised: bool,
}

/// The sums so far.
#[derive(Debug)]
pub(crate) struct Figures {
    since_ms: i64,
    until_ms: i64,
    runs: u64,
    workspaces: BTreeSet<i64>,
    tasks: TaskFigures,
    lost_ms: u64,
    lost_micro_usd: Option<u64>,
    clusters: BTreeMap<i64, ClusterFigures>,
    responses: BTreeMap<i64, ResponseCount>,
    known: Rate,
    advised: u64,
    agents: BTreeMap<i64, AgentFigures>,
}

#[derive(Clone, Copy, Debug, Default)]
struct ResponseCount {
    count: u64,
    with_advice: Rate,
    without_advice: Rate,
}

impl ResponseCount {
    fn add(&mut self, row: &FailureRow) {
        self.count += 1;
        let rate = if row.advised {
            &mut self.with_advice
        } else {
            &mut self.without_advice
        };
        row.helped.into_iter().for_each(|helped| rate.add(helped));
    }

    fn helped(&self) -> Rate {
        self.with_advice.plus(self.without_advice)
    }
}

#[derive(Debug, Default)]
struct ClusterFigures {
    trend: [u64; PARTS],
    workspaces: BTreeSet<i64>,
    last_ms: i64,
}

impl ClusterFigures {
    fn count(&self) -> u64 {
        self.trend.iter().sum()
    }
}

impl Figures {
    pub(crate) fn new(since_ms: i64, until_ms: i64) -> Self {
        Self {
            since_ms,
            until_ms,
            runs: 0,
            workspaces: BTreeSet::new(),
            tasks: TaskFigures::default(),
            lost_ms: 0,
            lost_micro_usd: None,
            clusters: BTreeMap::new(),
            responses: BTreeMap::new(),
            known: Rate::default(),
            advised: 0,
            agents: BTreeMap::new(),
        }
    }

    pub(crate) fn run(&mut self, workspace: i64) {
        self.runs += 1;
        self.workspaces.insert(workspace);
    }

    fn is_in_period(&self, at_ms: i64) -> bool {
        (self.since_ms..=self.until_ms).contains(&at_ms)
    }

    pub(crate) fn task(&mut self, row: &TaskRow) {
        if self.is_in_period(row.at_ms) {
            self.tasks.add(row);
            self.agents.entry(row.agent).or_default().tasks.add(row);
        }
    }

    pub(crate) fn failure(&mut self, row: &FailureRow) {
        if !self.is_in_period(row.at_ms) {
            return;
        }
        self.lost_ms = self.lost_ms.saturating_add(row.lost_ms);
        self.lost_micro_usd = sum(self.lost_micro_usd, row.lost_micro_usd);
        let part = self.part(row.at_ms);
        let cluster = self.clusters.entry(row.cluster).or_default();
        if let Some(count) = cluster.trend.get_mut(part) {
            *count += 1;
        }
        cluster.workspaces.insert(row.workspace);
        cluster.last_ms = cluster.last_ms.max(row.at_ms);
        self.agents.entry(row.agent).or_default().failures += 1;
        row.known
            .into_iter()
            .for_each(|known| self.known.add(known));
        self.advised += u64::from(row.advised);
        if let Some(response) = row.response {
            self.responses.entry(response).or_default().add(row);
        }
    }

    /// Returns the part of the period that a moment is in.
    fn part(&self, at_ms: i64) -> usize {
        let length = i128::from(self.until_ms - self.since_ms).max(1);
        let at = i128::from(at_ms - self.since_ms) * PARTS as i128 / length;
        usize::try_from(at).unwrap_or(0).min(PARTS - 1)
    }

    pub(crate) fn finish(
        self,
        clusters: &BTreeMap<i64, Cluster>,
        names: &BTreeMap<i64, String>,
    ) -> Statistics {
        let name = |number: &i64| names.get(number).cloned().unwrap_or_default();
        let known: Vec<(&Cluster, &ClusterFigures)> = self
            .clusters
            .iter()
            .filter_map(|(number, figures)| Some((clusters.get(number)?, figures)))
            .collect();
        Statistics {
            since_ms: self.since_ms,
            until_ms: self.until_ms,
            workspaces: self.workspaces.len() as u64,
            runs: self.runs,
            failures: FailureFigures {
                count: known.iter().map(|(_, figures)| figures.count()).sum(),
                lost_ms: self.lost_ms,
                lost_micro_usd: self.lost_micro_usd,
                trend: total_trend(known.iter().map(|(_, figures)| *figures)),
            },
            categories: shares(&known, |cluster| &cluster.category),
            kinds: shares(&known, |cluster| &cluster.kind),
            blockers: top_blockers(known),
            recall: RecallFigures {
                known: self.known,
                advised: self.advised,
                ..benefit(&self.responses, name)
            },
            responses: responses(&self.responses, name),
            agents: agents(self.agents, name),
            forecast: ForecastFigures::default(),
            tasks: self.tasks,
        }
    }
}

impl TaskFigures {
    fn add(&mut self, row: &TaskRow) {
        self.count += 1;
        self.attempts += u64::from(row.attempts);
        self.first_pass.add(row.first_pass);
        if !row.first_pass {
            self.healed.add(row.passed);
        }
        self.passed.add(row.passed);
        self.time_ms = self.time_ms.saturating_add(row.time_ms);
        self.cost_micro_usd = sum(self.cost_micro_usd, row.cost_micro_usd);
    }
}

fn sum(one: Option<u64>, other: Option<u64>) -> Option<u64> {
    [one, other]
        .into_iter()
        .flatten()
        .reduce(u64::saturating_add)
}

fn total_trend<'c>(clusters: impl Iterator<Item = &'c ClusterFigures>) -> Vec<u64> {
    let mut total = vec![0; PARTS];
    for figures in clusters {
        for (sum, count) in total.iter_mut().zip(figures.trend) {
            *sum += count;
        }
    }
    total
}

/// Groups clusters by a name, most frequent first.
fn shares<'c>(
    known: &[(&'c Cluster, &'c ClusterFigures)],
    name: impl Fn(&'c Cluster) -> &'c String,
) -> Vec<ShareFigures> {
    let mut groups: BTreeMap<&str, Vec<&ClusterFigures>> = BTreeMap::new();
    for (cluster, figures) in known {
        groups.entry(name(cluster)).or_default().push(figures);
    }
    let of: u64 = known.iter().map(|(_, figures)| figures.count()).sum();
    let mut shares: Vec<ShareFigures> = groups
        .into_iter()
        .map(|(name, group)| {
            let trend = total_trend(group.into_iter());
            let count = trend.iter().sum();
            ShareFigures {
                name: name.to_owned(),
                count,
                percent: Rate { count, of }.percent(),
                trend,
            }
        })
        .collect();
    shares.sort_by_key(|share| std::cmp::Reverse(share.count));
    shares
}

fn top_blockers(mut known: Vec<(&Cluster, &ClusterFigures)>) -> Vec<BlockerFigures> {
    known.sort_by_key(|(_, figures)| std::cmp::Reverse((figures.count(), figures.last_ms)));
    known
        .into_iter()
        .take(TOP)
        .map(|(cluster, figures)| BlockerFigures {
            fingerprint: cluster.fingerprint.clone(),
            kind: cluster.kind.clone(),
            example: cluster.example.clone(),
            count: figures.count(),
            workspaces: figures.workspaces.len() as u64,
            last_ms: figures.last_ms,
            places: Vec::new(),
        })
        .collect()
}

/// Compares prompts that said what had helped before with those that did not.
fn benefit(counted: &BTreeMap<i64, ResponseCount>, name: impl Fn(&i64) -> String) -> RecallFigures {
    let is_prompted =
        |number: &i64| Response::from_words(&name(number)).is_some_and(|it| it.is_prompted());
    let prompted = counted.iter().filter(|(number, _)| is_prompted(number));
    prompted.fold(RecallFigures::default(), |sum, (_, one)| RecallFigures {
        with_advice: sum.with_advice.plus(one.with_advice),
        without_advice: sum.without_advice.plus(one.without_advice),
        ..sum
    })
}

fn responses(
    counted: &BTreeMap<i64, ResponseCount>,
    name: impl Fn(&i64) -> String,
) -> Vec<ResponseFigures> {
    let mut responses: Vec<ResponseFigures> = counted
        .iter()
        .map(|(number, counted)| ResponseFigures {
            response: name(number),
            count: counted.count,
            helped: counted.helped(),
        })
        .collect();
    responses.sort_by_key(|response| std::cmp::Reverse(response.count));
    responses
}

fn agents(
    counted: BTreeMap<i64, AgentFigures>,
    name: impl Fn(&i64) -> String,
) -> Vec<AgentFigures> {
    let mut agents: Vec<AgentFigures> = counted
        .into_iter()
        .map(|(number, figures)| AgentFigures {
            agent: name(&number),
            ..figures
        })
        .collect();
    agents.sort_by(|one, other| one.agent.cmp(&other.agent));
    agents
}
