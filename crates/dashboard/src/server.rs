//! The server: who gets which page, and what a form does.

use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::connect_info::Connected;
use axum::extract::{ConnectInfo, Path, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use axum::serve::IncomingStream;
use regreen_overview::{AttemptRef, RunDetails, RunKey};
use tokio::net::TcpListener;

use crate::access::{Access, new_token};
use crate::changes::Changes;
use crate::form::Fields;
use crate::pages::{self, Site};
use crate::{Backend, Options, address};

/// More bytes than a person writes into a form.
const MAX_FORM: usize = 64 * 1024;
/// How many results of actions are remembered until a page shows them.
const MAX_RESULTS: usize = 16;
/// How many pages are made at once. Each thread that makes one keeps memory of its own.
const BLOCKING_THREADS: usize = 2;

const STYLE: &str = include_str!("../assets/dashboard.css");
const SCRIPT: &str = include_str!("../assets/dashboard.js");

/// Nothing comes from elsewhere, nothing is inline, and no other site can frame a page.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
                      img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

const HEADERS: [(HeaderName, &str); 6] = [
    (header::CONTENT_SECURITY_POLICY, POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::X_FRAME_OPTIONS, "DENY"),
    // Without a referrer, browsers would not name the origin of a form either.
    (header::REFERRER_POLICY, "same-origin"),
    (header::CACHE_CONTROL, "no-store"),
    (
        HeaderName::from_static("cross-origin-opener-policy"),
        "same-origin",
    ),
];

/// Why the dashboard can't be served.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The address can't be listened on.
    #[error("cannot listen on {address}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The underlying error.
        #[source]
        source: io::Error,
    },
    /// The system refuses what a server needs.
    #[error("cannot serve the dashboard")]
    System(#[source] io::Error),
}

/// Everything that requests need.
#[derive(Clone, Debug)]
pub(crate) struct Server {
    backend: Backend,
    access: Arc<Access>,
    changes: Changes,
    read_only: bool,
    results: Arc<Mutex<Results>>,
}

/// The two ends of a connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ends {
    pub(crate) peer: SocketAddr,
    pub(crate) own: Option<SocketAddr>,
}

impl Ends {
    /// Whether both are on this machine.
    fn is_local(self) -> bool {
        let peer = self.peer.ip();
        peer.is_loopback() || self.own.is_none_or(|own| own.ip() == peer)
    }
}

impl Connected<IncomingStream<'_, TcpListener>> for Ends {
    fn connect_info(stream: IncomingStream<'_, TcpListener>) -> Self {
        Self {
            peer: *stream.remote_addr(),
            own: stream.io().local_addr().ok(),
        }
    }
}

/// What actions did, until a page has shown it.
#[derive(Debug, Default)]
struct Results {
    last: usize,
    kept: VecDeque<(usize, Result<String, String>)>,
}

/// Serves the dashboard until the process ends. `ready` gets the address that it listens on.
///
/// # Errors
/// Returns an error if it can't listen.
pub fn serve(
    backend: Backend,
    options: &Options,
    ready: impl FnOnce(SocketAddr),
) -> Result<(), ServeError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(BLOCKING_THREADS)
        .build()
        .map_err(ServeError::System)?;
    runtime.block_on(async {
        let address = SocketAddr::new(options.listen, options.port);
        let listener = TcpListener::bind(address)
            .await
            .map_err(|source| ServeError::Listen { address, source })?;
        let address = listener.local_addr().map_err(ServeError::System)?;
        let server = Server::new(backend, options, address.port()).map_err(ServeError::System)?;
        ready(address);
        let service = router(server).into_make_service_with_connect_info::<Ends>();
        axum::serve(listener, service)
            .await
            .map_err(ServeError::System)
    })
}

impl Server {
    #[cfg(test)]
    pub(crate) fn access(&self) -> &Access {
        &self.access
    }

    pub(crate) fn new(backend: Backend, options: &Options, port: u16) -> io::Result<Self> {
        let form_token = new_token().ok_or(io::ErrorKind::Unsupported)?;
        Ok(Self {
            changes: Changes::watch(Arc::clone(&backend.machine))?,
            backend,
            access: Arc::new(Access::new(options, form_token, port)),
            read_only: options.read_only,
            results: Arc::default(),
        })
    }

    /// Makes a page on a thread that may wait for files.
    async fn page(
        self,
        query: Fields,
        make: impl FnOnce(&Site<'_>) -> Option<String> + Send + 'static,
    ) -> Response {
        let made = tokio::task::spawn_blocking(move || {
            let result = self.result(&query);
            let site = Site {
                machine: &*self.backend.machine,
                form_token: (!self.read_only).then_some(self.access.form_token.as_str()),
                query: &query,
                result: result.as_ref(),
                statistics: self.backend.statistics,
            };
            make(&site).ok_or_else(|| pages::not_found(&site))
        });
        match made.await {
            Ok(Ok(page)) => html(StatusCode::OK, page),
            Ok(Err(page)) => html(StatusCode::NOT_FOUND, page),
            Err(_) => refuse(StatusCode::INTERNAL_SERVER_ERROR, "the page can't be made"),
        }
    }

    /// Returns what the action did that led to this page.
    fn result(&self, query: &Fields) -> Option<Result<String, String>> {
        let number = query.number("result")?;
        let results = self.results.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = results.kept.iter().find(|(known, _)| *known == number);
        kept.map(|(_, result)| result.clone())
    }

    fn keep(&self, result: Result<String, String>) -> usize {
        let mut results = self.results.lock().unwrap_or_else(PoisonError::into_inner);
        results.last += 1;
        let number = results.last;
        results.kept.push_back((number, result));
        if results.kept.len() > MAX_RESULTS {
            results.kept.pop_front();
        }
        number
    }
}

pub(crate) fn router(server: Server) -> Router {
    let guarded = Router::new()
        .route("/", get(home))
        .route("/statistics", get(statistics))
        .route("/changes", get(changes))
        .route("/runs/{place}/{run}", get(run))
        .route("/runs/{place}/{run}/act", post(act))
        .route("/runs/{place}/{run}/tasks/{id}/{occurrence}", get(task))
        .route(
            "/runs/{place}/{run}/tasks/{id}/{occurrence}/attempts/{number}/{text}",
            get(attempt_text),
        )
        .layer(from_fn_with_state(server.clone(), known_only));
    Router::new()
        .route("/assets/dashboard.css", get(style))
        .route("/assets/dashboard.js", get(script))
        .merge(guarded)
        .layer(from_fn_with_state(server.clone(), for_us_only))
        .with_state(server)
}

/// Refuses requests for other hosts, and adds the headers that all answers have.
async fn for_us_only(State(server): State<Server>, request: Request, next: Next) -> Response {
    let mut response = if server.access.is_for_us(request.headers()) {
        next.run(request).await
    } else {
        refuse(
            StatusCode::MISDIRECTED_REQUEST,
            "this is not the address of the dashboard; use the one that `regreen serve` printed",
        )
    };
    for (name, value) in HEADERS {
        let headers = response.headers_mut();
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

/// Refuses browsers that have not shown the token.
async fn known_only(State(server): State<Server>, request: Request, next: Next) -> Response {
    let query = Fields::read(request.uri().query().unwrap_or_default().as_bytes());
    let access = &server.access;
    let is_login = access.is_token(query.get("token")) || access.take_ticket(query.get("once"));
    if request.method() == Method::GET && is_login {
        // The address bar and the history must not keep it.
        return see_other("/", Some(&access.cookie()));
    }
    if !access.is_known(request.headers()) {
        return refuse(
            StatusCode::UNAUTHORIZED,
            "open the address that `regreen serve` printed: it has the token",
        );
    }
    next.run(request).await
}

async fn style() -> Response {
    asset("text/css; charset=utf-8", STYLE)
}

async fn script() -> Response {
    asset("text/javascript; charset=utf-8", SCRIPT)
}

fn asset(kind: &'static str, text: &'static str) -> Response {
    ([(header::CONTENT_TYPE, kind)], text).into_response()
}

async fn home(State(server): State<Server>, uri: Uri) -> Response {
    let make = |site: &Site<'_>| Some(pages::home(site));
    server.page(query(&uri), make).await
}

async fn statistics(State(server): State<Server>, uri: Uri) -> Response {
    let make = |site: &Site<'_>| Some(pages::statistics(site));
    server.page(query(&uri), make).await
}

async fn changes(State(server): State<Server>) -> Response {
    let events = server.changes.stream();
    events.map_or_else(
        || refuse(StatusCode::TOO_MANY_REQUESTS, "too many pages are open"),
        |events| ([(header::CONTENT_TYPE, "text/event-stream")], events).into_response(),
    )
}

async fn run(
    State(server): State<Server>,
    Path((place, run)): Path<(String, String)>,
    uri: Uri,
) -> Response {
    let key = RunKey { place, run };
    let make = move |site: &Site<'_>| Some(pages::run(site, &site.machine.run(&key)?));
    server.page(query(&uri), make).await
}

async fn task(
    State(server): State<Server>,
    Path((place, run, id, occurrence)): Path<(String, String, String, u32)>,
    uri: Uri,
) -> Response {
    let key = RunKey { place, run };
    let make = move |site: &Site<'_>| {
        let run = site.machine.run(&key)?;
        pages::task(site, &run, &task_named(&run, &id, occurrence)?)
    };
    server.page(query(&uri), make).await
}

async fn attempt_text(
    State(server): State<Server>,
    Path((place, run, id, occurrence, number, text)): Path<(
        String,
        String,
        String,
        u32,
        u32,
        String,
    )>,
    uri: Uri,
) -> Response {
    let key = RunKey { place, run };
    let make = move |site: &Site<'_>| {
        let text = address::text_named(&text)?;
        let run = site.machine.run(&key)?;
        let task = task_named(&run, &id, occurrence)?;
        let attempt = AttemptRef {
            run: key,
            task,
            number,
        };
        Some(pages::attempt_text(site, &run, &attempt, text))
    };
    server.page(query(&uri), make).await
}

/// Finds a task among those of the run and those of the plan.
fn task_named(run: &RunDetails, id: &str, occurrence: u32) -> Option<regreen_model::TaskKey> {
    let tasks = run.view.tasks.iter().map(|task| &task.key);
    let rows = run.rows.iter().map(|row| &row.key);
    let mut keys = tasks.chain(rows);
    let found = keys.find(|key| key.id.as_str() == id && key.occurrence == occurrence);
    found.cloned()
}

/// Does what a form says, if a person sent it from a page of ours.
async fn act(
    State(server): State<Server>,
    Path((place, run)): Path<(String, String)>,
    ConnectInfo(ends): ConnectInfo<Ends>,
    headers: HeaderMap,
    body: Body,
) -> Response {
    if server.read_only {
        return refuse(
            StatusCode::FORBIDDEN,
            "this dashboard only shows: it was started with --read-only",
        );
    }
    let Ok(body) = to_bytes(body, MAX_FORM).await else {
        return refuse(StatusCode::PAYLOAD_TOO_LARGE, "the form is too long");
    };
    let form = Fields::read(&body);
    let access = &server.access;
    if !access.is_from_us(&headers) || !access.is_form_token(form.get("token")) {
        return refuse(
            StatusCode::FORBIDDEN,
            "this form is not from a page of this dashboard; reload the page",
        );
    }
    let key = RunKey { place, run };
    let done = tokio::task::spawn_blocking(move || perform(&server, ends, &key, &form));
    done.await.unwrap_or_else(|_| {
        refuse(
            StatusCode::INTERNAL_SERVER_ERROR,
            "the action was interrupted",
        )
    })
}

fn perform(server: &Server, ends: Ends, key: &RunKey, form: &Fields) -> Response {
    let may_act = match (server.backend.is_connected_by_a_run)(ends.peer) {
        Some(is_by_a_run) => !is_by_a_run,
        // Someone on another machine, or one of this machine who has already hung up.
        None => !ends.is_local(),
    };
    if !may_act {
        return refuse(
            StatusCode::FORBIDDEN,
            "this decides for a person, and it was sent by an agent, a check or a hook",
        );
    }
    let machine = &server.backend.machine;
    let Some(run) = machine.run(key) else {
        return refuse(StatusCode::NOT_FOUND, "there is no such run");
    };
    let Some(action) = form.action(|id, occurrence| task_named(&run, id, occurrence)) else {
        return refuse(StatusCode::BAD_REQUEST, "the form is incomplete");
    };
    let number = server.keep(machine.act(key, &action));
    let page = match form.get("task") {
        "" => address::run(key),
        id => {
            let occurrence = form.get("occurrence").parse().unwrap_or(0);
            let task = task_named(&run, id, occurrence);
            task.map_or_else(|| address::run(key), |task| address::task(key, &task))
        }
    };
    see_other(&format!("{page}?result={number}"), None)
}

fn query(uri: &Uri) -> Fields {
    Fields::read(uri.query().unwrap_or_default().as_bytes())
}

fn html(status: StatusCode, page: String) -> Response {
    let kind = [(header::CONTENT_TYPE, "text/html; charset=utf-8")];
    (status, kind, page).into_response()
}

fn refuse(status: StatusCode, why: &'static str) -> Response {
    html(status, pages::refusal(why))
}

fn see_other(to: &str, cookie: Option<&str>) -> Response {
    let mut response = StatusCode::SEE_OTHER.into_response();
    let headers = response.headers_mut();
    let values = [(header::LOCATION, Some(to)), (header::SET_COOKIE, cookie)];
    for (name, value) in values {
        if let Some(value) = value.and_then(|value| HeaderValue::from_str(value).ok()) {
            headers.insert(name, value);
        }
    }
    response
}
