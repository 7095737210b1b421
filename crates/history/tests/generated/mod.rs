//! Journals of made-up runs, of which the truth is known: how likely each task was to fail at first, and
//! how its time was drawn. Rates and speeds drift, agents differ, and times have heavy tails.

use regreen_history::{Digest, Forecast, History, Retention, TaskIdentity, Workspace, of_run};
use regreen_model::{
    AgentIdentity, AttemptReport, Event, FailureRecord, PickedTask, RunConfig, TaskFeatures,
    TaskId, TaskKey, Verdict,
};

pub(crate) const START_MS: i64 = 1_763_294_400_000;
const AGENTS: [&str; 3] = ["claude", "codex", "gemini"];
const KINDS: [&str; 4] = ["rs", "py", "ts", "md"];
const WORK: [&str; 6] = ["add", "fix", "refactor", "migrate", "test", "document"];
const WORKSPACES: u64 = 6;
const CHECKS: u64 = 5;

/// Random numbers that are the same in every run.
#[derive(Debug)]
pub(crate) struct Random(u64);

impl Random {
    /// Returns the next number of splitmix64.
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    /// Returns a number between 0 and 1, and neither.
    fn unit(&mut self) -> f64 {
        ((self.next() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }

    fn chance(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }

    fn normal(&mut self) -> f64 {
        (-2.0 * self.unit().ln()).sqrt() * (std::f64::consts::TAU * self.unit()).cos()
    }
}

/// What the truth is like.
#[derive(Clone, Copy, Debug)]
pub(crate) struct World {
    pub(crate) seed: u64,
    pub(crate) runs: u64,
    /// How much features and agents matter: 0 for not at all.
    pub(crate) effect: f64,
    /// How much rates and speeds change over time.
    pub(crate) drift: f64,
}

/// A run, and the truth about its tasks.
#[derive(Debug)]
pub(crate) struct GeneratedRun {
    pub(crate) workspace: Workspace,
    pub(crate) agent: &'static str,
    pub(crate) digest: Digest,
    pub(crate) tasks: Vec<GeneratedTask>,
}

/// A task as it is known before it is attempted, and how it went.
#[derive(Debug)]
pub(crate) struct GeneratedTask {
    pub(crate) identity: TaskIdentity,
    pub(crate) features: TaskFeatures,
    pub(crate) attempt_ms: u64,
    pub(crate) failed_first: bool,
}

impl World {
    /// Returns its runs, in the order in which they happened.
    pub(crate) fn generate(self) -> Vec<GeneratedRun> {
        let mut random = Random(self.seed);
        (0..self.runs).map(|n| self.run(&mut random, n)).collect()
    }

    fn run(self, random: &mut Random, n: u64) -> GeneratedRun {
        let place = random.below(WORKSPACES);
        let at = usize::try_from(random.below(3)).unwrap();
        let age = n as f64 / self.runs as f64;
        let workspace = Workspace {
            path: format!("/srv/w{place}"),
        };
        let id = format!("run-{n}");
        let mut journal = Journal::begin(
            &id,
            AGENTS[at],
            START_MS + i64::try_from(n).unwrap() * 86_400_000,
        );
        let tasks = (0..4 + random.below(8))
            .map(|_| {
                let title = format!("Task {}", random.below(100_000));
                let features = features(random, place);
                let task = GeneratedTask {
                    failed_first: random.chance(self.failure_rate(at, age, &features)),
                    attempt_ms: self.attempt_ms(random, at, age, &features),
                    identity: TaskIdentity::new(&workspace, "login", &title),
                    features,
                };
                journal.task(&task);
                task
            })
            .collect();
        GeneratedRun {
            agent: AGENTS[at],
            digest: journal.digest(&id),
            workspace,
            tasks,
        }
    }

    fn failure_rate(self, agent: usize, age: f64, features: &TaskFeatures) -> f64 {
        let of_agent = [-1.2, -0.4, 0.3][agent];
        // One agent gets better step by step, and another gets a better model in the middle.
        let drift = [-age, if age > 0.5 { -1.0 } else { 0.0 }, 0.3][agent];
        let of_work = match features.work.as_str() {
            "migrate" => 1.2,
            "document" => -0.9,
            _ => 0.0,
        };
        let many = f64::from(u8::from(features.files >= TaskFeatures::MANY_FILES));
        let vague = f64::from(u8::from(features.is_vague));
        let effect = of_agent + of_work + 0.8 * many + 0.9 * vague;
        1.0 / (1.0 + (0.8 - self.effect * effect - self.drift * drift).exp())
    }

    /// A log-normal time with a heavier tail, longer for large tasks and with slow checks.
    fn attempt_ms(
        self,
        random: &mut Random,
        agent: usize,
        age: f64,
        features: &TaskFeatures,
    ) -> u64 {
        let speed = [0.0, 0.4, -0.3][agent];
        let drift = [0.6 * age, if age > 0.5 { -0.5 } else { 0.0 }, 0.0][agent];
        let size = (f64::from(features.words) / 60.0).ln() * 0.5 + f64::from(features.files) * 0.08;
        let tail = if random.chance(0.04) {
            1.5 * -random.unit().ln()
        } else {
            0.0
        };
        let check = check_ms(features.verify.unwrap_or(0)) as f64;
        let work =
            5.3 + self.effect * (speed + size) + self.drift * drift + 0.7 * random.normal() + tail;
        (1_000.0 * work.min(12.0).exp() + 2.0 * check) as u64
    }
}

fn features(random: &mut Random, place: u64) -> TaskFeatures {
    let one_of = |random: &mut Random, all: &[&str]| {
        let at = usize::try_from(random.below(all.len() as u64)).unwrap();
        all[at].to_owned()
    };
    let words = (4.0 + 0.8 * random.normal()).exp().clamp(3.0, 2_000.0) as u32;
    let files = (-random.unit().ln() * 2.2) as u32;
    let check = u32::try_from(1 + place * CHECKS + random.below(CHECKS)).unwrap();
    TaskFeatures {
        words,
        files,
        file_kind: (files > 0).then(|| one_of(random, &KINDS)),
        work: one_of(random, &WORK),
        verify: random.chance(0.8).then_some(check),
        is_vague: random.chance(0.06),
    }
}

/// Some checks are much slower than others.
fn check_ms(check: u32) -> u64 {
    match check {
        0 => 0,
        check => [2_000, 4_000, 15_000, 40_000, 200_000][usize::try_from(check % 5).unwrap()],
    }
}

/// The events of a run.
struct Journal {
    events: Vec<(i64, Event)>,
    now_ms: i64,
    started_ms: i64,
}

impl Journal {
    fn begin(id: &str, agent: &str, started_ms: i64) -> Self {
        let started = Event::RunStarted {
            run: id.to_owned(),
            config: RunConfig {
                agent: AgentIdentity::new(agent, None),
                ..RunConfig::default()
            },
            after_limit: false,
            lost: Vec::new(),
            earlier: Vec::new(),
            environment: Vec::new(),
        };
        Self {
            events: vec![(started_ms, started)],
            now_ms: started_ms,
            started_ms,
        }
    }

    fn add(&mut self, after_ms: u64, event: Event) {
        self.now_ms += i64::try_from(after_ms).unwrap();
        self.events.push((self.now_ms, event));
    }

    /// A task that fails once or not at all, and then passes.
    fn task(&mut self, task: &GeneratedTask) {
        let key = TaskKey {
            id: TaskId::parse(&format!("1.{}", self.events.len())).unwrap(),
            occurrence: 0,
            title: task.identity.title.clone(),
        };
        self.add(
            0,
            Event::TaskPicked {
                task: Box::new(picked(&key, &task.features)),
            },
        );
        self.attempt(&key, 1, task);
        if task.failed_first {
            let failure = FailureRecord::new("AssertionError: 1 != 2");
            self.add(
                0,
                Event::TaskFailed {
                    task: key.clone(),
                    attempt: 1,
                    failure,
                    only_red: true,
                },
            );
            self.attempt(&key, 2, task);
        }
        let marks = std::collections::BTreeSet::new();
        self.add(
            0,
            Event::TaskDone {
                task: key,
                marks,
                hash: None,
            },
        );
    }

    fn attempt(&mut self, key: &TaskKey, attempt: u32, task: &GeneratedTask) {
        let started = Event::AttemptStarted {
            seq: 1,
            task: key.clone(),
            attempt,
            prompt: regreen_model::PromptKind::First,
            timeout_ms: 1_800_000,
        };
        self.add(0, started);
        let mut report = AttemptReport::default();
        report.ending.duration_ms = task.attempt_ms;
        let ended = Event::AttemptEnded {
            task: key.clone(),
            attempt,
            charged: true,
            counted: None,
            report: Box::new(report),
        };
        self.add(task.attempt_ms, ended);
        let took_ms = check_ms(task.features.verify.unwrap_or(0));
        let verified = Event::VerifyEnded {
            task: key.clone(),
            attempt,
            verdict: Verdict::Green,
            diagnosis: None,
            took_ms,
            tests: None,
        };
        self.add(took_ms, verified);
    }

    fn digest(self, id: &str) -> Digest {
        of_run(id, 10, "login", self.started_ms, &self.events).unwrap()
    }
}

fn picked(key: &TaskKey, features: &TaskFeatures) -> PickedTask {
    PickedTask {
        task: key.clone(),
        root: key.clone(),
        index: 0,
        total: 1,
        is_verify: false,
        is_red: false,
        is_group: false,
        has_fixes: false,
        has_own_verify: false,
        verify: Vec::new(),
        commit: None,
        declines_commit: false,
        failed_before: None,
        services: Vec::new(),
        features: Some(features.clone()),
    }
}

/// How good predictions for tasks were that had not been seen.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Score {
    pub(crate) attempts: u64,
    pub(crate) limits: u64,
    pub(crate) kept: u64,
    pub(crate) risks: u64,
    pub(crate) squared: f64,
    /// The same if the rate of all earlier tasks is always predicted.
    pub(crate) base_squared: f64,
}

impl Score {
    pub(crate) fn coverage(&self) -> f64 {
        self.kept as f64 / self.limits as f64
    }

    pub(crate) fn brier(&self) -> f64 {
        self.squared / self.risks as f64
    }

    pub(crate) fn base_brier(&self) -> f64 {
        self.base_squared / self.risks as f64
    }
}

/// Feeds the first part of the runs, then predicts the next few runs from what is known, feeds these,
/// and so on. Every task is predicted before the history has seen it.
pub(crate) fn score(
    history: &mut History,
    runs: &[GeneratedRun],
    known: usize,
    at_once: usize,
) -> Score {
    let keep_all = Retention {
        keep_ms: u64::MAX,
        max_bytes: u64::MAX,
    };
    let feed = |history: &mut History, runs: &[GeneratedRun]| {
        for run in runs {
            let digests = std::slice::from_ref(&run.digest);
            history
                .feed(&run.workspace, digests, &keep_all, START_MS)
                .unwrap();
        }
    };
    let (first, rest) = runs.split_at(known);
    feed(history, first);
    let (mut seen, mut failed) = outcomes(first);
    let mut score = Score::default();
    for batch in rest.chunks(at_once) {
        let forecast = history.forecast().unwrap();
        for run in batch {
            score.add(run, &forecast, failed / seen);
        }
        feed(history, batch);
        let (more, more_failed) = outcomes(batch);
        (seen, failed) = (seen + more, failed + more_failed);
    }
    score
}

fn outcomes(runs: &[GeneratedRun]) -> (f64, f64) {
    let tasks = || runs.iter().flat_map(|run| &run.tasks);
    let failed = tasks().filter(|task| task.failed_first).count();
    (tasks().count() as f64, failed as f64)
}

impl Score {
    fn add(&mut self, run: &GeneratedRun, forecast: &Forecast, base: f64) {
        let times = forecast.times(run.agent, &run.workspace);
        for task in &run.tasks {
            self.attempts += 1;
            let limit = times.of(&task.features).and_then(|times| times.limit);
            if let Some(limit) = limit {
                self.limits += 1;
                self.kept += u64::from(task.attempt_ms <= limit.ms);
            }
            if let Some(risk) = forecast.risk(run.agent, &task.identity, &task.features) {
                let outcome = f64::from(u8::from(task.failed_first));
                self.risks += 1;
                self.squared += (risk.percent as f64 / 100.0 - outcome).powi(2);
                self.base_squared += (base - outcome).powi(2);
            }
        }
    }
}
