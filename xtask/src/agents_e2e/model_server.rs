//! A loopback server that answers like a model, with scripted replies.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use serde_json::Value;

use super::agents::Cli;
use super::dialect;

/// The answer to one request.
#[derive(Clone, Debug)]
pub(crate) enum Reply {
    /// Text, and tool calls.
    Say(&'static str, Vec<Tool>),
    Fail(Failure),
    /// Never answers.
    Hang,
}

#[derive(Clone, Debug)]
pub(crate) enum Tool {
    /// Writes a file in the workspace.
    Write(&'static str, &'static str),
    Run(&'static str),
    /// Asks the person at the keyboard.
    Ask(&'static str),
}

/// The error of a service that refuses a request.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    pub(crate) status: u16,
    pub(crate) word: &'static str,
    pub(crate) message: &'static str,
    pub(crate) retry_after: Option<u32>,
}

impl Reply {
    pub(crate) fn say(text: &'static str) -> Self {
        Self::Say(text, Vec::new())
    }

    pub(crate) fn write(path: &'static str, content: &'static str) -> Self {
        Self::Say("Writing.", vec![Tool::Write(path, content)])
    }

    pub(crate) fn run(command: &'static str) -> Self {
        Self::Say("Trying.", vec![Tool::Run(command)])
    }

    pub(crate) fn ask(question: &'static str) -> Self {
        Self::Say("I have a question.", vec![Tool::Ask(question)])
    }

    pub(crate) fn fail(status: u16, word: &'static str, message: &'static str) -> Self {
        Self::Fail(Failure {
            status,
            word,
            message,
            retry_after: None,
        })
    }
}

/// Answers for as long as the process lives; each scenario gets its own.
#[derive(Clone, Debug)]
pub(crate) struct ModelServer {
    pub(crate) port: u16,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    cli: Cli,
    root: PathBuf,
    replies: Vec<Reply>,
    /// How many requests were answered from the script.
    asked: Mutex<usize>,
    /// The bodies of these requests.
    requests: Mutex<Vec<String>>,
}

impl ModelServer {
    /// Gives the replies one after the other; the last one repeats.
    pub(crate) fn start(cli: Cli, root: PathBuf, replies: Vec<Reply>) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let port = listener.local_addr()?.port();
        let shared = Arc::new(Shared {
            cli,
            root,
            replies,
            asked: Mutex::default(),
            requests: Mutex::default(),
        });
        let server = Self { port, shared };
        let serving = server.clone();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let serving = serving.clone();
                // A client that hangs up does not matter.
                thread::spawn(move || serving.serve(stream).ok());
            }
        });
        Ok(server)
    }

    /// Returns the bodies of the requests that were answered from the script.
    pub(crate) fn requests(&self) -> Vec<String> {
        let requests = self.shared.requests.lock();
        requests.unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn serve(&self, stream: TcpStream) -> io::Result<()> {
        let mut reader = BufReader::new(stream.try_clone()?);
        let mut stream = stream;
        let (path, body) = read_request(&mut reader)?;
        if path.contains("ount_tokens") || path.contains("countTokens") {
            return respond(
                &mut stream,
                200,
                None,
                r#"{"input_tokens":100,"totalTokens":100}"#,
            );
        }
        let asks = [
            "/messages",
            "/responses",
            "/chat/completions",
            "enerateContent",
        ];
        let path = path.split('?').next().unwrap_or_default();
        if !asks.iter().any(|end| path.ends_with(end)) {
            return respond(
                &mut stream,
                404,
                None,
                r#"{"error":{"message":"not here"}}"#,
            );
        }
        let (number, reply) = self.next(&body);
        let cli = self.shared.cli;
        match reply {
            Reply::Say(text, tools) => {
                let parts = dialect::answer(cli, &self.shared.root, number, text, &tools);
                stream_parts(&mut stream, cli, &parts)
            }
            Reply::Fail(failure) => {
                let text = dialect::failure(cli, &failure).to_string();
                respond(&mut stream, failure.status, failure.retry_after, &text)
            }
            Reply::Hang => {
                thread::sleep(Duration::from_secs(3600));
                Ok(())
            }
        }
    }

    /// Returns the next reply. Requests without tools are for titles and the like.
    fn next(&self, body: &str) -> (usize, Reply) {
        let request: Value = serde_json::from_str(body).unwrap_or_default();
        let has_tools = request["tools"]
            .as_array()
            .is_some_and(|tools| !tools.is_empty());
        if !has_tools {
            return (0, Reply::say("ok"));
        }
        let asked = self.shared.asked.lock();
        let mut asked = asked.unwrap_or_else(PoisonError::into_inner);
        *asked += 1;
        let number = *asked;
        let requests = self.shared.requests.lock();
        let mut requests = requests.unwrap_or_else(PoisonError::into_inner);
        requests.push(body.to_owned());
        let replies = &self.shared.replies;
        let reply = replies.get(number - 1).or(replies.last()).cloned();
        (number, reply.unwrap_or(Reply::Hang))
    }
}

fn read_request(reader: &mut impl BufRead) -> io::Result<(String, String)> {
    let mut first = String::new();
    reader.read_line(&mut first)?;
    let path = first.split(' ').nth(1).unwrap_or_default().to_owned();
    let (mut length, mut chunked) = (0, false);
    loop {
        let mut header = String::new();
        if reader.read_line(&mut header)? == 0 || header.trim().is_empty() {
            break;
        }
        let header = header.to_lowercase();
        if let Some(value) = header.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap_or(0);
        }
        chunked |= header.starts_with("transfer-encoding:") && header.contains("chunked");
    }
    let mut body = Vec::new();
    if chunked {
        read_chunks(reader, &mut body)?;
    } else {
        reader.take(length).read_to_end(&mut body)?;
    }
    Ok((path, String::from_utf8_lossy(&body).into_owned()))
}

fn read_chunks(reader: &mut impl BufRead, body: &mut Vec<u8>) -> io::Result<()> {
    loop {
        let mut size = String::new();
        reader.read_line(&mut size)?;
        let size = u64::from_str_radix(size.trim(), 16).unwrap_or(0);
        reader.take(size).read_to_end(body)?;
        let mut end = String::new();
        reader.read_line(&mut end)?;
        if size == 0 {
            return Ok(());
        }
    }
}

fn respond(
    stream: &mut TcpStream,
    status: u16,
    retry_after: Option<u32>,
    body: &str,
) -> io::Result<()> {
    let retry = retry_after.map(|seconds| format!("retry-after: {seconds}\r\n"));
    let length = body.len();
    write!(
        stream,
        "HTTP/1.1 {status} Scripted\r\ncontent-type: application/json\r\n{}content-length: {length}\r\nconnection: close\r\n\r\n{body}",
        retry.unwrap_or_default()
    )
}

fn stream_parts(stream: &mut TcpStream, cli: Cli, parts: &[dialect::Part]) -> io::Result<()> {
    write!(
        stream,
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"
    )?;
    for (event, data) in parts {
        if !event.is_empty() {
            writeln!(stream, "event: {event}")?;
        }
        write!(stream, "data: {data}\n\n")?;
    }
    if cli == Cli::Opencode {
        write!(stream, "data: [DONE]\n\n")?;
    }
    stream.flush()
}
