//! A browser, driven through WebDriver: JSON over HTTP on this machine.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{Result, fail};

/// Far more than anything takes, even on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// What keeps the browser to itself.
const FLAGS: [&str; 8] = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
];

/// A browser with one window.
pub(super) struct Browser {
    driver: Child,
    port: u16,
    session: String,
    _profile: tempfile::TempDir,
}

impl Browser {
    pub(super) fn start(folder: &Path) -> Result<Self> {
        let log = std::fs::File::create(folder.join("chromedriver.log"))?;
        let mut driver = Command::new("chromedriver")
            .arg("--port=0")
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()?;
        let output = driver.stdout.take().ok_or("chromedriver has no output")?;
        let mut lines = BufReader::new(output).lines();
        let port = lines.find_map(|line| {
            let line = line.ok()?;
            let (_, port) = line.split_once("started successfully on port ")?;
            port.trim_end_matches('.').parse().ok()
        });
        let profile = tempfile::tempdir()?;
        let mut browser = Self {
            driver,
            port: port.ok_or("chromedriver names no port")?,
            session: String::new(),
            _profile: profile,
        };
        browser.session = browser.open_session()?;
        Ok(browser)
    }

    fn open_session(&self) -> Result<String> {
        let profile = format!("--user-data-dir={}", self._profile.path().display());
        let flags = FLAGS.iter().map(|flag| json!(flag));
        let flags: Vec<Value> = flags.chain([json!(profile)]).collect();
        let wanted = json!({"capabilities": {"alwaysMatch": {
            "goog:chromeOptions": {"args": flags},
            "goog:loggingPrefs": {"browser": "ALL"},
        }}});
        let session = self.call("POST", "/session", &wanted)?;
        let id = session["sessionId"].as_str();
        Ok(id.ok_or("chromedriver opens no session")?.to_owned())
    }

    /// Sends a command about the session, and returns its value.
    fn command(&self, method: &str, path: &str, body: &Value) -> Result<Value> {
        self.call(method, &format!("/session/{}{path}", self.session), body)
    }

    fn call(&self, method: &str, path: &str, body: &Value) -> Result<Value> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port))?;
        let body = if method == "GET" {
            String::new()
        } else {
            body.to_string()
        };
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
            self.port,
            body.len()
        )?;
        let answer: Value = serde_json::from_slice(&read_body(stream)?)?;
        let value = answer["value"].clone();
        if let Some(error) = value["error"].as_str() {
            return fail(format!("{path}: {error}: {}", value["message"]));
        }
        Ok(value)
    }

    pub(super) fn go(&self, address: &str) -> Result<()> {
        self.command("POST", "/url", &json!({"url": address}))?;
        Ok(())
    }

    /// Sets the size of what pages have, and their colours.
    pub(super) fn look(&self, width: u32, height: u32, colours: &str) -> Result<()> {
        let size = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600});
        self.devtools("Emulation.setDeviceMetricsOverride", &size)?;
        let feature = json!({"name": "prefers-color-scheme", "value": colours});
        self.devtools(
            "Emulation.setEmulatedMedia",
            &json!({"features": [feature]}),
        )
    }

    fn devtools(&self, command: &str, parameters: &Value) -> Result<()> {
        let body = json!({"cmd": command, "params": parameters});
        self.command("POST", "/goog/cdp/execute", &body)?;
        Ok(())
    }

    /// Runs a script in the page, and returns what it returns.
    pub(super) fn script(&self, script: &str) -> Result<Value> {
        let body = json!({"script": script, "args": []});
        self.command("POST", "/execute/sync", &body)
    }

    /// Runs a script that calls its last argument when it is done.
    pub(super) fn script_with_callback(&self, script: &str) -> Result<Value> {
        let body = json!({"script": script, "args": []});
        self.command("POST", "/execute/async", &body)
    }

    /// Clicks the first element that a selector finds.
    pub(super) fn click(&self, selector: &str) -> Result<()> {
        let wanted = json!({"using": "css selector", "value": selector});
        let element = self.command("POST", "/element", &wanted)?;
        let id = element
            .as_object()
            .and_then(|element| element.values().next());
        let id = id.and_then(Value::as_str).ok_or("no element")?.to_owned();
        self.command("POST", &format!("/element/{id}/click"), &json!({}))?;
        Ok(())
    }

    /// Returns the text of the page.
    pub(super) fn text(&self) -> Result<String> {
        let text = self.script("return document.body.innerText")?;
        Ok(text.as_str().unwrap_or_default().to_owned())
    }

    /// Waits until the page says this, without reloading it.
    pub(super) fn sees(&self, text: &str) -> Result<Duration> {
        let since = Instant::now();
        while since.elapsed() < PATIENCE {
            if self.text()?.contains(text) {
                return Ok(since.elapsed());
            }
            thread::sleep(Duration::from_millis(50));
        }
        fail(format!("the page never said {text:?}: {}", self.text()?))
    }

    pub(super) fn screenshot(&self, file: &Path) -> Result<()> {
        let height = self.script("return Math.min(document.documentElement.scrollHeight, 6000)")?;
        let width = self.script("return document.documentElement.clientWidth")?;
        let clip = json!({"x": 0, "y": 0, "width": width, "height": height, "scale": 1});
        let body = json!({"cmd": "Page.captureScreenshot", "params": {"captureBeyondViewport": true, "clip": clip}});
        let picture = self.command("POST", "/goog/cdp/execute", &body)?;
        let picture = picture["data"].as_str().unwrap_or_default();
        std::fs::write(file, decode_base64(picture))?;
        Ok(())
    }

    /// Returns what the browser has complained about since the last call.
    pub(super) fn complaints(&self) -> Result<Vec<String>> {
        let entries = self.command("POST", "/se/log", &json!({"type": "browser"}))?;
        let entries = entries.as_array().cloned().unwrap_or_default();
        let is_bad = |entry: &&Value| entry["level"] != "INFO" && entry["level"] != "DEBUG";
        let bad = entries.iter().filter(is_bad);
        Ok(bad.map(|entry| entry["message"].to_string()).collect())
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.command("DELETE", "", &Value::Null);
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

/// Reads the body of an answer. Its end isn't that of the connection, which the browser may have inherited.
fn read_body(stream: TcpStream) -> Result<Vec<u8>> {
    stream.set_read_timeout(Some(PATIENCE))?;
    let mut answer = BufReader::new(stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        answer.read_line(&mut line)?;
        match line.trim_end().split_once(':') {
            Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                length = value.trim().parse()?;
            }
            None if line.trim_end().is_empty() => break,
            _ => {}
        }
    }
    let mut body = vec![0; length];
    answer.read_exact(&mut body)?;
    Ok(body)
}

fn decode_base64(text: &str) -> Vec<u8> {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digits = text
        .bytes()
        .filter_map(|byte| DIGITS.iter().position(|digit| *digit == byte));
    let (mut bytes, mut bits, mut count) = (Vec::new(), 0_usize, 0_u32);
    for digit in digits {
        bits = (bits << 6 | digit) & 0xFFFF;
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push(u8::try_from(bits >> count & 0xFF).unwrap_or_default());
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::decode_base64;

    #[test]
    fn a_picture_is_decoded() {
        assert_eq!(decode_base64("aGVsbG8="), b"hello");
        assert_eq!(decode_base64("AP8Q"), [0, 255, 16]);
    }
}
