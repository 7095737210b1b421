//! A night in small: a long plan, agents that misbehave in every way at random, a terminal that closes, a
//! machine that sleeps, and kills. In the end everything that is said must be true.
//!
//! By default the plan is short. `REGREEN_NIGHT_TASKS` and `REGREEN_NIGHT_SEED` ask for another one,
//! `REGREEN_NIGHT_PROGRAM` for another build; `cargo xtask sweep night` sets them.
#![cfg(target_os = "linux")]
#![expect(
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test that cannot go on has failed, and a sweep says what it saw"
)]

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use regreen_test_support::{PROGRESS, TASKS, Workspace, send_signal};
use serde_json::Value;

const SHORT: usize = 10;
/// Far more than a night takes, even on a busy machine.
const STUCK: Duration = Duration::from_secs(600);
const SECRET: &str = "sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFG";

/// What an agent does with a task, and what must be said about it in the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Behaviour {
    Good,
    /// Has no Verify.
    Unverified,
    /// Has no Verify, and changes nothing.
    Idle,
    /// Says that it is done; its Verify is red the first time.
    RedOnce,
    /// Reports a failure the first time.
    FailsOnce,
    /// Its Verify passes only the second time.
    Flaky,
    /// Says that it is done and that something is left.
    Contradicts,
    /// Forgets the signal.
    Silent,
    /// Ticks the last row of the plan on the side.
    Ticks,
    /// Removes the last row of the plan.
    Removes,
    /// Leaves a process behind.
    LeavesProcess,
    /// Prints a secret.
    Leaks,
    /// Takes its time: nights end in the middle of it.
    Slow,
    /// Is killed by a signal the first time.
    Crashes,
}

const ALL: [Behaviour; 14] = {
    use Behaviour as B;
    [
        B::Good,
        B::Unverified,
        B::Idle,
        B::RedOnce,
        B::FailsOnce,
        B::Flaky,
        B::Contradicts,
        B::Silent,
        B::Ticks,
        B::Removes,
        B::LeavesProcess,
        B::Leaks,
        B::Slow,
        B::Crashes,
    ]
};

impl Behaviour {
    /// The agent's shell commands. `$n` counts the calls for this task, over all runs.
    fn script(self) -> &'static str {
        match self {
            Self::Good | Self::Unverified => "work; say",
            Self::Idle => "say",
            Self::RedOnce => "test $n -gt 1 && work; echo x >>attempts; say",
            Self::FailsOnce => {
                "if test $n -gt 1; then work; say; else printf 'Task %s: It FAILED\\n- Error: not today\\n' $id; fi"
            }
            Self::Flaky => "work; rm -f $notes/second-$id; say",
            Self::Contradicts => {
                "work; say; test $n -gt 1 || echo 'The rest requires manual intervention.'"
            }
            Self::Silent => "work; test $n -gt 1 && say; true",
            Self::Ticks => "work; sed -i '$s/\\[ \\]/[x]/' $tasks; say",
            // Twice would be once too often: the row would not be run.
            Self::Removes => {
                "work; test -f $notes/removed || { touch $notes/removed; sed -i '$d' $tasks; }; say"
            }
            Self::LeavesProcess => "work; (setsid sleep $nap &) ; say",
            Self::Leaks => "work; echo the key is $secret; say",
            Self::Slow => "sleep 0.7; work; say",
            Self::Crashes => "work; test $n -gt 1 || kill -SEGV $$; say",
        }
    }

    fn verify(self, id: &str, notes: &str) -> Option<String> {
        match self {
            Self::Unverified | Self::Idle => None,
            Self::Flaky => Some(format!(
                "test -f out/{id} && {{ test -f {notes}/second-{id} || {{ touch {notes}/second-{id}; false; }}; }}"
            )),
            _ => Some(format!("test -f out/{id}")),
        }
    }
}

/// Numbers that look random, by seed.
struct Rng(u64);

impl Rng {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}

fn asked(name: &str) -> Option<String> {
    std::env::var(format!("REGREEN_NIGHT_{name}")).ok()
}

fn seed() -> u64 {
    let now = || {
        SystemTime::now()
            .duration_since(SystemTime::UNIX_EPOCH)
            .unwrap()
    };
    let asked = asked("SEED").map(|seed| seed.parse().unwrap());
    asked.unwrap_or_else(|| u64::try_from(now().as_millis()).unwrap())
}

/// A plan, and how the agent behaves in it.
struct Night {
    workspace: Workspace,
    behaviours: Vec<(String, Behaviour)>,
    /// How long processes live that the agent leaves behind: no other process is so patient.
    nap: u64,
}

impl Night {
    fn new(tasks: usize, rng: &mut Rng) -> Self {
        let nap = 3000 + rng.below(1_000_000);
        let mut behaviours: Vec<(String, Behaviour)> = (0..tasks)
            .map(|at| {
                let choice = usize::try_from(rng.below(ALL.len() as u64)).unwrap();
                // Every behaviour comes, if there is room for all.
                let behaviour = ALL.get(at).copied().filter(|_| tasks >= ALL.len());
                (
                    format!("{}.{}", 1 + at / 10, 1 + at % 10),
                    behaviour.unwrap_or(ALL[choice]),
                )
            })
            .collect();
        // The last row is the one that others tick and remove.
        behaviours.push(("9.9".to_owned(), Behaviour::Good));
        let empty = Workspace::new();
        let notes = empty.outside().display().to_string();
        let mut plan = String::from("# A night\n\n");
        let mut arms = String::new();
        for (id, behaviour) in &behaviours {
            let title = format!("{behaviour:?}");
            let verify = behaviour.verify(id, &notes);
            let verify = verify.map(|verify| format!("  - **Verify**: `{verify}`\n"));
            let verify = verify.unwrap_or_default();
            let row = format!("- [ ] {id} {title}\n");
            if id == "9.9" {
                // It has to be the last line.
                plan.push_str(&row);
                continue;
            }
            plan.push_str(&format!("{row}{verify}  - **Commit**: `feat: {id}`\n"));
            arms.push_str(&format!("{id}) {} ;;\n", behaviour.script()));
        }
        let script = format!(
            "*) secret={SECRET}; nap={nap}
             case $REGREEN_TASK_ID in *.*.*) echo fixed >>fixes; echo TASK_COMPLETE; exit;; esac
             id=$REGREEN_TASK_ID; echo x >>$notes/calls-$id; n=$(wc -l <$notes/calls-$id)
             work() {{ mkdir -p out; echo work >out/$id; }}
             say() {{ echo TASK_COMPLETE; }}
             case $id in\n{arms}9.9) work; say ;;\nesac ;;"
        );
        let workspace = empty.file(TASKS, plan).agent(&script).git_repository();
        let config = workspace.note_path("config/regreen/config.toml");
        fs::create_dir_all(config.parent().unwrap()).unwrap();
        let summary = workspace.note_path("summary.json");
        let on_end = format!(
            "on_end = [\"sh\", \"-c\", \"cat >{}\"]\n",
            summary.display()
        );
        fs::write(config, on_end).unwrap();
        Self {
            workspace,
            behaviours,
            nap,
        }
    }

    /// Starts regreen as people do in the evening; without the agent where that is known.
    fn start(&self, is_first: bool) -> Child {
        let agent = self.workspace.agent_flag();
        let flags = ["run", "--recovery-mode", "--max-global-iterations=1000"];
        let choice = ["--agent", &agent];
        let choice = if is_first { &choice[..] } else { &[] };
        let regreen = self.workspace.command(&[&flags[..], choice].concat());
        let program = asked("PROGRAM").map_or(regreen.get_program().to_owned(), Into::into);
        let mut nohup = Command::new("nohup");
        nohup.arg(program).args(regreen.get_args());
        nohup.envs(
            regreen
                .get_envs()
                .filter_map(|(name, value)| Some((name, value?))),
        );
        nohup.env("XDG_CONFIG_HOME", self.workspace.note_path("config"));
        nohup.current_dir(self.workspace.path("."));
        let printed = self.workspace.note_path("printed");
        let mut options = fs::File::options();
        let printed = options.create(true).append(true).open(printed).unwrap();
        let errors = printed.try_clone().unwrap();
        nohup
            .stdin(Stdio::null())
            .stdout(printed)
            .stderr(errors)
            .spawn()
            .unwrap()
    }

    /// Lets the night pass: the terminal closes, the machine sleeps, things are killed. Returns the
    /// exit code of the run that nothing ended.
    fn pass(&self, rng: &mut Rng) -> i32 {
        let began = Instant::now();
        let mut kills = 0;
        loop {
            let mut run = self.start(kills == 0);
            let until = Duration::from_millis(300 + rng.below(2500));
            let is_last = kills >= 6;
            thread::sleep(Duration::from_millis(150));
            send_signal("HUP", run.id());
            if rng.below(2) == 0 {
                send_signal("STOP", run.id());
                thread::sleep(Duration::from_millis(200 + rng.below(800)));
                send_signal("CONT", run.id());
            }
            let started = Instant::now();
            let status = loop {
                if let Some(status) = run.try_wait().unwrap() {
                    break status;
                }
                if !is_last && started.elapsed() > until {
                    send_signal("KILL", run.id());
                    break run.wait().unwrap();
                }
                assert!(
                    began.elapsed() < STUCK,
                    "the night does not end: {}",
                    self.printed()
                );
                thread::sleep(Duration::from_millis(20));
            };
            match (status.code(), status.signal()) {
                (Some(code), _) => return code,
                (None, Some(9)) => kills += 1,
                other => panic!("ended by {other:?}: {}", self.printed()),
            }
        }
    }

    fn printed(&self) -> String {
        self.workspace.note("printed")
    }

    fn ids(&self, is_it: impl Fn(Behaviour) -> bool) -> BTreeSet<String> {
        let found = self
            .behaviours
            .iter()
            .filter(|(_, behaviour)| is_it(*behaviour));
        found.map(|(id, _)| id.clone()).collect()
    }
}

fn ids_in(list: &Value) -> BTreeSet<String> {
    let tasks = list.as_array().unwrap().iter();
    tasks
        .map(|task| task["id"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
#[ignore = "takes minutes: `cargo xtask sweep night` runs it"]
fn whatever_happens_at_night_the_morning_tells_the_truth() {
    let tasks = asked("TASKS").map_or(SHORT, |tasks| tasks.parse().unwrap());
    let seed = seed();
    println!("a night of {tasks} tasks, seed {seed}");
    let mut rng = Rng(seed.max(1));
    let night = Night::new(tasks, &mut rng);
    let code = night.pass(&mut rng);
    let workspace = &night.workspace;
    let plan = workspace.text(TASKS);
    let printed = night.printed();
    let summary: Value = serde_json::from_str(&workspace.note("summary.json")).unwrap();
    println!("exit code {code}, {}", summary["outcome"]);

    // Everything can be done in the end, so everything is.
    assert_eq!(code, 0, "{printed}");
    assert!(printed.contains("ALL_TASKS_COMPLETE"), "{printed}");
    assert_eq!(summary["outcome"], "all_green");
    assert_eq!(summary["originals"]["done"], tasks + 1);
    for (id, behaviour) in &night.behaviours {
        let ticked = format!("- [x] {id} {behaviour:?}\n");
        assert_eq!(plan.matches(&ticked).count(), 1, "{id}:\n{plan}");
        let recorded = format!("- [x] {id} {behaviour:?}");
        assert_eq!(
            workspace.text(PROGRESS).matches(&recorded).count(),
            1,
            "{id}"
        );
        let has_worked = workspace.has(&format!("out/{id}"));
        assert_eq!(has_worked, *behaviour != Behaviour::Idle, "{id}");
    }

    // The summary names what a person has to know.
    // A run that was killed after its end is named by the next, which has nothing else to sum up.
    if !printed.contains("killed before it could report") {
        let mut unverified = night.ids(|behaviour| behaviour.verify("", "").is_none());
        unverified.insert("9.9".to_owned());
        assert_eq!(ids_in(&summary["unverified"]), unverified, "{printed}");
        let idle = night.ids(|behaviour| behaviour == Behaviour::Idle);
        assert!(ids_in(&summary["nothing_changed"]).is_subset(&idle));
        // A kill between the two checks leaves nothing flaky.
        let flaky = night.ids(|behaviour| behaviour == Behaviour::Flaky);
        assert!(ids_in(&summary["flaky"]).is_subset(&flaky), "{summary:#}");
        let changes = &summary["plan_changes"];
        let touched = ["taken_back", "put_back", "reverted"];
        let touched: BTreeSet<String> = touched
            .iter()
            .flat_map(|what| ids_in(&changes[what]))
            .collect();
        let tampers = |behaviour| matches!(behaviour, Behaviour::Ticks | Behaviour::Removes);
        let is_tampered = !night.ids(tampers).is_empty();
        assert_eq!(touched.contains("9.9"), is_tampered, "{summary:#}");
    }

    // Nothing is lost, doubled, left behind or leaked.
    let history = workspace.history();
    for (id, _) in night.behaviours.iter().filter(|(id, _)| id != "9.9") {
        assert_eq!(
            history.matches(&format!("* feat: {id}\n")).count(),
            1,
            "{id}:\n{history}"
        );
    }
    // The last task has no Commit field; everything else is committed.
    let left = workspace.git(&["status", "--porcelain"]);
    assert_eq!(left, "?? out/9.9\n");
    let grep = Command::new("grep")
        .args(["-rl", SECRET])
        .arg(workspace.path(".regreen"))
        .arg(workspace.note_path("printed"))
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&grep.stdout), "");
    let left = Command::new("pgrep")
        .args(["-f", &format!("sleep {}", night.nap)])
        .output();
    assert_eq!(String::from_utf8_lossy(&left.unwrap().stdout), "");
}
