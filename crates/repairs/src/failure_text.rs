//! Extracts names from a failure. They are only looked up in the workspace, never run.

use regreen_model::Failure;

use crate::package_names;

/// How many lines at the end of the output are searched.
const TAIL_LINES: usize = 80;
/// Longer words aren't paths.
const MAX_WORD: usize = 512;

/// Returns the line that explains the failure.
pub(crate) fn blocker(failure: &Failure) -> &str {
    failure.blocked_on.as_deref().unwrap_or_default()
}

pub(crate) fn tail(output: &str) -> impl Iterator<Item = &str> {
    let lines: Vec<&str> = output.lines().collect();
    let from = lines.len().saturating_sub(TAIL_LINES);
    lines.into_iter().skip(from)
}

/// Returns everything in a line that could be a path: quoted text and words.
pub(crate) fn words(line: &str) -> Vec<&str> {
    let is_border = |c: char| c.is_whitespace() || "'\"`‘’“”()[]{}<>,;|&=".contains(c);
    line.split(is_border)
        .map(|word| {
            word.trim_end_matches([':', '.', '!', '?'])
                .trim_start_matches(':')
        })
        .filter(|word| !word.is_empty() && word.len() <= MAX_WORD)
        .collect()
}

/// Returns the quoted text after `marker`, or the next word.
pub(crate) fn after<'t>(line: &'t str, marker: &str) -> Option<&'t str> {
    let (_, rest) = line.split_once(marker)?;
    let rest = rest.trim_start();
    let quoted = rest
        .strip_prefix(['\'', '"', '`', '‘'])
        .and_then(|inner| inner.split(['\'', '"', '`', '’']).next());
    quoted.or_else(|| rest.split_ascii_whitespace().next())
}

/// Returns the module that Python didn't find.
pub(crate) fn python_module(failure: &Failure) -> Option<&str> {
    let module = after(blocker(failure), "No module named ")?;
    package_names::is_python_module(module).then_some(module)
}

/// Returns the command that a shell didn't find.
pub(crate) fn command(failure: &Failure) -> Option<&str> {
    let line = blocker(failure);
    let ends = [
        ": command not found",
        ": not found",
        ": No such file or directory",
    ];
    let before = ends
        .iter()
        .find_map(|end| line.split_once(end).map(|(head, _)| head));
    let word = match before {
        Some(head) => head
            .rsplit([' ', ':'])
            .next()?
            .trim_matches(['\'', '"', '‘', '’', '`']),
        None => after(line, "command not found: ")
            .or_else(|| after(line, "No such file or directory: "))?,
    };
    package_names::is_command(word).then_some(word)
}

/// Returns the port that a line reports as in use.
pub(crate) fn port(line: &str) -> Option<u16> {
    let mut numbers = line.split(|c: char| !c.is_ascii_digit());
    let known_codes = ["98", "48", "10048"];
    let is_port = |text: &&str| !known_codes.contains(text) && text.len() >= 2;
    // In an address with a port, the port comes last.
    numbers
        .by_ref()
        .filter(|text| !text.is_empty())
        .filter(is_port)
        .filter_map(|text| text.parse::<u16>().ok())
        .rfind(|port| *port > 0)
}

/// Returns the number that a line calls a pid.
pub(crate) fn pid(line: &str) -> Option<i32> {
    let lower = line.to_ascii_lowercase();
    let at = lower.find("pid").or_else(|| lower.find("process"))?;
    let digits: String = lower
        .get(at..)?
        .chars()
        .skip_while(|c| !c.is_ascii_digit())
        .take_while(char::is_ascii_digit)
        .collect();
    digits.parse().ok().filter(|pid| *pid > 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_split_at_quotes_and_spaces() {
        assert_eq!(
            words(r#"  json.load(open(".cache/state.json"))"#),
            ["json.load", "open", ".cache/state.json"]
        );
        assert_eq!(
            words("cat: a/b.py: No such"),
            ["cat", "a/b.py", "No", "such"]
        );
    }

    #[test]
    fn ports_are_found_in_messages_of_common_servers() {
        for line in [
            "Error: listen EADDRINUSE: address already in use :::3000",
            "OSError: [Errno 98] Address already in use: ('127.0.0.1', 3000)",
            "listen tcp 127.0.0.1:3000: bind: address already in use",
            "Port 3000 was already in use.",
        ] {
            assert_eq!(port(line), Some(3000), "{line}");
        }
        assert_eq!(port("OSError: [Errno 98] Address already in use"), None);
    }

    #[test]
    fn only_a_number_called_a_pid_is_one() {
        assert_eq!(pid("server already running (pid 9458)"), Some(9458));
        assert_eq!(pid("is PID 77 still alive? (100 s)"), Some(77));
        assert_eq!(pid("took 12 s"), None);
        assert_eq!(pid("pid 1"), None);
    }
}
