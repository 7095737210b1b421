//! Performs effects with the machine, so that keys never wait for a file.

use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::thread;
use std::time::{Duration, Instant};

use regreen_overview::{AttemptText, Machine, PageStart};

use crate::document::PAGE;
use crate::event::{Effect, Event, SearchRequest, TextAnswer, TextRequest};
use crate::mailbox::Mailbox;
use crate::state::BLAMED_IN;

/// How many lines a search reads at once.
const SEARCHED: usize = 20_000;
/// Events about changes come at most this often.
const INTERVAL: Duration = Duration::from_millis(300);
/// Without a change, everything is read again after this long.
const QUIET: Duration = Duration::from_secs(15);
/// The part of its time that a thread spends on looking for what was added to a text.
const REFRESH_SHARE: u32 = 5;

/// The threads that do what takes time.
#[derive(Debug)]
pub(crate) struct Workers {
    /// Runs and actions.
    runs: Arc<Mailbox>,
    /// Texts, which may be long.
    texts: Arc<Mailbox>,
}

impl Workers {
    /// Starts the threads, which end with the process.
    pub(crate) fn start(
        machine: &Arc<dyn Machine>,
        events: &Sender<Event>,
    ) -> std::io::Result<Self> {
        let workers = Self {
            runs: Arc::default(),
            texts: Arc::default(),
        };
        for (name, mailbox) in [("runs", &workers.runs), ("texts", &workers.texts)] {
            let (machine, mailbox) = (Arc::clone(machine), Arc::clone(mailbox));
            spawn(name, events, move |events| {
                work(&*machine, &mailbox, events);
            })?;
        }
        let machine = Arc::clone(machine);
        spawn("changes", events, move |events| watch(&*machine, events))?;
        Ok(workers)
    }

    pub(crate) fn put(&self, effect: Effect) {
        match effect {
            Effect::ReadText(_) | Effect::Search(_) => self.texts.put(effect),
            _ => self.runs.put(effect),
        }
    }
}

/// Starts a thread. If it panics, the interface ends: it would show what isn't true any more.
pub(crate) fn spawn(
    name: &str,
    events: &Sender<Event>,
    work: impl FnOnce(&Sender<Event>) + Send + 'static,
) -> std::io::Result<()> {
    struct EndsAll(Sender<Event>);
    impl Drop for EndsAll {
        fn drop(&mut self) {
            if thread::panicking() {
                // Nobody receives it if the interface has already ended.
                let _ = self.0.send(Event::Panicked);
            }
        }
    }
    let events = EndsAll(events.clone());
    let builder = thread::Builder::new().name(name.to_owned());
    builder.spawn(move || work(&events.0))?;
    Ok(())
}

fn work(machine: &dyn Machine, mailbox: &Mailbox, events: &Sender<Event>) {
    let mut refresh_at = Instant::now();
    loop {
        let effect = mailbox.take(refresh_at);
        let began = Instant::now();
        let Some(event) = perform(machine, effect) else {
            continue;
        };
        refresh_at = Instant::now() + began.elapsed() * REFRESH_SHARE;
        if events.send(event).is_err() {
            return;
        }
    }
}

/// Says when something has changed.
fn watch(machine: &dyn Machine, events: &Sender<Event>) {
    loop {
        // The watches are new each time, because runs and their processes come and go. What happens
        // from now on ends the wait, and what has happened is read after it.
        let feed = machine.watch();
        if events.send(Event::Changed(machine.now())).is_err() {
            return;
        }
        match feed {
            Ok(mut feed) => drop(feed.wait(Some(QUIET), &[])),
            Err(_) => thread::sleep(QUIET),
        }
        thread::sleep(INTERVAL);
    }
}

/// Performs an effect, and returns what came of it.
pub(crate) fn perform(machine: &dyn Machine, effect: Effect) -> Option<Event> {
    Some(match effect {
        Effect::ReadRuns => Event::Runs(machine.runs()),
        Effect::ReadRun(key) => {
            let run = machine.run(&key).map(Box::new);
            Event::Run(key, run)
        }
        Effect::ReadText(request) => {
            let answer = read(machine, &request);
            Event::Text(request, answer)
        }
        Effect::Search(request) => {
            let line = search(machine, &request);
            Event::Found(request, line)
        }
        Effect::Act(run, action) => Event::Acted(machine.act(&run, &action)),
        Effect::Repaint | Effect::Suspend | Effect::Quit => return None,
    })
}

/// Reads a part of a text: of the one that has the blamed line, unless a certain one is wanted.
fn read(machine: &dyn Machine, request: &TextRequest) -> TextAnswer {
    let blamed = request.blamed.as_deref();
    let page =
        |text: AttemptText| machine.text(&request.attempt, text, blamed, request.start, PAGE);
    let answer = |text: AttemptText| TextAnswer {
        text,
        page: page(text),
    };
    if let Some(text) = request.text {
        return answer(text);
    }
    let has_it = |answer: &TextAnswer| {
        let page = answer.page.as_ref();
        page.is_ok_and(|page| page.blamed.is_some())
    };
    let wanted = BLAMED_IN.into_iter().filter(|_| blamed.is_some());
    let found = wanted.map(answer).find(has_it);
    found.unwrap_or_else(|| answer(AttemptText::Log))
}

/// Returns the next line that has the words.
fn search(machine: &dyn Machine, request: &SearchRequest) -> Option<usize> {
    let mut last = None;
    let mut next = 1;
    loop {
        let start = PageStart::Line(next);
        let page = machine.text(&request.attempt, request.text, None, start, SEARCHED);
        let page = page.ok()?;
        for line in &page.lines {
            if !line.text.to_lowercase().contains(&request.words) {
                continue;
            }
            if request.is_backwards && line.number < request.from {
                last = Some(line.number);
            } else if !request.is_backwards && line.number > request.from {
                return Some(line.number);
            }
        }
        next = page.lines.last()?.number + 1;
        let is_past = request.is_backwards && next >= request.from;
        if next > page.total || is_past {
            return last;
        }
    }
}
