//! Whole answers of the server, above all to those who should get none.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex};

use axum::body::{Body, to_bytes};
use axum::extract::ConnectInfo;
use axum::http::{Request, Response, StatusCode, header};
use regreen_model::{
    ChoiceKind, Event, FailureRecord, OutlineKind, OutlineRow, PromptKind, RunConfig, Spending,
    TaskId, TaskKey, Timestamp,
};
use regreen_overview::{
    Action, Activity, AnswerChoice, AttemptRef, AttemptText, ChangeFeed, LogPage, Machine,
    PageStart, RunDetails, RunKey, RunState, RunSummary, RunView,
};
use tower::ServiceExt as _;

use crate::server::{Ends, Server, router};
use crate::{Backend, Options};

const TOKEN: &str = "0123456789abcdef";
const TICKET: &str = "once-upon-a-time";
const PORT: u16 = 4747;
const HOST: &str = "127.0.0.1:4747";
const ORIGIN: &str = "http://127.0.0.1:4747";
const HOSTILE: &str = "</p><script>alert(1)</script><img src=x onerror='y'>\u{202e}";

/// A machine with one run, whose texts are all hostile.
#[derive(Debug, Default)]
struct OneRun {
    done: Mutex<Vec<Action>>,
    tasks: u32,
}

fn key(id: &str) -> TaskKey {
    TaskKey {
        id: TaskId::parse(id).unwrap(),
        occurrence: 0,
        title: HOSTILE.to_owned(),
    }
}

fn run_key() -> RunKey {
    RunKey {
        place: "0a1b".to_owned(),
        run: "r1".to_owned(),
    }
}

impl OneRun {
    fn view(&self) -> RunView {
        let mut view = RunView::default();
        let config = RunConfig::default();
        let started = Event::RunStarted {
            run: "r1".to_owned(),
            config,
            after_limit: false,
            lost: Vec::new(),
            earlier: Vec::new(),
            environment: Vec::new(),
        };
        let attempt = Event::AttemptStarted {
            seq: 1,
            task: key("1.1"),
            attempt: 1,
            prompt: PromptKind::First,
            timeout_ms: 1,
        };
        let failed = Event::TaskFailed {
            task: key("1.1"),
            attempt: 1,
            failure: FailureRecord::new(HOSTILE),
            only_red: false,
        };
        let warned = Event::Warned {
            message: HOSTILE.to_owned(),
        };
        let asked = Event::PersonAsked {
            seq: 2,
            task: key("1.1"),
            why: HOSTILE.to_owned(),
            repair: None,
        };
        for (at, event) in (1..).zip([started, attempt, failed, warned, asked]) {
            view.apply(Timestamp::from_millis(at * 1000), &event);
        }
        view
    }

    fn summary(&self) -> RunSummary {
        RunSummary {
            key: run_key(),
            spec: HOSTILE.to_owned(),
            workspace: HOSTILE.to_owned(),
            state: RunState::NeedsPerson,
            process: Some(1),
            last_sign: Timestamp::from_millis(1),
            started: Timestamp::from_millis(1),
            activity: Activity::Asking {
                since: Timestamp::from_millis(1),
            },
            current: Some(key("1.1")),
            spent: Spending::default(),
            done: (0, 1),
            questions: vec![(key("1.1"), HOSTILE.to_owned())],
        }
    }
}

impl Machine for OneRun {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(60_000)
    }

    fn runs(&self) -> Vec<RunSummary> {
        vec![self.summary()]
    }

    fn run(&self, key: &RunKey) -> Option<RunDetails> {
        let row = |id: String| OutlineRow {
            key: self::key(&id),
            depth: 0,
            kind: OutlineKind::Task,
            done: false,
            optional: false,
            features: regreen_model::TaskFeatures::default(),
            line: 0,
        };
        (*key == run_key()).then(|| RunDetails {
            summary: self.summary(),
            view: Arc::new(self.view()),
            rows: Arc::new(
                (1..=self.tasks.max(1))
                    .map(|n| row(format!("1.{n}")))
                    .collect(),
            ),
            earlier: Vec::new(),
        })
    }

    fn text(
        &self,
        _attempt: &AttemptRef,
        _text: AttemptText,
        blamed: Option<&str>,
        start: PageStart,
        lines: usize,
    ) -> Result<LogPage, String> {
        let log = format!("+{HOSTILE}\n-{HOSTILE}\n");
        LogPage::read(&mut log.as_bytes(), blamed, start, lines).map_err(|error| error.to_string())
    }

    fn act(&self, _run: &RunKey, action: &Action) -> Result<String, String> {
        self.done.lock().unwrap().push(action.clone());
        Ok(HOSTILE.to_owned())
    }

    fn watch(&self) -> io::Result<ChangeFeed> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// A dashboard, and what was done through it.
struct Dashboard {
    server: Server,
    machine: Arc<OneRun>,
}

#[derive(Clone, Copy)]
enum Sender {
    Person,
    Agent,
    /// Nobody has the other end of the connection any more.
    Gone,
}

impl Dashboard {
    fn new() -> Self {
        Self::with(OneRun::default(), false, Sender::Person)
    }

    fn with(machine: OneRun, read_only: bool, sender: Sender) -> Self {
        let machine = Arc::new(machine);
        let options = Options {
            listen: IpAddr::V4(Ipv4Addr::LOCALHOST),
            port: PORT,
            read_only,
            token: TOKEN.to_owned(),
            ticket: Some(TICKET.to_owned()),
        };
        let backend = Backend {
            machine: Arc::clone(&machine) as Arc<dyn Machine>,
            statistics: || None,
            is_connected_by_a_run: match sender {
                Sender::Person => |_| Some(false),
                Sender::Agent => |_| Some(true),
                Sender::Gone => |_| None,
            },
        };
        let server = Server::new(backend, &options, PORT).unwrap();
        Self { server, machine }
    }

    fn send(&self, request: Request<Body>) -> Response<Body> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        let (mut parts, body) = request.into_parts();
        let address = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 50_000);
        parts.extensions.insert(ConnectInfo(Ends {
            peer: address,
            own: Some(address),
        }));
        let request = Request::from_parts(parts, body);
        runtime
            .block_on(router(self.server.clone()).oneshot(request))
            .unwrap()
    }

    fn get(&self, path: &str) -> Response<Body> {
        self.send(known(path).body(Body::empty()).unwrap())
    }

    fn page(&self, path: &str) -> String {
        let response = self.get(path);
        assert_eq!(response.status(), StatusCode::OK, "{path}");
        text(response)
    }

    fn post(&self, origin: Option<&str>, form: &str) -> Response<Body> {
        let mut request = known("/runs/0a1b/r1/act").method("POST");
        if let Some(origin) = origin {
            request = request.header(header::ORIGIN, origin);
        }
        self.send(request.body(Body::from(form.to_owned())).unwrap())
    }

    /// Returns the token that its forms carry.
    fn form_token(&self) -> String {
        let page = self.page("/runs/0a1b/r1");
        let (_, rest) = page.split_once("name=\"token\" value=\"").unwrap();
        rest.split('"').next().unwrap().to_owned()
    }

    fn done(&self) -> Vec<Action> {
        self.machine.done.lock().unwrap().clone()
    }
}

fn text(response: Response<Body>) -> String {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let bytes = runtime.block_on(to_bytes(response.into_body(), usize::MAX));
    String::from_utf8(bytes.unwrap().to_vec()).unwrap()
}

fn anyone(path: &str) -> axum::http::request::Builder {
    Request::builder().uri(path).header(header::HOST, HOST)
}

fn known(path: &str) -> axum::http::request::Builder {
    anyone(path).header(header::COOKIE, format!("a=b; regreen-{PORT}={TOKEN}"))
}

const PAGES: [&str; 7] = [
    "/",
    "/statistics",
    "/runs/0a1b/r1",
    "/runs/0a1b/r1/tasks/1%2E1/0",
    "/runs/0a1b/r1/tasks/1%2E1/0/attempts/1/log",
    "/runs/0a1b/r1/tasks/1%2E1/0/attempts/1/diff",
    "/changes",
];

#[test]
fn nobody_sees_anything_without_the_token() {
    let dashboard = Dashboard::new();
    for path in PAGES {
        for cookie in [
            "",
            "regreen-4747=",
            "regreen-4747=0123456789abcdee",
            "regreen-1=0123456789abcdef",
        ] {
            let request = anyone(path).header(header::COOKIE, cookie);
            let response = dashboard.send(request.body(Body::empty()).unwrap());
            assert_eq!(
                response.status(),
                StatusCode::UNAUTHORIZED,
                "{path} {cookie}"
            );
            assert!(!text(response).contains("1.1"), "{path}");
        }
    }
}

#[test]
fn the_token_in_the_address_logs_in_and_leaves_the_address_bar() {
    let dashboard = Dashboard::new();
    let login = |path: &str| dashboard.send(anyone(path).body(Body::empty()).unwrap());
    let response = login(&format!("/?token={TOKEN}"));
    assert_eq!(response.status(), StatusCode::SEE_OTHER);
    assert_eq!(response.headers()[header::LOCATION], "/");
    assert_eq!(
        response.headers()[header::SET_COOKIE],
        "regreen-4747=0123456789abcdef; HttpOnly; SameSite=Strict; Path=/"
    );
    assert_eq!(login("/?token=guess").status(), StatusCode::UNAUTHORIZED);
}

#[test]
fn what_other_users_see_of_a_browser_that_is_started_logs_in_only_once() {
    let dashboard = Dashboard::new();
    let login = || {
        let request = anyone(&format!("/?once={TICKET}"));
        dashboard
            .send(request.body(Body::empty()).unwrap())
            .status()
    };
    assert_eq!(login(), StatusCode::SEE_OTHER);
    assert_eq!(login(), StatusCode::UNAUTHORIZED);
}

#[test]
fn another_name_that_leads_here_is_refused() {
    let dashboard = Dashboard::new();
    let ask = |host: &str| {
        let request = Request::builder()
            .uri("/")
            .header(header::HOST, host)
            .header(header::COOKIE, format!("regreen-{PORT}={TOKEN}"));
        dashboard
            .send(request.body(Body::empty()).unwrap())
            .status()
    };
    for host in [
        "evil.example:4747",
        "127.0.0.1.evil.example:4747",
        "localhost.evil.example:4747",
        "127.0.0.1",
        "127.0.0.1:80",
        "user@127.0.0.1:4747",
        "",
    ] {
        assert_eq!(ask(host), StatusCode::MISDIRECTED_REQUEST, "{host}");
    }
    for host in [
        "127.0.0.1:4747",
        "localhost:4747",
        "[::1]:4747",
        "192.168.1.7:4747",
    ] {
        assert_eq!(ask(host), StatusCode::OK, "{host}");
    }
}

#[test]
fn a_form_of_another_site_does_nothing() {
    let dashboard = Dashboard::new();
    let form = format!("token={}&action=stop", dashboard.form_token());
    for origin in [
        None,
        Some("null"),
        Some("http://evil.example"),
        Some("http://127.0.0.1:4748"),
        Some("https://127.0.0.1:4747"),
    ] {
        let response = dashboard.post(origin, &form);
        assert_eq!(response.status(), StatusCode::FORBIDDEN, "{origin:?}");
    }
    for form in [
        "action=stop",
        "token=&action=stop",
        "token=0123456789abcdef&action=stop",
    ] {
        let response = dashboard.post(Some(ORIGIN), form);
        assert_eq!(response.status(), StatusCode::FORBIDDEN, "{form}");
    }
    assert_eq!(dashboard.done(), []);
}

#[test]
fn an_action_needs_a_post() {
    let dashboard = Dashboard::new();
    let token = dashboard.form_token();
    let response = dashboard.get(&format!("/runs/0a1b/r1/act?token={token}&action=stop"));
    assert_eq!(response.status(), StatusCode::METHOD_NOT_ALLOWED);
    assert_eq!(dashboard.done(), []);
}

#[test]
fn an_agent_that_has_the_token_decides_nothing() {
    for sender in [Sender::Agent, Sender::Gone] {
        let dashboard = Dashboard::with(OneRun::default(), false, sender);
        let token = dashboard.form_token();
        let answer = "action=answer&task=1.1&occurrence=0&choice=done";
        let response = dashboard.post(Some(ORIGIN), &format!("token={token}&{answer}"));
        assert_eq!(response.status(), StatusCode::FORBIDDEN);
        assert_eq!(dashboard.done(), []);
    }
}

#[test]
fn a_dashboard_that_only_shows_has_no_forms_and_takes_none() {
    let dashboard = Dashboard::with(OneRun::default(), true, Sender::Person);
    for path in &PAGES[..6] {
        assert!(!dashboard.page(path).contains("method=\"post\""), "{path}");
    }
    let token = &dashboard.server.access().form_token;
    let response = dashboard.post(Some(ORIGIN), &format!("token={token}&action=stop"));
    assert_eq!(response.status(), StatusCode::FORBIDDEN);
    assert_eq!(dashboard.done(), []);
}

#[test]
fn a_person_answers_decides_and_stops_with_the_forms_of_a_page() {
    let dashboard = Dashboard::new();
    let token = dashboard.form_token();
    let send = |form: &str| {
        let response = dashboard.post(Some(ORIGIN), &format!("token={token}&{form}"));
        assert_eq!(response.status(), StatusCode::SEE_OTHER, "{form}");
        response.headers()[header::LOCATION]
            .to_str()
            .unwrap()
            .to_owned()
    };
    let of = "task=1.1&occurrence=0";
    let page = send(&format!(
        "action=answer&choice=context&text=use+%26+that&{of}"
    ));
    assert_eq!(page, "/runs/0a1b/r1/tasks/1%2E1/0?result=1");
    send(&format!("action=retry&{of}"));
    assert_eq!(send("action=stop-after-task"), "/runs/0a1b/r1?result=3");
    send("action=stop");
    assert_eq!(
        dashboard.done(),
        [
            Action::Answer {
                task: key("1.1"),
                choice: AnswerChoice::Context,
                text: "use & that".to_owned()
            },
            Action::Choose {
                task: key("1.1"),
                what: ChoiceKind::Retry
            },
            Action::StopAfterTask,
            Action::Stop,
        ]
    );
    // The page after an action says what it did.
    assert!(dashboard.page(&page).contains("role=\"status\""));
}

#[test]
fn a_form_that_says_nothing_known_does_nothing() {
    let dashboard = Dashboard::new();
    let token = dashboard.form_token();
    for form in [
        "",
        "action=format",
        "action=answer&task=9.9&occurrence=0&choice=done",
        "action=answer&task=1.1&occurrence=0&choice=everything",
        "action=retry",
    ] {
        let response = dashboard.post(Some(ORIGIN), &format!("token={token}&{form}"));
        assert_eq!(response.status(), StatusCode::BAD_REQUEST, "{form}");
    }
    let long = format!("token={token}&action=stop&text={}", "x".repeat(100_000));
    let response = dashboard.post(Some(ORIGIN), &long);
    assert_eq!(response.status(), StatusCode::PAYLOAD_TOO_LARGE);
    assert_eq!(dashboard.done(), []);
}

#[test]
fn no_text_of_an_agent_becomes_a_part_of_a_page() {
    let dashboard = Dashboard::new();
    let token = dashboard.form_token();
    dashboard.post(Some(ORIGIN), &format!("token={token}&action=stop"));
    let query = "?result=1&q=%3Cscript%3Ealert(1)%3C/script%3E&show=%22%3E%3Cimg";
    for path in &PAGES[..6] {
        let page = dashboard.page(&format!("{path}{query}"));
        for part in ["<script>", "alert(1)<", "<img", "onerror='", "\u{202e}"] {
            assert!(!page.contains(part), "{path}: {part}: {page}");
        }
    }
}

#[test]
fn pages_load_and_run_only_what_the_dashboard_brings() {
    let dashboard = Dashboard::new();
    let mut weight = 0;
    for path in [
        "/",
        "/runs/0a1b/r1",
        "/assets/dashboard.css",
        "/assets/dashboard.js",
        "/nothing",
    ] {
        let response = dashboard.get(path);
        let policy = response.headers()[header::CONTENT_SECURITY_POLICY]
            .to_str()
            .unwrap();
        assert!(policy.starts_with("default-src 'none'; script-src 'self'; style-src 'self';"));
        assert!(policy.contains("frame-ancestors 'none'") && !policy.contains("unsafe"));
        assert_eq!(
            response.headers()[header::X_CONTENT_TYPE_OPTIONS],
            "nosniff"
        );
        assert_eq!(response.headers()[header::CACHE_CONTROL], "no-store");
        let text = text(response);
        for part in ["http://", "https://", "style=", "onclick"] {
            assert!(!text.contains(part), "{path}: {part}");
        }
        weight += text.len();
    }
    assert!(weight < 150 * 1024, "{weight} bytes");
}

#[test]
fn a_plan_with_ten_thousand_tasks_is_divided_into_pages() {
    let machine = OneRun {
        tasks: 10_000,
        ..OneRun::default()
    };
    let dashboard = Dashboard::with(machine, false, Sender::Person);
    let page = dashboard.page("/runs/0a1b/r1?page=50");
    assert!(page.len() < 150 * 1024, "{} bytes", page.len());
    assert!(page.contains("page 50 of 50") && page.contains("1.10000"));
    let page = dashboard.page("/runs/0a1b/r1?q=1.9999");
    assert!(page.contains("1.9999") && !page.contains("1.9998"));
}
