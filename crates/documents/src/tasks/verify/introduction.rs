//! What the text before a command, or a comment in it, states about its result: "Must fail:", "No
//! TODOs remain:", `# should be 5`.

use regreen_model::VerifyCommand;

use super::expectation::{Stated, Subject, introduced};
use super::without_bullet;

/// Words that state a result. Other introductions only say what to do: "Run", "Check that it
/// builds".
const STATING: &[&str] = &[
    "0",
    "absent",
    "cannot",
    "contain",
    "contains",
    "empty",
    "equal",
    "equals",
    "exactly",
    "exit",
    "exits",
    "expect",
    "expected",
    "expects",
    "expecting",
    "fail",
    "failed",
    "failing",
    "fails",
    "failure",
    "gone",
    "hardly",
    "must",
    "neither",
    "never",
    "no",
    "nobody",
    "none",
    "non-empty",
    "non-zero",
    "nonempty",
    "nonzero",
    "nor",
    "not",
    "nothing",
    "only",
    "output",
    "outputs",
    "print",
    "prints",
    "return",
    "returns",
    "should",
    "unchanged",
    "without",
    "zero",
];
/// Pairs of words that state a result, each of which means little alone.
const STATING_PAIRS: &[[&str; 2]] = &[
    ["at", "least"],
    ["at", "most"],
    ["less", "than"],
    ["fewer", "than"],
    ["more", "than"],
    ["greater", "than"],
];
/// What a successful program has none of.
const TROUBLE: &[&str] = &[
    "error",
    "errors",
    "failure",
    "failures",
    "issue",
    "issues",
    "problem",
    "problems",
    "regression",
    "regressions",
    "violation",
    "violations",
];
/// Words that ask to look, before what is to be seen.
const ASKING: &[&str] = &[
    "verify", "confirm", "check", "ensure", "make", "sure", "that", "there", "is", "are", "run",
    "still", "all", "tests",
];

/// Applies what the text before a command states.
pub(super) fn apply(command: &mut VerifyCommand, before: &str, subject: Subject) {
    let sentences = sentences(before);
    for sentence in &sentences {
        let mut said = stated(sentence, command, subject);
        // One of several may speak of something else: "The build fails. Fix it, then run `make`".
        if sentences.len() > 1 && said.expects.is_some() {
            said = not_checked(sentence);
        }
        add(command, said, sentence);
    }
}

/// Applies what the comments in a script state. A comment speaks of one line; only if that is all
/// there is, it may be understood.
pub(super) fn apply_comments(command: &mut VerifyCommand) {
    let comments = comments(&command.command);
    let lines = command.command.lines().filter(|line| is_code(line)).count();
    for comment in comments {
        let subject = Subject::of(&command.command);
        let mut said = stated(&comment, command, subject);
        if lines > 1 && said.expects.is_some() {
            said = not_checked(&comment);
        }
        add(command, said, &comment);
    }
}

fn is_code(line: &str) -> bool {
    let line = line.trim();
    !line.is_empty() && !line.starts_with('#')
}

/// Adds a statement, unless the text after the command states another one.
fn add(command: &mut VerifyCommand, said: Stated, text: &str) {
    let differs = command.expects.is_some() && command.expects != said.expects;
    match said.expects {
        Some(_) if differs || command.unchecked.is_some() => {
            let unchecked = command.unchecked.take();
            command.unchecked = unchecked.or_else(|| Some(text.to_owned()));
        }
        Some(expects) => command.expects = Some(expects),
        None => command.unchecked = command.unchecked.take().or(said.unchecked),
    }
}

fn not_checked(text: &str) -> Stated {
    Stated {
        unchecked: Some(text.to_owned()),
        ..Stated::default()
    }
}

fn stated(sentence: &str, command: &VerifyCommand, subject: Subject) -> Stated {
    let sentence = without_remark(sentence);
    if !states_result(sentence)
        || says_no_trouble(sentence, &command.command)
        || only_asks_for_success(sentence)
    {
        return Stated::default();
    }
    // "Run these commands, all must succeed": only the end states a result.
    let parts = sentence.rsplit_once(", ");
    let end = parts.filter(|(start, _)| !states_result(start));
    let understood = introduced(sentence, subject).or_else(|| introduced(end?.1, subject));
    understood.unwrap_or_else(|| {
        if says_what_is_found(sentence, &command.command) {
            Stated::default()
        } else {
            not_checked(sentence)
        }
    })
}

/// Returns whether it demands what exit code 0 means: "Unit tests must pass", "Run only the unit tests".
fn only_asks_for_success(text: &str) -> bool {
    const SUCCESS: &[&str] = &[
        "build", "builds", "compile", "compiles", "pass", "passes", "run", "runs", "start",
        "starts", "succeed", "succeeds", "work", "works",
    ];
    const DEMANDING: &[&str] = &["expect", "expected", "must", "should"];
    const DOING: &[&str] = &["only", "output", "return", "without"];
    let words = words(text);
    let words: Vec<&str> = words
        .iter()
        .map(String::as_str)
        .filter(|word| !word.is_empty())
        .collect();
    let stating = || words.iter().filter(|word| states_result(word));
    let ends_well = words.last().is_some_and(|last| SUCCESS.contains(last));
    let begins_to_do = words
        .first()
        .is_some_and(|first| ["check", "return", "run"].contains(first));
    let counts = text.contains(|c: char| c.is_ascii_digit());
    !counts
        && (ends_well && stating().all(|word| DEMANDING.contains(word))
            || begins_to_do && stating().all(|word| DOING.contains(word)))
}

/// Returns whether it says what the success of a search means anyway: "All files contain the name:
/// `grep name a b`", "No manual tests: `! grep manual f`".
fn says_what_is_found(text: &str, command: &str) -> bool {
    const FOUND: &[&str] = &[
        "contain", "contains", "expect", "expected", "must", "should",
    ];
    const MISSING: &[&str] = &[
        "absent", "gone", "never", "no", "none", "not", "without", "zero",
    ];
    const NEGATED: &[&str] = &["! ", "-z ", "-eq 0", "= 0", "== 0"];
    let words = words(text);
    let mut stating = words.iter().filter(|word| states_result(word)).peekable();
    let is_negated = NEGATED.iter().any(|sign| command.contains(sign));
    let meant = if is_negated {
        [FOUND, MISSING].concat()
    } else {
        FOUND.to_vec()
    };
    let counts = text.contains(|c: char| c.is_ascii_digit());
    stating.peek().is_some()
        && !counts
        && stating.all(|word| meant.contains(&word.as_str()))
        && (is_negated || crate::shell::says_no_with_one(command))
}

/// Strips an aside at the end: "Tests must fail (RED)".
fn without_remark(sentence: &str) -> &str {
    let text = sentence.trim().trim_end_matches(':').trim_end();
    let Some((start, remark)) = text
        .strip_suffix(')')
        .and_then(|text| text.rsplit_once('('))
    else {
        return text;
    };
    let is_success =
        introduced(remark, Subject::default()).is_some_and(|said| said.expects.is_none());
    if start.trim().is_empty() || (states_result(remark) && !is_success) {
        text
    } else {
        start.trim_end()
    }
}

fn words(text: &str) -> Vec<String> {
    // Every second piece is code.
    let prose: Vec<&str> = text.split('`').step_by(2).collect();
    let prose = prose.join(" ").to_lowercase();
    let trimmed = |word: &str| {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric());
        word.to_owned()
    };
    prose.split_whitespace().map(trimmed).collect()
}

/// Returns whether a text before a command states its result.
fn states_result(text: &str) -> bool {
    let words = words(text);
    let is_stating = |word: &String| STATING.contains(&word.as_str()) || word.ends_with("n't");
    let is_pair = |pair: &[String]| STATING_PAIRS.iter().any(|two| pair == two.as_slice());
    let is_sign = text.trim_end_matches([':', ' ']).ends_with('!') || text.trim() == "!";
    is_sign || words.iter().any(is_stating) || words.windows(2).any(is_pair)
}

/// Returns whether it only says what exit code 0 means: "No type errors:". A search or a listing
/// would say something else with it.
fn says_no_trouble(text: &str, command: &str) -> bool {
    let words = words(text);
    let negated = |word: &String| ["no", "without", "zero", "0"].contains(&word.as_str());
    let Some(at) = words.iter().position(negated) else {
        return false;
    };
    let (before, after) = words.split_at(at);
    let ends_in_trouble = after
        .last()
        .is_some_and(|word| TROUBLE.contains(&word.as_str()));
    let is_plain = before.len() + after.len() < 9 && !states_result(&before.join(" "));
    let is_one = !after.iter().skip(1).any(|word| states_result(word));
    let is_tool = !crate::shell::only_tells(command);
    ends_in_trouble && is_plain && is_one && is_tool
}

/// Returns the sentences and lines before a command.
fn sentences(before: &str) -> Vec<&str> {
    let lines = before.lines().map(without_bullet);
    let parts = lines.flat_map(|line| line.split(". ").flat_map(|part| part.split("; ")));
    let parts = parts.map(|part| part.trim().trim_end_matches('.').trim_end());
    parts.filter(|part| !part.is_empty()).collect()
}

/// Whether a comment on a line of its own states a result. Others are titles of what follows.
fn opens_statement(comment: &str) -> bool {
    let first = words(comment).into_iter().next().unwrap_or_default();
    let is_subject = ["count", "it", "output", "result", "that", "this"].contains(&first.as_str());
    is_subject || states_result(&first)
}

/// Returns the comments of a shell text, without those in quotes or here-documents, and without
/// titles.
fn comments(text: &str) -> Vec<String> {
    if text.contains("<<") {
        return Vec::new();
    }
    let (mut comments, mut quote, mut before) = (Vec::new(), None, '\n');
    let mut chars = text.char_indices().peekable();
    while let Some((at, char)) = chars.next() {
        match (quote, char) {
            (None | Some('"'), '\\') => drop(chars.next()),
            (None, '"' | '\'') => quote = Some(char),
            (Some(open), _) if open == char => quote = None,
            (None, '#') if before.is_whitespace() || before == ';' => {
                let comment = text[at..].lines().next().unwrap_or_default();
                let line = text[..at].lines().next_back().unwrap_or_default();
                let is_title = text[..at].ends_with('\n') || line.trim().is_empty();
                let is_first = at == 0 && comment.starts_with("#!");
                while chars.next_if(|(_, char)| *char != '\n').is_some() {}
                let comment = comment.trim_start_matches('#').trim();
                let speaks = !is_title || opens_statement(comment);
                comments.extend((speaks && !is_first).then(|| comment.to_owned()));
            }
            _ => {}
        }
        before = char;
    }
    comments
}

/// Returns what asks to look, and what is to be seen: "Confirm that there are", "no matches".
pub(super) fn without_asking(text: &str) -> &str {
    let mut rest = text.trim();
    loop {
        let (word, next) = rest.split_once(' ').unwrap_or((rest, ""));
        if next.is_empty() || !ASKING.contains(&word.to_lowercase().as_str()) {
            return rest;
        }
        rest = next.trim_start();
    }
}
