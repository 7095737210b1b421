//! `regreen serve`: the dashboard.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::sync::Arc;

use regreen_dashboard::{Backend, Options, ServeError, new_token, serve};
use regreen_history::{Filter, Statistics};
use regreen_supervisor::{is_connected_by_a_run, process_exists};
use serde::{Deserialize, Serialize};

use crate::arguments::Serve;
use crate::exit::Exit;
use crate::learned::{now_ms, open_history};
use crate::machine::LocalMachine;
use crate::output;
use crate::problem::Problem;
use crate::user_program;
use crate::user_state::StateRecord;

/// The kind of these records in the state folder.
const KIND: &str = "dashboards";
/// The period of the statistics.
const PERIOD_MS: i64 = 30 * 24 * 60 * 60 * 1000;

/// A dashboard that is being served. Whoever knows its address may use it, so only the user may
/// read this.
#[derive(Debug, Serialize, Deserialize)]
struct Served {
    address: String,
    process: u32,
}

pub fn run(arguments: &Serve) -> Result<Exit, Problem> {
    let no_random = || Problem::Watch(io::ErrorKind::Unsupported.into());
    let options = Options {
        listen: arguments.listen,
        port: arguments.port,
        read_only: arguments.read_only,
        token: new_token().ok_or_else(no_random)?,
        ticket: new_token().filter(|_| arguments.open),
    };
    let backend = Backend {
        machine: Arc::new(LocalMachine::default()),
        statistics,
        is_connected_by_a_run,
    };
    match serve(backend, &options, |at| announce(arguments, &options, at)) {
        Ok(()) => Ok(Exit::Success),
        Err(error) => already_served(arguments, error),
    }
}

/// Says where the dashboard is, and remembers it for the user.
fn announce(arguments: &Serve, options: &Options, at: SocketAddr) {
    let address = page(at, "token", &options.token);
    let served = Served {
        address: address.clone(),
        process: std::process::id(),
    };
    if let Some(record) = StateRecord::new(KIND, at.port()) {
        // It is served all the same.
        let _ = record.write(&served);
    }
    let only = if arguments.read_only {
        "; it only shows"
    } else {
        ""
    };
    output::say(&format!(
        "the dashboard is at\n{address}\nCtrl-C ends it, and no run{only}"
    ));
    if !at.ip().is_loopback() {
        output::note(
            "others can reach it, unencrypted: anyone with the address can answer for you",
        );
    }
    if let Some(ticket) = &options.ticket {
        open_browser(&page(at, "once", ticket));
    }
}

/// Returns the address of the first page, as this machine reaches it.
fn page(at: SocketAddr, name: &str, value: &str) -> String {
    let host = match at.ip() {
        ip if ip.is_unspecified() => "localhost".to_owned(),
        IpAddr::V4(ip) => ip.to_string(),
        IpAddr::V6(ip) => format!("[{ip}]"),
    };
    format!("http://{host}:{}/?{name}={value}", at.port())
}

/// Opens the dashboard that already listens on this port, if it is one.
fn already_served(arguments: &Serve, error: ServeError) -> Result<Exit, Problem> {
    let is_taken = matches!(&error, ServeError::Listen { source, .. } if source.kind() == io::ErrorKind::AddrInUse);
    let record = StateRecord::new(KIND, arguments.port).filter(|_| is_taken);
    let served = record.and_then(|record| record.read::<Served>());
    let is_there = |served: &Served| {
        let pid = i32::try_from(served.process).ok();
        pid.and_then(process_exists) == Some(true)
    };
    let Some(served) = served.filter(is_there) else {
        return Err(Problem::Serve(error));
    };
    output::say(&format!(
        "a dashboard is already served at\n{}",
        served.address
    ));
    if arguments.open {
        open_browser(&served.address);
    }
    Ok(Exit::Success)
}

/// Opens an address with the user's browser.
fn open_browser(address: &str) {
    let program = std::env::var("BROWSER")
        .ok()
        .filter(|name| !name.is_empty());
    let usual = if cfg!(target_os = "macos") {
        "open"
    } else {
        "xdg-open"
    };
    let program = program.unwrap_or_else(|| usual.to_owned());
    let argv = [program, address.to_owned()];
    user_program::run_beside("open", &argv, Path::new("."), "");
}

fn statistics() -> Option<Statistics> {
    let history = open_history().ok()??;
    let filter = Filter {
        since_ms: now_ms().saturating_sub(PERIOD_MS),
        spec: None,
        agent: None,
        workspace: None,
    };
    history.statistics(&filter, now_ms()).ok()
}
