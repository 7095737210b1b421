//! Who may see the dashboard, and who may act.

use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};

use axum::http::{HeaderMap, header};

use crate::Options;

/// The bytes of a token.
const TOKEN_BYTES: usize = 32;

/// Makes a token that nobody can guess; `None` if the system has no random numbers.
#[must_use]
pub fn new_token() -> Option<String> {
    let mut bytes = [0_u8; TOKEN_BYTES];
    let flags = rustix::rand::GetRandomFlags::empty();
    let filled = rustix::rand::getrandom(&mut bytes, flags).ok()?;
    (filled == TOKEN_BYTES).then(|| bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// What a browser has to show.
#[derive(Debug)]
pub(crate) struct Access {
    /// To see anything.
    token: String,
    /// To do anything: pages have it, and other sites can't read pages.
    pub(crate) form_token: String,
    /// Logs in one browser, once.
    ticket: Mutex<Option<String>>,
    port: u16,
}

impl Access {
    pub(crate) fn new(options: &Options, form_token: String, port: u16) -> Self {
        Self {
            token: options.token.clone(),
            ticket: Mutex::new(options.ticket.clone()),
            form_token,
            port,
        }
    }

    /// Whether a request is for this server. The name of another site that leads here (DNS
    /// rebinding) is not, because only addresses and `localhost` are accepted.
    pub(crate) fn is_for_us(&self, headers: &HeaderMap) -> bool {
        let Some(host) = text(headers, header::HOST) else {
            return false;
        };
        let Some(name) = host.strip_suffix(&format!(":{}", self.port)) else {
            return false;
        };
        let bare = name
            .strip_prefix('[')
            .and_then(|name| name.strip_suffix(']'));
        name == "localhost" || bare.unwrap_or(name).parse::<IpAddr>().is_ok()
    }

    /// Whether a request comes from a page of this server.
    pub(crate) fn is_from_us(&self, headers: &HeaderMap) -> bool {
        let host = text(headers, header::HOST).unwrap_or_default();
        text(headers, header::ORIGIN) == Some(&format!("http://{host}"))
    }

    /// Whether the browser has logged in.
    pub(crate) fn is_known(&self, headers: &HeaderMap) -> bool {
        let cookies = headers.get_all(header::COOKIE).iter();
        let cookies = cookies.filter_map(|value| value.to_str().ok());
        let name = self.cookie_name();
        cookies
            .flat_map(|line| line.split(';'))
            .filter_map(|cookie| cookie.trim().split_once('='))
            .any(|(known, value)| known == name && self.is_token(value))
    }

    pub(crate) fn is_token(&self, text: &str) -> bool {
        is_same(text, &self.token)
    }

    /// Whether this is the ticket, which is worth nothing from then on.
    pub(crate) fn take_ticket(&self, text: &str) -> bool {
        let mut ticket = self.ticket.lock().unwrap_or_else(PoisonError::into_inner);
        let is_it = ticket.as_ref().is_some_and(|known| is_same(text, known));
        if is_it {
            *ticket = None;
        }
        is_it
    }

    pub(crate) fn is_form_token(&self, text: &str) -> bool {
        is_same(text, &self.form_token)
    }

    /// Returns the header that logs a browser in.
    pub(crate) fn cookie(&self) -> String {
        let name = self.cookie_name();
        format!("{name}={}; HttpOnly; SameSite=Strict; Path=/", self.token)
    }

    /// Browsers send a cookie to all ports of a host.
    fn cookie_name(&self) -> String {
        format!("regreen-{}", self.port)
    }
}

fn text(headers: &HeaderMap, name: header::HeaderName) -> Option<&str> {
    let mut values = headers.get_all(name).iter();
    let first = values.next()?.to_str().ok()?;
    // With two of them, nobody knows which one counts.
    values.next().is_none().then_some(first)
}

/// Compares in a time that does not depend on where the texts differ.
fn is_same(one: &str, other: &str) -> bool {
    let pairs = one.bytes().zip(other.bytes());
    let difference = pairs.fold(0, |sum, (a, b)| sum | (a ^ b));
    one.len() == other.len() && difference == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_long_and_never_the_same() {
        let (one, other) = (new_token().unwrap(), new_token().unwrap());
        assert_eq!(one.len(), 2 * TOKEN_BYTES);
        assert_ne!(one, other);
        assert!(is_same(&one, &one) && !is_same(&one, &other) && !is_same(&one, ""));
    }
}
