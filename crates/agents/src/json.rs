//! Lines of JSON, of which nothing is taken for granted.

use serde_json::Value;

/// The object that a line is; `None` for everything else, which decoders pass over.
pub(crate) fn object(line: &[u8]) -> Option<Value> {
    let line = line.trim_ascii();
    if !line.starts_with(b"{") {
        return None;
    }
    serde_json::from_slice(line).ok()
}

/// The text at a path such as `/part/state/status`; empty if there is none.
pub(crate) fn text<'v>(value: &'v Value, path: &str) -> &'v str {
    value.pointer(path).and_then(Value::as_str).unwrap_or("")
}

pub(crate) fn number(value: &Value, path: &str) -> u64 {
    value.pointer(path).and_then(Value::as_u64).unwrap_or(0)
}

pub(crate) fn list<'v>(value: &'v Value, path: &str) -> &'v [Value] {
    let list = value.pointer(path).and_then(Value::as_array);
    list.map(Vec::as_slice).unwrap_or_default()
}

/// An exit code, or an HTTP status.
pub(crate) fn code(value: &Value, path: &str) -> Option<i32> {
    let code = value.pointer(path).and_then(Value::as_i64)?;
    i32::try_from(code).ok()
}

pub(crate) fn status(value: &Value, path: &str) -> Option<u16> {
    u16::try_from(code(value, path)?).ok()
}

/// Dollars, as millionths of one.
pub(crate) fn micro_usd(value: &Value, path: &str) -> Option<u64> {
    const MICRO: f64 = 1e6;
    let dollars = value.pointer(path).and_then(Value::as_f64)?;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it is within bounds, and casts of floats saturate"
    )]
    let micro = (dollars.clamp(0.0, 1e9) * MICRO).round() as u64;
    Some(micro)
}
