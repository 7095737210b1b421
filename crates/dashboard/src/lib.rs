//! The dashboard: a local web application that shows the runs of a machine, and lets a person
//! answer, stop, retry and skip.
//!
//! Pages are made on the server from what [`Machine`] says, and one small script renews them when
//! something has changed. Nothing here reads a journal or drives a run, and nothing connects to
//! anywhere: the dashboard only listens, on the address that the user chose.

mod access;
mod address;
mod changes;
mod excerpt;
mod form;
mod html;
mod pages;
mod plot;
mod server;
#[cfg(test)]
mod tests;
mod words;

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use regreen_history::Statistics;
use regreen_overview::Machine;

pub use self::access::new_token;
pub use self::server::{ServeError, serve};

/// What the dashboard shows, and whom it obeys.
#[derive(Clone)]
pub struct Backend {
    /// The runs, and what can be done about them.
    pub machine: Arc<dyn Machine>,
    /// Returns what was learnt from failures; `None` if nothing is kept.
    pub statistics: fn() -> Option<Statistics>,
    /// Whether a run started the program on the other end of a connection; `None` if there is none
    /// on this machine. An agent must not decide for the person.
    pub is_connected_by_a_run: fn(SocketAddr) -> Option<bool>,
}

/// How the dashboard is reached.
#[derive(Clone, Debug)]
pub struct Options {
    /// The address to listen on.
    pub listen: IpAddr,
    /// The port; 0 for any that is free.
    pub port: u16,
    /// Whether it only shows, and does nothing.
    pub read_only: bool,
    /// What a browser has to know to see anything.
    pub token: String,
    /// Another one that logs in a single browser: other users may see how a browser is started.
    pub ticket: Option<String>,
}

impl std::fmt::Debug for Backend {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Backend").finish_non_exhaustive()
    }
}
