//! Tells browsers when there may be something new.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::thread;
use std::time::Duration;

use axum::body::{Body, Bytes};
use futures_core::Stream;
use regreen_overview::Machine;
use tokio::sync::{Semaphore, mpsc, watch};

/// Browsers are told about changes at most this often.
const INTERVAL: Duration = Duration::from_millis(400);
/// Without a change, the times on a page are renewed after this long. It also shows that a browser
/// is gone.
const QUIET: Duration = Duration::from_secs(15);
/// More pages than a person has open.
const MAX_LISTENERS: usize = 32;

/// Says when something has changed.
#[derive(Clone, Debug)]
pub(crate) struct Changes {
    count: watch::Receiver<u64>,
    listeners: Arc<Semaphore>,
}

impl Changes {
    /// Watches a machine from a thread of its own, which ends with the process.
    pub(crate) fn watch(machine: Arc<dyn Machine>) -> std::io::Result<Self> {
        let (sender, receiver) = watch::channel(0);
        let name = "changes".to_owned();
        thread::Builder::new().name(name).spawn(move || {
            loop {
                // The watches are new each time, because runs and their processes come and go. What
                // happens from now on ends the wait, and what has happened is read after it.
                let feed = machine.watch();
                sender.send_modify(|count| *count += 1);
                match feed {
                    Ok(mut feed) => drop(feed.wait(Some(QUIET), &[])),
                    Err(_) => thread::sleep(QUIET),
                }
                thread::sleep(INTERVAL);
            }
        })?;
        Ok(Self {
            count: receiver,
            listeners: Arc::new(Semaphore::new(MAX_LISTENERS)),
        })
    }

    /// Returns a stream of events for one browser; `None` if there are too many.
    pub(crate) fn stream(&self) -> Option<Body> {
        let place = Arc::clone(&self.listeners).try_acquire_owned().ok()?;
        let (sender, events) = mpsc::channel(1);
        let mut changes = self.count.clone();
        tokio::spawn(async move {
            let _place = place;
            // The first is the state that the page already shows.
            changes.mark_unchanged();
            while changes.changed().await.is_ok() {
                let event = Bytes::from_static(b"data: changed\n\n");
                if sender.send(event).await.is_err() {
                    break;
                }
            }
        });
        Some(Body::from_stream(Events(events)))
    }
}

/// The events for one browser.
struct Events(mpsc::Receiver<Bytes>);

impl Stream for Events {
    type Item = Result<Bytes, Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.poll_recv(context).map(|event| event.map(Ok))
    }
}
