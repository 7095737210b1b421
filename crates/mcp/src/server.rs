//! Speaks the protocol.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use regreen_model::{Timestamp, visible_line};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CancelTaskParams, ContentBlock,
    GetTaskParams, GetTaskResult, Implementation, ListToolsResult, PaginatedRequestParams,
    ProgressNotificationParam, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt as _};
use serde_json::{Value, json};
use tokio::runtime::Builder;
use tokio::sync::mpsc;

use crate::cancellation::Cancellation;
use crate::command::{CallKind, CommandCall, CommandResult, Commands, StartedRun};
use crate::{arguments, calls, runs, tools};

/// What clients are told about the server as a whole.
const INSTRUCTIONS: &str = include_str!("instructions.md");
/// How long commands that are ended may take when the client is gone.
const GRACE: Duration = Duration::from_secs(10);
/// The longest message about progress.
const MESSAGE_CHARS: usize = 300;

/// How the server behaves.
#[derive(Clone, Debug)]
pub struct Options {
    /// The version of regreen.
    pub version: String,
    /// Whether clients may answer questions, as the user's own configuration says.
    pub may_answer: bool,
    /// Returns the time.
    pub now: fn() -> Timestamp,
}

/// Why the server couldn't do its work.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The system gave it no thread or no timer.
    #[error("the server can't start")]
    Start(#[source] io::Error),
    /// The client doesn't speak the protocol.
    #[error("the client doesn't speak MCP: {0}")]
    Protocol(String),
}

/// Serves a client on standard input and output until it is gone.
///
/// # Errors
/// Returns an error if the client never spoke the protocol.
pub fn serve(commands: Arc<dyn Commands>, options: Options) -> Result<(), ServeError> {
    let runtime = Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(ServeError::Start)?;
    let face = Face::new(commands, options);
    let active = Arc::clone(&face.active);
    let served = runtime.block_on(serve_on(face, tokio::io::stdin(), tokio::io::stdout()));
    cancel_all(&active);
    // Also leaves the thread that still reads standard input.
    runtime.shutdown_timeout(GRACE);
    served
}

fn cancel_all(active: &Active) {
    let mut active = active.lock().unwrap_or_else(PoisonError::into_inner);
    for cancellation in std::mem::take(&mut *active).into_values() {
        cancellation.cancel();
    }
}

/// Serves a client until it is gone.
pub(crate) async fn serve_on(
    face: Face,
    input: impl tokio::io::AsyncRead + Send + Unpin + 'static,
    output: impl tokio::io::AsyncWrite + Send + Unpin + 'static,
) -> Result<(), ServeError> {
    let service = face.serve((input, output)).await;
    let service = service.map_err(|error| ServeError::Protocol(error.to_string()))?;
    // How a client leaves makes no difference.
    let _ = service.waiting().await;
    Ok(())
}

/// The commands that are being performed, by the order in which they came.
type Active = Arc<Mutex<BTreeMap<u64, Cancellation>>>;

/// The server of one client.
pub(crate) struct Face {
    commands: Arc<dyn Commands>,
    options: Options,
    tools: Vec<Tool>,
    active: Active,
}

impl Face {
    pub(crate) fn new(commands: Arc<dyn Commands>, options: Options) -> Self {
        Self {
            commands,
            tools: tools::tools(options.may_answer),
            options,
            active: Arc::default(),
        }
    }

    /// Returns the command for a call.
    fn command(&self, request: &CallToolRequestParams) -> Result<CommandCall, ToolFault> {
        let tool = self.tools.iter().find(|tool| tool.name == request.name);
        let tool = tool.ok_or(ToolFault::Unknown)?;
        let given = request.arguments.clone().unwrap_or_default();
        arguments::check(tools::input_schema(tool), &given).map_err(ToolFault::Arguments)?;
        calls::command(&tool.name, &given).ok_or(ToolFault::Unknown)
    }

    async fn start_run(&self, call: CommandCall, as_task: bool) -> CallToolResponse {
        let commands = Arc::clone(&self.commands);
        let started = tokio::task::spawn_blocking(move || commands.start_run(&call)).await;
        match started {
            Ok(Ok(run)) if as_task => {
                CallToolResponse::Task(runs::created(&run, (self.options.now)()))
            }
            Ok(Ok(run)) => started_run(&run).into(),
            Ok(Err(result)) => structured(&result, None).into(),
            Err(error) => failed(&error.to_string()).into(),
        }
    }

    /// Performs a command on a thread of its own, and tells the client what it says meanwhile.
    async fn perform(&self, call: CommandCall, context: &RequestContext<RoleServer>) -> Performed {
        let (number, cancellation) = self.register();
        let performed = self.perform_until(call, &cancellation, context).await;
        self.active().remove(&number);
        performed
    }

    async fn perform_until(
        &self,
        call: CommandCall,
        cancellation: &Cancellation,
        context: &RequestContext<RoleServer>,
    ) -> Performed {
        let (sender, mut messages) = mpsc::unbounded_channel();
        let commands = Arc::clone(&self.commands);
        let canceled = cancellation.clone();
        let mut work = tokio::task::spawn_blocking(move || {
            commands.perform(&call, &canceled, &mut |line| {
                // Nobody listens to a request that was canceled.
                let _ = sender.send(line.to_owned());
            })
        });
        let mut told = 0_u32;
        loop {
            tokio::select! {
                done = &mut work => return done.map_err(io::Error::other).flatten(),
                () = context.ct.cancelled() => {
                    cancellation.cancel();
                    return work.await.map_err(io::Error::other).flatten();
                }
                Some(line) = messages.recv() => {
                    told += 1;
                    tell(context, told, &line).await;
                }
            }
        }
    }

    fn register(&self) -> (u64, Cancellation) {
        let mut active = self.active();
        let number = active.last_key_value().map_or(0, |(last, _)| last + 1);
        let cancellation = Cancellation::default();
        active.insert(number, cancellation.clone());
        (number, cancellation)
    }

    fn active(&self) -> MutexGuard<'_, BTreeMap<u64, Cancellation>> {
        self.active.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

type Performed = io::Result<CommandResult>;

/// Why a call isn't performed.
enum ToolFault {
    Unknown,
    Arguments(String),
}

impl ServerHandler for Face {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_tasks()
            .build();
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("regreen", &self.options.version))
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.tools.clone()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.tools.iter().find(|tool| tool.name == name).cloned()
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let call = match self.command(&request) {
            Ok(call) => call,
            Err(ToolFault::Arguments(fault)) => return Ok(failed(&fault).into()),
            Err(ToolFault::Unknown) => {
                let unknown = format!("unknown tool `{}`", request.name);
                return Err(ErrorData::invalid_params(unknown, None));
            }
        };
        if call.kind == CallKind::Run {
            let as_task = context
                .client_capabilities()
                .is_some_and(|client| client.supports_tasks());
            return Ok(self.start_run(call, as_task).await);
        }
        let list = calls::list_name(&request.name);
        Ok(match self.perform(call, &context).await {
            Ok(result) => structured(&result, list).into(),
            Err(error) => failed(&format!("regreen can't be started: {error}")).into(),
        })
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        let commands = Arc::clone(&self.commands);
        let key = request.task_id.clone();
        let found = tokio::task::spawn_blocking(move || commands.run_progress(&key)).await;
        match found.ok().flatten() {
            Some(progress) => Ok(runs::state(&request.task_id, &progress)),
            None => Err(no_run(&request.task_id)),
        }
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let commands = Arc::clone(&self.commands);
        let stopped = tokio::task::spawn_blocking(move || commands.stop_run(&request.task_id));
        match stopped.await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(why)) => Err(ErrorData::invalid_params(why, None)),
            Err(error) => Err(ErrorData::internal_error(error.to_string(), None)),
        }
    }
}

fn no_run(key: &str) -> ErrorData {
    ErrorData::invalid_params(format!("no run `{key}` on this machine"), None)
}

/// Tells the client what a command says, if it wants to know.
async fn tell(context: &RequestContext<RoleServer>, told: u32, line: &str) {
    let Some(token) = context.meta.get_progress_token() else {
        return;
    };
    let message = visible_line(line, MESSAGE_CHARS);
    let progress = ProgressNotificationParam::new(token, f64::from(told)).with_message(message);
    // The result matters more.
    let _ = context.peer.notify_progress(progress).await;
}

/// Returns what a command printed as the result of a tool.
pub(crate) fn structured(result: &CommandResult, list: Option<&str>) -> CallToolResult {
    let parsed = serde_json::from_str::<Value>(&result.output).ok();
    let parsed = match (parsed, list) {
        (Some(items), Some(name)) => Some(json!({ name: items })),
        (parsed, _) => parsed.filter(Value::is_object),
    };
    let is_error = result.exit_code != Some(0);
    let mut text = result.output.trim_end().to_owned();
    if is_error || text.is_empty() {
        text = join(&text, &result.messages);
    }
    let content = vec![ContentBlock::text(text)];
    let mut answer = if is_error {
        CallToolResult::error(content)
    } else {
        CallToolResult::success(content)
    };
    answer.structured_content = parsed;
    answer
}

fn started_run(run: &StartedRun) -> CallToolResult {
    let text = format!(
        "run {} of {} started; `status` shows how far it is, and `stop` ends it",
        run.run, run.spec
    );
    let mut answer = CallToolResult::success(vec![ContentBlock::text(text)]);
    answer.structured_content =
        Some(json!({ "run": run.run, "spec": run.spec, "process": run.process }));
    answer
}

fn failed(why: &str) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(why.to_owned())])
}

fn join(text: &str, messages: &str) -> String {
    let parts = [text, messages.trim_end()].into_iter();
    let parts: Vec<&str> = parts.filter(|part| !part.is_empty()).collect();
    parts.join("\n\n")
}
