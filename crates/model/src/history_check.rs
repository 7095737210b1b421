//! Commands that look at git history or pull requests. Their results hold only right after their
//! task, because later commits change what they see; so the final check doesn't repeat them.

/// Programs that look at pull requests and their checks.
const FORGES: [&str; 3] = ["gh", "glab", "hub"];

/// Subcommands that look at git history, branches or uncommitted changes. `ls-files`, `grep` and
/// `check-ignore` look at files and can be repeated.
const SUBCOMMANDS: [&str; 22] = [
    "blame",
    "branch",
    "cat-file",
    "cherry",
    "describe",
    "diff",
    "diff-index",
    "diff-tree",
    "for-each-ref",
    "log",
    "ls-remote",
    "merge-base",
    "name-rev",
    "reflog",
    "rev-list",
    "rev-parse",
    "shortlog",
    "show",
    "show-ref",
    "stash",
    "status",
    "tag",
];

/// Options of git itself that take the next word as their value.
const WITH_VALUE: [&str; 5] = ["-C", "-c", "--git-dir", "--work-tree", "--namespace"];

/// Options of `rev-parse` that ask for locations in the repository.
const PLACES: [&str; 4] = ["--show-", "--git-", "--is-", "--absolute-git-dir"];

/// Words that may precede a program.
const PREFIXES: [&str; 14] = [
    "!", "command", "do", "elif", "else", "env", "exec", "if", "sudo", "then", "time", "until",
    "while", "xargs",
];

/// A command, split by whether its parts can be repeated after later commits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HistoryParts {
    /// The parts that look only at files.
    pub repeated: Option<String>,
    /// The parts that look at git history or pull requests.
    pub left_out: Option<String>,
}

impl HistoryParts {
    /// Splits lines and lists joined by `;` and `&&`. A command that can't be split is left out as a
    /// whole if any part of it looks at history.
    #[must_use]
    pub fn of(command: &str) -> Self {
        if !looks_at_history(command) {
            return Self {
                repeated: Some(command.to_owned()),
                left_out: None,
            };
        }
        let parts = looser(split(command).unwrap_or_default());
        let (history, files): (Vec<Part<'_>>, Vec<Part<'_>>) = parts
            .into_iter()
            .partition(|part| looks_at_history(part.text));
        let needs_history = |part: &Part<'_>| {
            ["$?", "PIPESTATUS"]
                .iter()
                .any(|name| part.text.contains(name))
        };
        if !files.iter().any(Part::checks_something)
            || history.iter().any(|part| leaves_something(part.text))
            || files.iter().any(needs_history)
        {
            return Self {
                repeated: None,
                left_out: Some(command.to_owned()),
            };
        }
        Self {
            repeated: Some(joined(&files)),
            left_out: Some(joined(&history)),
        }
    }
}

/// A part of a list.
#[derive(Clone, Copy, Debug)]
struct Part<'t> {
    text: &'t str,
    /// What joins it to the part before it.
    joint: &'static str,
}

impl Part<'_> {
    /// Whether it isn't just a comment or a preparation.
    fn checks_something(&self) -> bool {
        let first = self.text.split_whitespace().next().unwrap_or_default();
        !first.starts_with('#') && !["cd", "echo", "set"].contains(&first)
    }
}

/// Where a part that looks at history leaves a gap, the next one must not depend on what stands before it.
fn looser(mut parts: Vec<Part<'_>>) -> Vec<Part<'_>> {
    let mut gap = None;
    for part in &mut parts {
        let is_loose = part.joint != " && " && !part.joint.is_empty();
        if looks_at_history(part.text) {
            gap = gap.or(is_loose.then_some(part.joint));
        } else if let Some(joint) = gap.take()
            && !is_loose
        {
            part.joint = joint;
        }
    }
    parts
}

/// Joins parts as they were joined.
fn joined(parts: &[Part<'_>]) -> String {
    let mut text = String::new();
    for part in parts {
        if !text.is_empty() {
            text.push_str(part.joint);
        }
        text.push_str(part.text);
    }
    text
}

/// Whether a part sets or writes something that later parts may need.
fn leaves_something(part: &str) -> bool {
    let first = part.split_whitespace().next().unwrap_or_default();
    let mut part = part.to_owned();
    for harmless in ["2>&1", ">/dev/null", "> /dev/null"] {
        part = part.replace(harmless, "");
    }
    first.contains('=') || first == "export" || part.contains('>')
}

/// The quoting or nesting that a character is inside of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Inside {
    Single,
    Double,
    Backticks,
    Parentheses,
}

/// Words of compound commands, whose parts need each other.
const COMPOUND: [&str; 11] = [
    "case", "do", "done", "elif", "else", "esac", "fi", "for", "if", "until", "while",
];

/// Splits lines and lists joined by `;` and `&&`; `None` if the command is anything else.
fn split(command: &str) -> Option<Vec<Part<'_>>> {
    let (mut parts, mut start, mut inside) = (Vec::new(), 0, Vec::new());
    let mut joint = "";
    let mut chars = command.char_indices().peekable();
    let (mut before, mut last) = ('\n', '\n');
    while let Some((at, char)) = chars.next() {
        let next = chars.peek().map(|(_, next)| *next);
        let mut end_part = |next_joint: &'static str, from: usize| {
            let text = command.get(start..at)?.trim();
            parts.push(Part { text, joint });
            joint = next_joint;
            start = from;
            Some(())
        };
        match (inside.last(), char) {
            (Some(Inside::Single), '\'') => drop(inside.pop()),
            (Some(Inside::Single), _) => {}
            (_, '\\') => drop(chars.next()),
            (Some(Inside::Double), '"') | (Some(Inside::Backticks), '`') => drop(inside.pop()),
            (_, '`') => inside.push(Inside::Backticks),
            (Some(Inside::Double), '(') if before == '$' => inside.push(Inside::Parentheses),
            (Some(Inside::Double), _) => {}
            (_, '\'') => inside.push(Inside::Single),
            (_, '"') => inside.push(Inside::Double),
            (_, '(') => inside.push(Inside::Parentheses),
            (Some(Inside::Parentheses), ')') => drop(inside.pop()),
            (Some(_), _) => {}
            (None, '&') if before == '>' || next == Some('>') => {}
            (None, '&') if next == Some('&') => {
                end_part(" && ", at + 2)?;
                chars.next();
            }
            (None, '|') if next == Some('|') => return None,
            (None, ';') if next != Some(';') => end_part("; ", at + 1)?,
            (None, '\n') if last == '|' => return None,
            (None, '\n') => end_part("\n", at + 1)?,
            // A comment goes on to the end of its line.
            (None, '#') if before.is_whitespace() => {
                while chars.next_if(|(_, char)| *char != '\n').is_some() {}
            }
            // An `&&` inside a group or a test doesn't separate parts of this list.
            (None, '&' | ';' | ')' | '{' | '}') => return None,
            (None, '[') if next == Some('[') => return None,
            (None, '<') if next == Some('<') => return None,
            (None, _) => {}
        }
        before = char;
        if !char.is_whitespace() {
            last = char;
        }
    }
    let text = command.get(start..)?.trim();
    parts.push(Part { text, joint });
    let is_whole = inside.is_empty() && is_list(&parts);
    parts.retain(|part| !part.text.is_empty());
    is_whole.then_some(parts)
}

/// Whether every part is a command of its own. Only a line may be empty, or the end of the last.
fn is_list(parts: &[Part<'_>]) -> bool {
    let is_own = |part: &Part<'_>| {
        let first = part.text.split_whitespace().next().unwrap_or_default();
        !COMPOUND.contains(&first) && (!part.text.is_empty() || part.joint != " && ")
    };
    parts.iter().all(is_own)
}

/// Returns whether any part of a shell command looks at git history or pull requests.
fn looks_at_history(command: &str) -> bool {
    let parts = command.split(['|', ';', '&', '\n', '(', ')', '`', '{', '}']);
    parts.map(words).any(|words| part_looks_at_history(&words))
}

/// Returns the words of a part, without surrounding quotes.
fn words(part: &str) -> Vec<&str> {
    let words = part.split_whitespace();
    words
        .map(|word| word.trim_matches(['"', '\'', '$']))
        .collect()
}

fn part_looks_at_history(words: &[&str]) -> bool {
    let is_prefix = |word: &&&str| {
        word.is_empty()
            || word.contains('=')
            || PREFIXES.contains(*word)
            || **word == "["
            || **word == "test"
    };
    let before = words.iter().take_while(is_prefix).count();
    let Some((program, rest)) = words.get(before..).and_then(<[&str]>::split_first) else {
        return false;
    };
    let name = program.rsplit('/').next().unwrap_or(program);
    FORGES.contains(&name) || (name == "git" && git_looks_at_history(rest))
}

/// Examines the words after `git`: global options, subcommand and arguments.
fn git_looks_at_history(words: &[&str]) -> bool {
    let mut words = words.iter();
    while let Some(word) = words.next() {
        if WITH_VALUE.contains(word) {
            words.next();
        } else if !word.starts_with('-') {
            let is_listed = SUBCOMMANDS.contains(word);
            return is_listed && !looks_at_files(word, words.as_slice());
        }
    }
    false
}

/// Whether the call only asks for locations in the repository, or for a committed file.
fn looks_at_files(subcommand: &str, arguments: &[&str]) -> bool {
    match subcommand {
        "rev-parse" => arguments
            .iter()
            .any(|word| PLACES.iter().any(|place| word.starts_with(place))),
        "cat-file" | "show" => arguments.iter().any(|word| {
            let word = word.trim_matches(['"', '\'']);
            word.split_once(':')
                .is_some_and(|(revision, path)| revision == "HEAD" && !path.is_empty())
        }),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::{HistoryParts, looks_at_history};

    #[test]
    fn checks_of_history_and_pull_requests_are_recognized_by_their_programs() {
        for command in [
            "git log --oneline | grep -q feat",
            "git status --porcelain",
            "git -C sub --no-pager diff --exit-code",
            "git -c core.pager=cat show HEAD",
            "test -z \"$(git status --porcelain)\"",
            "[ \"$(git rev-parse --abbrev-ref HEAD)\" = main ]",
            "! git diff --quiet main",
            "npm test && git diff --stat",
            "GIT_PAGER=cat git tag -l v1",
            "gh pr checks",
            "/usr/bin/gh pr view --json state",
            "echo `git rev-list --count HEAD`",
            "if git branch --list x; then true; fi",
        ] {
            assert!(looks_at_history(command), "{command}");
        }
    }

    #[test]
    fn checks_of_files_are_repeated_also_where_they_mention_git() {
        for command in [
            "cargo test",
            "git ls-files | grep -q src/main.rs",
            "git grep -q TODO",
            "git check-ignore dist",
            "cd \"$(git rev-parse --show-toplevel)\" && npm test",
            "git cat-file -e HEAD:src/main.rs",
            "git show HEAD:package.json | grep -q jest",
            "grep -q 'git log' README.md",
            "test -f gh.txt",
            "./scripts/git-status.sh",
            "grep log git.md",
            "",
        ] {
            assert!(!looks_at_history(command), "{command}");
        }
    }

    #[track_caller]
    fn check_parts(command: &str, repeated: Option<&str>, left_out: Option<&str>) {
        let expected = HistoryParts {
            repeated: repeated.map(str::to_owned),
            left_out: left_out.map(str::to_owned),
        };
        assert_eq!(HistoryParts::of(command), expected, "{command}");
    }

    #[test]
    fn the_parts_of_a_list_that_look_at_files_are_repeated() {
        check_parts("npm test", Some("npm test"), None);
        for (command, repeated, left_out) in [
            (
                "npm test && git diff --quiet",
                "npm test",
                "git diff --quiet",
            ),
            (
                "cd sub && git log -1 2>&1 | grep -q x && npm test 2>&1 | tail -5",
                "cd sub && npm test 2>&1 | tail -5",
                "git log -1 2>&1 | grep -q x",
            ),
            (
                "test -z \"$(git status --porcelain && echo \")\")\" && grep -q 'a && b' f",
                "grep -q 'a && b' f",
                "test -z \"$(git status --porcelain && echo \")\")\"",
            ),
            (
                "git log -1; npm test && true",
                "npm test && true",
                "git log -1",
            ),
            ("git diff --stat; test -f d", "test -f d", "git diff --stat"),
            // Nothing depends on a part before the gap that did not before.
            (
                "rm out.log; git diff --stat && npm test",
                "rm out.log; npm test",
                "git diff --stat",
            ),
            (
                "git log --oneline | head -1\n\n# it's there\ntest -f a\ngit status",
                "# it's there\ntest -f a",
                "git log --oneline | head -1\ngit status",
            ),
        ] {
            check_parts(command, Some(repeated), Some(left_out));
        }
    }

    #[test]
    fn a_command_whose_parts_need_each_other_is_left_out_whole() {
        for command in [
            "git log",
            "git status && git diff --quiet",
            "git diff --quiet || npm test && true",
            "git diff --quiet; test $? -eq 1",
            "git diff --stat;\ncd app",
            "git log -1\nif true\nthen npm test\nfi",
            "git log -1; cat <<E\ngit\nE",
            "x=$(git rev-parse HEAD) && test -n \"$x\"",
            "git diff > out && grep -q x out",
            "{ git log && npm test; }",
            "[[ -n $(git log) && -f a ]]",
            "(git log && npm test)",
            "git log && echo 'open",
            "if git branch --list x && true; then npm test; fi",
        ] {
            check_parts(command, None, Some(command));
        }
    }
}
