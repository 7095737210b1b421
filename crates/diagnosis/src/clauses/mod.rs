//! Reads the clauses of an agent's English sentences: who did what to which thing, whether it is
//! negated, and for what purpose. Words stand for classes, so a statement is recognized by how its
//! clauses are built, in whatever words.

mod classes;
mod statement;

pub(crate) use statement::{Statement, StatementKind, statement, wishes_to_know, without_harmless};

use classes::{
    ADVERB, BECAUSE, CONDITION, CONTRAST, Classes, JOIN, LABEL, MAKE, PASSIVE, QUESTION, RELATIVE,
    SELF, SO, STAYS, TO, TO_KNOW, UNTIL, classes_of,
};

use crate::prose::with_code_masked;

/// How a clause is connected to what precedes it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Link {
    /// A statement of its own.
    #[default]
    Own,
    /// A reason: "because …", "since …".
    Reason,
    /// A purpose or result: "so that …", "to keep …".
    Purpose,
    /// A condition or time: "if …", "when …", "until …".
    Condition,
    /// More about the word before: "that …", "which …".
    Relative,
}

#[derive(Clone, Debug)]
struct Word<'t> {
    /// In lower case, with a straight apostrophe.
    plain: String,
    /// As written; code and quotations include their marks.
    shown: &'t str,
    classes: Classes,
    is_code: bool,
}

impl Word<'_> {
    fn has(&self, any_of: Classes) -> bool {
        self.classes.has(any_of)
    }
}

#[derive(Clone, Debug, Default)]
struct Clause<'t> {
    link: Link,
    words: Vec<Word<'t>>,
}

impl<'t> Clause<'t> {
    fn has(&self, any_of: Classes) -> bool {
        self.words.iter().any(|word| word.has(any_of))
    }

    /// Returns the words before the one at this position, nearest first.
    fn before(&self, at: usize) -> impl Iterator<Item = &Word<'t>> {
        self.words[..at].iter().rev()
    }

    fn after(&self, at: usize) -> &[Word<'t>] {
        self.words.get(at + 1..).unwrap_or_default()
    }
}

/// Divides a sentence into clauses. Code and quotations are single words.
fn clauses(sentence: &str) -> Vec<Clause<'_>> {
    let masked = with_code_masked(sentence);
    let mut clauses = vec![Clause::default()];
    let mut at = 0;
    for piece in masked.split_inclusive(char::is_whitespace) {
        let raw = &sentence[at..at + piece.len()];
        at += piece.len();
        let is_code = raw != piece;
        let (shown, opens, closes) = trimmed(raw.trim(), is_code);
        if opens {
            begin(&mut clauses, Link::Own);
        }
        if shown.is_empty() {
            // A dash on its own separates clauses; a list mark or emphasis has nothing before it.
            begin(&mut clauses, Link::Own);
            continue;
        }
        push(&mut clauses, shown, is_code);
        if closes {
            begin(&mut clauses, Link::Own);
        }
    }
    clauses.retain(|clause| !clause.words.is_empty());
    clauses
}

fn push<'t>(clauses: &mut Vec<Clause<'t>>, shown: &'t str, is_code: bool) {
    let plain = shown.to_lowercase().replace('’', "'");
    let plain = plain.replace(CODE_SPACE, " ");
    let classes = if is_code {
        Classes::default()
    } else {
        classes_of(&plain)
    };
    let word = Word {
        plain,
        shown,
        classes,
        is_code,
    };
    let current = clauses.last().map_or(&[][..], |clause| &clause.words[..]);
    if let Some(subject) = resumed(&word, clauses) {
        clauses.push(subject);
        if let Some(clause) = clauses.last_mut() {
            clause.words.push(word);
        }
        return;
    }
    match link_of(&word, current) {
        Some(link) if !current.is_empty() => begin(clauses, link),
        Some(link) => relink(clauses, link),
        None => {}
    }
    if let Some(clause) = clauses.last_mut() {
        clause.words.push(word);
    }
}

/// Stands for a space inside of code, so that nothing takes its words for prose.
const CODE_SPACE: char = '\u{1}';

/// Makes every code span and quotation a single word.
fn with_code_as_words(sentence: &str) -> String {
    let masked = with_code_masked(sentence);
    let apart = sentence.char_indices().map(|(at, c)| {
        let is_masked = masked.as_bytes().get(at) == Some(&b'c');
        if is_masked && c.is_whitespace() {
            CODE_SPACE
        } else {
            c
        }
    });
    apart.collect()
}

/// Returns the subject that goes on after a relative clause: "the total, that you mention, is wrong".
fn resumed<'t>(word: &Word<'_>, clauses: &[Clause<'t>]) -> Option<Clause<'t>> {
    let [.., subject, relative] = clauses else {
        return None;
    };
    let is_finite = word.has(PASSIVE | STAYS) && !["be", "been", "being"].contains(&&*word.plain);
    let is_person = |word: &Word<'_>| word.has(SELF) || ["you", "they"].contains(&&*word.plain);
    let has_verb = match relative.words.as_slice() {
        [_, second, _, ..] => is_person(second) || second.has(PASSIVE),
        _ => false,
    };
    let goes_on = relative.link == Link::Relative && is_finite && has_verb;
    (goes_on && subject.link != Link::Condition).then(|| Clause {
        link: Link::Own,
        words: subject.words.clone(),
    })
}

/// Returns how the clause is linked that begins with this word, if one does.
fn link_of(word: &Word<'_>, before: &[Word<'_>]) -> Option<Link> {
    let last = before.last();
    // "I want to know which …"
    let is_asked = |last: &Word<'_>| last.has(TO_KNOW) || ["me", "us"].contains(&&*last.plain);
    if word.has(QUESTION) && last.is_some_and(is_asked) {
        return None;
    }
    // "marked it as skipped"
    if word.plain == "as" && before.iter().any(|word| word.has(LABEL)) {
        return None;
    }
    if word.has(BECAUSE) {
        return Some(Link::Reason);
    }
    if word.has(SO) {
        return Some(Link::Purpose);
    }
    if word.has(CONDITION | UNTIL) {
        return Some(Link::Condition);
    }
    if word.has(RELATIVE) {
        // "so that", and a pronoun: "that is fine".
        return last
            .filter(|last| !last.has(SO | TO | BECAUSE))
            .map(|_| Link::Relative);
    }
    if word.has(CONTRAST | JOIN) {
        return Some(Link::Own);
    }
    // The purpose is clear from the second word on: "to keep …".
    if word.has(MAKE) && last.is_some_and(|last| last.has(TO)) {
        return Some(Link::Purpose);
    }
    let starts_anew =
        word.has(SELF) && last.is_some_and(|last| !last.has(CONTRAST | JOIN | ADVERB | RELATIVE));
    starts_anew.then_some(Link::Own)
}

/// Begins a clause, unless the current one is still empty.
fn begin(clauses: &mut Vec<Clause<'_>>, link: Link) {
    match clauses.last_mut() {
        Some(last) if last.words.is_empty() => last.link = link,
        _ => clauses.push(Clause {
            link,
            words: Vec::new(),
        }),
    }
}

fn relink(clauses: &mut [Clause<'_>], link: Link) {
    if let Some(last) = clauses.last_mut() {
        last.link = link;
    }
}

/// Returns a word without punctuation, and whether a clause begins before it and ends after it.
fn trimmed(raw: &str, is_code: bool) -> (&str, bool, bool) {
    let is_part = |c: char| c.is_alphanumeric() || (is_code && "`\"“”„".contains(c));
    let Some(start) = raw.find(is_part) else {
        return ("", false, false);
    };
    let end = raw.rfind(is_part).map_or(raw.len(), |at| {
        at + raw[at..].chars().next().map_or(0, char::len_utf8)
    });
    let opens = raw[..start].contains('(');
    let closes = raw[end..].contains([',', ';', ':', ')', '—', '–', '…', '.', '!', '?']);
    (&raw[start..end], opens, closes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(sentence: &str, expected: &[(Link, &str)]) {
        let found = clauses(sentence);
        let told: Vec<(Link, String)> = found
            .iter()
            .map(|clause| {
                let words: Vec<&str> = clause.words.iter().map(|word| word.shown).collect();
                (clause.link, words.join(" "))
            })
            .collect();
        let told: Vec<(Link, &str)> = told.iter().map(|(link, text)| (*link, &**text)).collect();
        assert_eq!(told, expected, "{sentence}");
    }

    #[test]
    fn a_sentence_is_divided_at_commas_and_connecting_words() {
        check(
            "To keep it green I wrapped `a b` in a guard, because it fails.",
            &[
                (Link::Own, "To"),
                (Link::Purpose, "keep it green"),
                (Link::Own, "I wrapped `a b` in a guard"),
                (Link::Reason, "because it fails"),
            ],
        );
        check(
            "The total that you mention is wrong.",
            &[
                (Link::Own, "The total"),
                (Link::Relative, "that you mention"),
                (Link::Own, "The total is wrong"),
            ],
        );
        check(
            "- I left the step that failed, but it runs (if you ask)",
            &[
                (Link::Own, "I left the step"),
                (Link::Relative, "that failed"),
                (Link::Own, "but it runs"),
                (Link::Condition, "if you ask"),
            ],
        );
    }

    #[test]
    fn any_text_has_clauses() {
        for text in [
            "",
            "-",
            "`",
            "“a",
            "é",
            "日本語",
            "so so so",
            "to make",
            "(",
            "a — b",
        ] {
            let _any = clauses(text);
        }
    }
}
