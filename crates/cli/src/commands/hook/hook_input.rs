use std::path::PathBuf;

use serde_json::Value;

/// What Claude Code tells a Stop hook, as far as it matters.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct HookInput {
    pub(super) cwd: PathBuf,
    pub(super) transcript: Option<PathBuf>,
    /// The session only goes on because a Stop hook wanted it to.
    pub(super) is_continuation: bool,
}

impl HookInput {
    /// `None` without a folder to work in, or if it is not JSON at all.
    pub(super) fn read(text: &[u8]) -> Option<Self> {
        let value: Value = serde_json::from_slice(text).ok()?;
        let path = |key: &str| {
            let text = value.get(key)?.as_str().filter(|text| !text.is_empty());
            text.map(PathBuf::from)
        };
        Some(Self {
            cwd: path("cwd")?,
            transcript: path("transcript_path"),
            is_continuation: value.get("stop_hook_active") == Some(&Value::Bool(true)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_is_no_hook_input_is_none() {
        for text in [
            "",
            "{",
            "null",
            "[]",
            "7",
            "{}",
            r#"{"cwd":""}"#,
            r#"{"cwd":7}"#,
        ] {
            assert_eq!(HookInput::read(text.as_bytes()), None, "{text}");
        }
        assert_eq!(HookInput::read(&[0xFF, 0xFE]), None);
    }

    #[test]
    fn what_is_missing_or_odd_beside_the_folder_is_passed_over() {
        let read = |text: &str| HookInput::read(text.as_bytes()).unwrap();
        let plain = read(r#"{"cwd":"here"}"#);
        assert_eq!(plain.transcript, None);
        assert!(!plain.is_continuation);
        assert_eq!(
            read(r#"{"cwd":"here","stop_hook_active":"true","transcript_path":7,"more":{}}"#),
            plain
        );
        assert!(read(r#"{"cwd":"here","stop_hook_active":true}"#).is_continuation);
    }
}
