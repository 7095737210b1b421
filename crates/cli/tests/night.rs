//! A night in miniature: a long plan, agents that misbehave at random in every way, a terminal that
//! closes, a machine that sleeps, and kills. In the end, everything reported must be true.
//!
//! By default the plan has every behaviour once, and the night is always the same: it counts what the
//! agent has done, so it doesn't depend on how fast the machine is. `REGREEN_NIGHT_TASKS` and
//! `REGREEN_NIGHT_SEED` set another one, `REGREEN_NIGHT_SUSPEND` how many seconds the machine sleeps,
//! and `REGREEN_NIGHT_PROGRAM` another build; `cargo xtask sweep night` sets them.
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
use std::time::{Duration, Instant};

use regreen_test_support::{PROGRESS, TASKS, Workspace, send_signal};
use serde_json::Value;

const SEED: u64 = 5;
const KILLS: u32 = 6;
/// Far more than a night takes, even on a busy machine.
const STUCK: Duration = Duration::from_secs(1800);
const SECRET: &str = "sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFG";

/// What an agent does with a task, and what must be reported about it at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Behaviour {
    Good,
    /// Has no Verify.
    Unverified,
    /// Has no Verify, and changes nothing.
    Idle,
    /// Says that it is done, but its Verify fails the first time.
    RedOnce,
    /// Reports a failure the first time.
    FailsOnce,
    /// Its Verify passes only the second time.
    Flaky,
    /// Says both that it is done and that work is left.
    Contradicts,
    /// Forgets the signal.
    Silent,
    /// Ticks the last row of the plan as well.
    Ticks,
    /// Removes the last row of the plan.
    Removes,
    /// Leaves a process behind.
    LeavesProcess,
    /// Prints a secret.
    Leaks,
    /// Takes its time, so that nights end in the middle of it.
    Slow,
    /// Is killed by a signal the first time.
    Crashes,
    /// Asks a question instead of working, the first time.
    Asks,
    /// Declares a service, which its Verify and those of the tasks after it need.
    Serves,
}

const ALL: [Behaviour; 16] = {
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
        B::Asks,
        B::Serves,
    ]
};

impl Behaviour {
    /// Returns the agent's shell commands. `$n` counts the calls for this task, over all runs.
    fn script(self) -> &'static str {
        match self {
            Self::Good | Self::Unverified | Self::Serves => "work; say",
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
            // Only once: if it were removed twice, the row would not be run.
            Self::Removes => {
                "work; test -f $notes/removed || { touch $notes/removed; sed -i '$d' $tasks; }; say"
            }
            Self::LeavesProcess => "work; (setsid sleep $nap &) ; say",
            Self::Leaks => "work; echo the key is $secret; say",
            Self::Slow => "sleep 0.7; work; say",
            Self::Crashes => "work; test $n -gt 1 || kill -SEGV $$; say",
            Self::Asks => {
                "test $n -gt 1 && { work; say; exit; }; echo 'Which encoding should the file have?'"
            }
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

    /// Returns the fields that declare a service, and the check whether it is running.
    fn service(self, id: &str, notes: &str, nap: u64) -> Option<(String, String)> {
        if self != Self::Serves {
            return None;
        }
        let pid = format!("{notes}/serves-{id}");
        let is_up = format!("kill -0 $(cat {pid})");
        let fields = format!(
            "  - **Service**: `sh -c 'echo $$ >{pid}; exec sleep {nap}'`\n  - **Ready**: `{is_up}`\n"
        );
        Some((fields, is_up))
    }
}

/// A pseudo-random number generator with a seed.
struct Rng(u64);

impl Rng {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }

    fn index(&mut self, length: usize) -> usize {
        usize::try_from(self.below(length as u64)).unwrap()
    }

    /// Returns a behaviour per task, in any order: every one of them, if there is room for all.
    fn behaviours(&mut self, tasks: usize) -> Vec<Behaviour> {
        let all = ALL.into_iter().filter(|_| tasks >= ALL.len());
        let mut chosen: Vec<Behaviour> = all.collect();
        while chosen.len() < tasks {
            chosen.push(ALL[self.index(ALL.len())]);
        }
        for last in (1..chosen.len()).rev() {
            chosen.swap(last, self.index(last + 1));
        }
        chosen
    }
}

fn asked(name: &str) -> Option<String> {
    std::env::var(format!("REGREEN_NIGHT_{name}")).ok()
}

fn number(name: &str) -> Option<u64> {
    asked(name).map(|number| number.parse().unwrap())
}

/// A plan, and how the agent behaves in it.
struct Night {
    workspace: Workspace,
    behaviours: Vec<(String, Behaviour)>,
    /// How long the processes that the agent leaves behind live: no other process sleeps this long.
    nap: u64,
}

impl Night {
    fn new(tasks: usize, rng: &mut Rng) -> Self {
        let nap = 3000 + rng.below(1_000_000);
        let behaviours = rng.behaviours(tasks).into_iter().enumerate();
        let mut behaviours: Vec<(String, Behaviour)> = behaviours
            .map(|(at, behaviour)| (format!("{}.{}", 1 + at / 10, 1 + at % 10), behaviour))
            .collect();
        // The row that others tick and remove.
        behaviours.push(("9.9".to_owned(), Behaviour::Good));
        let empty = Workspace::new();
        let notes = empty.outside().display().to_string();
        let mut plan = String::from("# A night\n\n");
        let mut arms = String::new();
        let mut is_up = None;
        for (id, behaviour) in &behaviours {
            let title = format!("{behaviour:?}");
            let declared = behaviour.service(id, &notes, nap);
            let (service, check) = declared.unzip();
            is_up = check.or(is_up);
            let verify = behaviour.verify(id, &notes).map(|verify| match &is_up {
                Some(is_up) => format!("{is_up} && {verify}"),
                None => verify,
            });
            let verify = verify.map(|verify| format!("  - **Verify**: `{verify}`\n"));
            let verify = verify.unwrap_or_default();
            let row = format!("- [ ] {id} {title}\n");
            if id == "9.9" {
                // It has to be the last line.
                plan.push_str(&row);
                continue;
            }
            let service = service.unwrap_or_default();
            plan.push_str(&format!(
                "{row}{service}{verify}  - **Commit**: `feat: {id}`\n"
            ));
            arms.push_str(&format!("{id}) {} ;;\n", behaviour.script()));
        }
        let script = format!(
            "*) secret={SECRET}; nap={nap}; echo x >>$notes/calls
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

    /// Starts regreen as people do in the evening; without the agent if it is known.
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

    /// Lets the night pass: the terminal closes, the machine sleeps, processes are killed. Returns
    /// the exit code of the run that nothing interrupted.
    fn pass(&self, rng: &mut Rng) -> i32 {
        let began = Instant::now();
        let mut kills = 0;
        loop {
            let mut run = self.start(kills == 0);
            let calls = self.calls() + 1 + rng.index(4);
            let later = Duration::from_millis(rng.below(400));
            let is_last = kills >= KILLS;
            thread::sleep(Duration::from_millis(150));
            send_signal("HUP", run.id());
            if rng.below(2) == 0 {
                send_signal("STOP", run.id());
                let briefly = Duration::from_millis(200 + rng.below(800));
                thread::sleep(number("SUSPEND").map_or(briefly, Duration::from_secs));
                send_signal("CONT", run.id());
            }
            let status = loop {
                if let Some(status) = run.try_wait().unwrap() {
                    break status;
                }
                if !is_last && self.calls() >= calls {
                    thread::sleep(later);
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

    /// Counts how often the agent was called.
    fn calls(&self) -> usize {
        let calls = fs::read_to_string(self.workspace.note_path("calls"));
        calls.unwrap_or_default().lines().count()
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
fn whatever_happens_at_night_the_morning_tells_the_truth() {
    let tasks = number("TASKS").map_or(ALL.len(), |tasks| usize::try_from(tasks).unwrap());
    let seed = number("SEED").unwrap_or(SEED);
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

    // The summary names everything a person has to know. After a kill at the very end the summary is
    // that of another run; then the first one was printed, or the other says that it was not.
    if summary["run"] != workspace.runs()[0].as_str() {
        let was_printed = printed.matches("ALL_TASKS_COMPLETE").count() == 2;
        let is_told = printed.contains("killed before it could report");
        assert!(was_printed || is_told, "{printed}");
    } else {
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

    // Nothing is lost, duplicated, left behind or leaked.
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
