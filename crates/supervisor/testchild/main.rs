//! A stand-in for real children that misbehaves as they do, on demand. Also plays the keeper, and a
//! regreen that gets killed.
#![expect(
    clippy::unwrap_used,
    clippy::print_stderr,
    clippy::print_stdout,
    reason = "a test program may fail loudly"
)]

use std::env;
use std::fs;
use std::io::{self, Read, Write};
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::{Duration, Instant};

use regreen_redaction::Masks;
use regreen_supervisor::{
    Chunk, KEEPER_ARGUMENT, Keepers, Marker, ProcessSpec, Stdin, TimeLimits, keeper_main,
};
use rustix::process::{Signal, getpid, getppid, getsid, kill_process, setsid};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

const LINGER: Duration = Duration::from_secs(60);
const MINUTE: Duration = Duration::from_secs(60);

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        [KEEPER_ARGUMENT] => return keeper_main(),
        ["exit", code] => return ExitCode::from(code.parse::<u8>().unwrap()),
        ["die", signal] => die(signal.parse().unwrap()),
        ["sleep", millis] => thread::sleep(millis_of(millis)),
        ["print", bytes] => print(bytes.parse().unwrap(), &mut io::stdout()),
        ["print-both"] => print_both(),
        ["cat"] => drop(io::copy(&mut io::stdin(), &mut io::stdout()).unwrap()),
        ["echo-lines"] => echo_lines(),
        ["talk-over", bytes] => talk_over(bytes.parse().unwrap()),
        ["burn", millis] => burn(millis_of(millis)),
        ["tick", times, millis] => tick(times.parse().unwrap(), millis_of(millis)),
        ["stubborn"] => be_stubborn(),
        ["env", name] => println!("{}", env::var(name).unwrap_or("unset".into())),
        ["folder"] => println!("{}", env::current_dir().unwrap().display()),
        ["session"] => println!("{}", getsid(None).unwrap()),
        ["open-files"] => println!("{}", open_files()),
        ["kill-parent", signal] => kill_parent(signal.parse().unwrap()),
        ["brood", nest, then] => brood(Path::new(nest), then),
        ["orphan", nest, kind] => start(&["linger", nest, kind]),
        ["linger", nest, kind] => linger(Path::new(nest), kind),
        ["own", nest, marker] => own(nest, marker),
        ["read", bytes, masked] => read(bytes, masked == "masked"),
        ["spawn-many", how, count] => spawn_many(how, count.parse().unwrap()),
        _ => return ExitCode::from(64),
    }
    ExitCode::SUCCESS
}

fn millis_of(text: &str) -> Duration {
    Duration::from_millis(text.parse().unwrap())
}

fn me() -> Command {
    Command::new(env::current_exe().unwrap())
}

#[expect(
    clippy::zombie_processes,
    reason = "leaving children behind is the point"
)]
fn start(arguments: &[&str]) {
    me().args(arguments).spawn().unwrap();
}

fn die(signal: i32) {
    let signal = Signal::from_named_raw(signal).unwrap();
    kill_process(getpid(), signal).unwrap();
    thread::sleep(MINUTE);
}

fn kill_parent(signal: i32) {
    let signal = Signal::from_named_raw(signal).unwrap();
    kill_process(getppid().unwrap(), signal).unwrap();
    thread::sleep(Duration::from_millis(200));
    println!("still here");
}

fn print(bytes: usize, out: &mut impl Write) {
    let line = format!("{}\n", "plain log line with nothing in it ".repeat(30));
    let block = line.repeat(64);
    let mut left = bytes;
    while left > 0 {
        let len = left.min(block.len());
        out.write_all(&block.as_bytes()[..len]).unwrap();
        left -= len;
    }
}

fn print_both() {
    io::stdout().write_all(b"to stdout").unwrap();
    io::stderr().write_all(b"to stderr").unwrap();
}

fn echo_lines() {
    for line in io::stdin().lines() {
        println!("got {}", line.unwrap());
    }
    println!("end");
}

/// Writes a lot before reading anything, then counts its input.
fn talk_over(bytes: usize) {
    print(bytes, &mut io::stdout());
    let mut given = Vec::new();
    io::stdin().read_to_end(&mut given).unwrap();
    eprint!("{}", given.len());
}

fn burn(time: Duration) {
    let end = Instant::now() + time;
    while Instant::now() < end {}
}

fn tick(times: u32, pause: Duration) {
    for _ in 0..times {
        println!("tick");
        thread::sleep(pause);
    }
}

fn ignore_signals() {
    for signal in [SIGHUP, SIGINT, SIGTERM] {
        signal_hook::flag::register(signal, Arc::<AtomicBool>::default()).unwrap();
    }
}

fn be_stubborn() {
    ignore_signals();
    println!("ready");
    thread::sleep(LINGER);
}

fn open_files() -> String {
    let entries = fs::read_dir("/proc/self/fd").unwrap();
    let mut open: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    open.sort();
    open.join(" ")
}

/// Leaves two properly detached daemons behind: parent gone, own session, stdout still open. One of
/// them ignores signals.
fn brood(nest: &Path, then: &str) {
    for kind in ["plain", "stubborn"] {
        let nest = nest.to_str().unwrap();
        let orphan = me().args(["orphan", nest, kind]).status().unwrap();
        assert!(orphan.success());
    }
    while fs::read_dir(nest).unwrap().count() < 2 {
        thread::sleep(Duration::from_millis(5));
    }
    println!("ready");
    match then {
        "exit" => {}
        "fail" => die(Signal::ABORT.as_raw()),
        _ => thread::sleep(LINGER),
    }
}

fn linger(nest: &Path, kind: &str) {
    setsid().unwrap();
    if kind == "stubborn" {
        ignore_signals();
    }
    fs::write(nest.join(std::process::id().to_string()), kind).unwrap();
    thread::sleep(LINGER);
}

fn spec(words: &[&str], marker: &str) -> ProcessSpec {
    let exe = env::current_exe().unwrap();
    let words = words.iter().map(Into::into);
    ProcessSpec {
        argv: [exe.into_os_string()].into_iter().chain(words).collect(),
        cwd: env::current_dir().unwrap(),
        env: Vec::new(),
        stdin: Stdin::Empty,
        limits: TimeLimits {
            hard: 10 * MINUTE,
            idle: None,
            grace: 10 * MINUTE,
        },
        marker: Marker::new(marker),
        masks: None,
        last_copy: None,
    }
}

fn keepers() -> Keepers {
    Keepers::new(env::current_exe().unwrap())
}

/// Plays a regreen with a brood, to be killed from outside.
fn own(nest: &str, marker: &str) {
    let running = keepers().spawn(spec(&["brood", nest, "sleep"], marker));
    let running = running.unwrap();
    running
        .wait(&mut |chunk: Chunk<'_>| io::stdout().write_all(chunk.bytes).unwrap())
        .unwrap();
}

/// Plays a regreen that reads a lot of output, and reports its peak memory.
fn read(bytes: &str, masked: bool) {
    let mut spec = spec(&["print", bytes], "read");
    spec.masks = masked.then(Masks::built_in);
    let mut seen = 0;
    let running = keepers().spawn(spec).unwrap();
    let start = Instant::now();
    running
        .wait(&mut |chunk: Chunk<'_>| seen += chunk.bytes.len())
        .unwrap();
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let peak = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB"));
    println!("{seen} {} {}", peak.unwrap(), start.elapsed().as_millis());
}

/// Starts many programs, to be timed from outside.
fn spawn_many(how: &str, count: u32) {
    let keepers = keepers();
    let start = Instant::now();
    for _ in 0..count {
        if how == "bare" {
            let output = Command::new("/bin/true").stdin(Stdio::null()).output();
            assert!(output.unwrap().status.success());
        } else {
            let mut spec = spec(&[], "many");
            spec.argv = vec!["/bin/true".into()];
            // With `anew`, no keeper is ever reused.
            let keepers = match how {
                "anew" => &self::keepers(),
                _ => &keepers,
            };
            let ended = keepers.spawn(spec).unwrap().wait(&mut |_: Chunk<'_>| {});
            assert!(ended.unwrap().exit.success());
        }
    }
    let each = start.elapsed() / count;
    println!("{how}: {each:?} each");
}
