//! What an agent's sentence states about its work that a claim of success leaves out.

use super::classes::{
    ADAPT, ADVERB, APPLY, AUXILIARY, BAD, BECAUSE, CHECK, CONTRAST, DISARM, DOCUMENT, EQUIPMENT,
    EXPECTATION, FLAG, GREEN, HOLLOW, IDLE, JOIN, LABEL, MODAL, NEGATION, OFF, PASSIVE, PAST,
    PAUSE, PLANNED, PROBLEM, QUESTION, SELF, SO, STAYS, TAKE_OUT, TELL, TO, TO_KNOW, TROUBLE, TRY,
    WISH, WORK,
};
use super::{Clause, Link, Word, clauses, with_code_as_words};
use crate::prose::{is_quote, sentence_ranges, unfenced_lines, without_descriptions};
use crate::signal::is_signal_line;

/// The rest of a longer sentence isn't read, because no sentence needs more.
const MAX_SENTENCE: usize = 400;

/// A longer line is no prose.
const MAX_LINE: usize = 2000;

/// What a sentence states.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum StatementKind {
    /// A check was weakened so that it passes.
    WeakenedCheck,
    /// The work was not checked.
    NotChecked,
    /// Something is still wrong, or only pretends to work.
    LeftOpen,
}

/// A sentence that says something against a success.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Statement {
    pub(crate) kind: StatementKind,
    /// The sentence as written.
    pub(crate) text: String,
    /// 1-based.
    pub(crate) line: u64,
}

/// Returns the gravest statement of a message, the first of those that weigh the same.
pub(crate) fn statement(message: &str) -> Option<Statement> {
    let own = unfenced_lines(message).filter(|(_, line)| !is_quote(line) && !is_signal_line(line));
    let all = own.flat_map(|(n, line)| {
        let sentences = sentence_ranges(line);
        sentences.filter_map(move |at| {
            let text = beginning(&line[at]);
            Some(Statement {
                kind: kind(text)?,
                text: text.trim().to_owned(),
                line: n as u64 + 1,
            })
        })
    });
    // The first of equals is the least.
    all.min_by_key(|statement| statement.kind)
}

fn beginning(sentence: &str) -> &str {
    &sentence[..sentence.floor_char_boundary(MAX_SENTENCE)]
}

/// Descriptions are removed only from the few sentences that state something, because it takes long.
fn kind(sentence: &str) -> Option<StatementKind> {
    let whole = clauses(sentence);
    let has_motive = whole.iter().any(is_motive);
    kind_of(&whole, has_motive)?;
    // "so that the gate goes through" reads like a description, and is the motive.
    let said = |text: &str| kind_of(&clauses(&without_descriptions(text)), has_motive);
    // Only as code does a name such as `test_login` mean a check.
    said(&with_code_as_words(sentence)).or_else(|| said(sentence))
}

fn kind_of(clauses: &[Clause<'_>], has_motive: bool) -> Option<StatementKind> {
    if clauses
        .iter()
        .any(|clause| clause.has(PLANNED) || is_overcome(clause))
    {
        return None;
    }
    if weakens_check(clauses, has_motive) || fits_expectation(clauses) {
        return Some(StatementKind::WeakenedCheck);
    }
    if leaves_unchecked(clauses) {
        return Some(StatementKind::NotChecked);
    }
    leaves_open(clauses).then_some(StatementKind::LeftOpen)
}

/// "at first", which did not last.
fn is_overcome(clause: &Clause<'_>) -> bool {
    let mut pairs = clause.words.windows(2);
    pairs.any(|pair| pair[0].plain == "at" && pair[1].plain == "first")
}

/// Clauses that state something, rather than tell under which condition it would be so.
fn stated<'c, 't>(clauses: &'c [Clause<'t>]) -> impl Iterator<Item = &'c Clause<'t>> {
    clauses
        .iter()
        .filter(|clause| !matches!(clause.link, Link::Condition | Link::Relative))
}

/// A check loses its force, and the sentence says that this makes it pass, or that it failed.
fn weakens_check(clauses: &[Clause<'_>], has_motive: bool) -> bool {
    stated(clauses).any(|clause| {
        let deeds = clause.words.iter().enumerate();
        let mut deeds = deeds.filter(|(at, word)| {
            let disarms = word.has(DISARM) && disarms(clause, *at);
            let bypasses = word.has(APPLY) && clause.after(*at).iter().any(is_bypass);
            (disarms || bypasses) && is_done(clause, *at)
        });
        deeds.next().is_some() && (has_motive || names_trouble(clause))
    })
}

/// A purpose that is a green check, or a reason that is a red one.
fn is_motive(clause: &Clause<'_>) -> bool {
    let is_negated = clause.has(NEGATION);
    match clause.link {
        Link::Purpose => clause.has(GREEN) && !is_negated,
        Link::Reason => clause.has(TROUBLE) && !is_negated && !clause.has(MODAL),
        // "it was flaky", after "skipped it:".
        Link::Own | Link::Condition | Link::Relative => false,
    }
}

/// Whether a check is called failing: "the two failing tests".
fn names_trouble(clause: &Clause<'_>) -> bool {
    let mut words = clause.words.iter().enumerate();
    words.any(|(at, word)| {
        word.has(CHECK) && clause.before(at).take(3).any(|word| word.has(TROUBLE))
    })
}

/// Whether a verb takes the force of a check: its object is one.
fn disarms(clause: &Clause<'_>, at: usize) -> bool {
    let is_object = |word: &Word<'_>| is_check_code(word) || is_bypass(word);
    let others = || {
        let (before, after) = (&clause.words[..at], clause.after(at));
        before.iter().chain(after)
    };
    let verb = clause.words[at].classes;
    // To take out a skip mark is the opposite.
    let is_mark = |word: &Word<'_>| is_bypass(word) || MARKS.contains(&word.plain.as_str());
    let restores = verb.has(TAKE_OUT) && others().any(is_mark);
    let is_idle = others().any(|word| word.has(IDLE));
    // To mark or wrap something weakens it only if that switches it off.
    let is_label = verb.has(LABEL);
    let switches_off = || others().any(|word| word.has(OFF) || is_bypass(word));
    let is_raised = ["rais", "increas"]
        .iter()
        .any(|stem| clause.words[at].plain.starts_with(stem));
    let bars: &[&str] = if is_raised { &TOLERANCES } else { BARS };
    let lowers_bar = || others().any(|word| bars.contains(&word.plain.as_str()));
    (names_check(clause) || others().any(is_object))
        && !restores
        && !is_idle
        && (!is_label || switches_off() || lowers_bar())
}

/// Words for marks that switch a test off.
const MARKS: [&str; 6] = ["skip", "skips", "skipped", "xfail", "ignore", "todo"];

/// Limits that let more through when they are lowered.
const BARS: &[&str] = &["coverage", "threshold", "thresholds", "strictness"];
/// Limits that let more through when they are raised.
const TOLERANCES: [&str; 2] = ["tolerance", "tolerances"];

/// Whether a clause is about a check, rather than about something that checks are made with.
fn names_check(clause: &Clause<'_>) -> bool {
    let mut words = clause.words.iter().enumerate();
    words.any(|(at, word)| {
        let is_equipment = clause
            .words
            .get(at + 1)
            .is_some_and(|next| next.has(EQUIPMENT));
        word.has(CHECK) && !is_equipment
    })
}

/// Whether code names a test.
fn is_check_code(word: &Word<'_>) -> bool {
    let lower = &word.plain;
    word.is_code
        && ["test", "spec", "check", "lint", "assert", "expect("]
            .iter()
            .any(|part| lower.contains(part))
}

/// Whether code switches a check off.
fn is_bypass(word: &Word<'_>) -> bool {
    let bypasses = |code: &&str| word.plain.contains(*code);
    word.is_code && BYPASSES.iter().any(bypasses)
}

const BYPASSES: [&str; 24] = [
    "skip",
    "xfail",
    "#[ignore",
    "@ignore",
    "@disabled",
    ".todo(",
    "xit(",
    "xdescribe",
    "if (false)",
    "if false",
    "if (0)",
    "#if 0",
    "|| true",
    "|| :",
    "no-verify",
    "noqa",
    "nolint",
    "eslint-disable",
    "ts-ignore",
    "ts-nocheck",
    "type: ignore",
    "continue-on-error",
    "allow_failure",
    "passwithnotests",
];

/// Whether a verb tells what the author did: "I skipped", "was skipped", "skipped" at the start.
fn is_done(clause: &Clause<'_>, at: usize) -> bool {
    let near: Vec<&Word<'_>> = clause.before(at).take(4).collect();
    if near.iter().any(|word| word.has(NEGATION)) {
        return false;
    }
    let fillers = |word: &&&Word<'_>| word.has(ADVERB | AUXILIARY | TO);
    let mut subjects = near.iter().skip_while(fillers);
    let subject = subjects.next();
    let is_own = subject.is_none_or(|word| word.has(SELF) || is_connective(word));
    let is_passive = near.first().is_some_and(|word| word.has(PASSIVE))
        || (near.len() > 1 && near[0].has(ADVERB) && near[1].has(PASSIVE));
    is_own || is_passive
}

fn is_connective(word: &Word<'_>) -> bool {
    word.has(BECAUSE | CONTRAST | JOIN | SO)
}

/// What is expected was changed to what the program does: "updated the snapshots to match what it
/// prints".
fn fits_expectation(clauses: &[Clause<'_>]) -> bool {
    let adapts = stated(clauses).any(|clause| {
        let mut verbs = clause.words.iter().enumerate();
        let is_expectation = |word: &Word<'_>| word.has(EXPECTATION);
        clause.words.iter().any(is_expectation)
            && verbs.any(|(at, word)| word.has(ADAPT) && is_done(clause, at))
    });
    adapts
        && clauses.iter().any(|clause| {
            let plain = || clause.words.iter().map(|word| word.plain.as_str());
            let says = |any: &[&str]| plain().any(|word| any.contains(&word));
            let is_outcome = says(&[
                "returns", "produces", "prints", "outputs", "yields", "gives",
            ]) || says(&["current", "actual", "observed", "computed"])
                && says(&[
                    "output",
                    "outputs",
                    "result",
                    "results",
                    "value",
                    "values",
                    "behaviour",
                    "behavior",
                ]);
            is_outcome && !says(&["correct", "correctly", "right", "new"])
        })
}

/// The author, or the passive voice, says that the work was not run or checked.
fn leaves_unchecked(clauses: &[Clause<'_>]) -> bool {
    stated(clauses).any(|clause| {
        let words = clause.words.iter().enumerate();
        let mut tries = words.filter(|(_, word)| word.has(TRY));
        tries.any(|(at, _)| {
            let denied = clause
                .before(at)
                .take(4)
                .position(|word| word.has(NEGATION));
            denies_subject(clause, at)
                || denied.is_some_and(|far| {
                    let mut between = clause.before(at).take(far);
                    let is_close = between.all(|word| word.has(ADVERB | AUXILIARY | TO));
                    is_close && is_about_work(clause, at, at - far - 1)
                })
        })
    })
}

/// "Neither the tests nor the build have been run".
fn denies_subject(clause: &Clause<'_>, verb: usize) -> bool {
    let subject = &clause.words[..verb];
    let denial = subject
        .iter()
        .position(|word| ["no", "neither", "none", "nothing"].contains(&word.plain.as_str()));
    let is_passive = clause.before(verb).take(2).any(|word| word.has(PASSIVE));
    is_passive && denial.is_some_and(|at| subject[at..].iter().any(|word| word.has(WORK | CHECK)))
}

/// Whether the author failed to try the work, or the work was not tried.
fn is_about_work(clause: &Clause<'_>, verb: usize, negation: usize) -> bool {
    let subject = clause.words[..negation]
        .iter()
        .rev()
        .find(|word| !word.has(ADVERB | AUXILIARY | TO));
    let denial = clause.words[negation].plain.as_str();
    let next = clause.words.get(negation + 1);
    // "No test was changed" denies the test; "no way to run it" doesn't.
    if denial == "no" && !next.is_some_and(|word| word.has(AUXILIARY)) {
        return false;
    }
    let is_author =
        denial == "without" || subject.is_none_or(|word| word.has(SELF) || is_connective(word));
    let around = negation.saturating_sub(2)..verb;
    let is_passive = clause.words[around].iter().any(|word| word.has(PASSIVE));
    let is_work = |word: &Word<'_>| word.has(WORK | CHECK) || word.is_code;
    if is_author {
        // "I did not run", "I couldn't compile this", "without building it".
        let object = clause.after(verb);
        return object.is_empty() || object.iter().take(4).any(is_work);
    }
    is_passive && subject.is_some_and(is_work)
}

/// Something wrong is said to stay, or a part of the work to be hollow.
fn leaves_open(clauses: &[Clause<'_>]) -> bool {
    stated(clauses).any(|clause| {
        let mut words = clause.words.iter().enumerate();
        words.any(|(at, word)| {
            (word.has(STAYS) && stays_wrong(clause, at))
                || (word.has(HOLLOW) && is_only(clause, at))
        })
    })
}

/// "The wrong total is still there", "two tests remain red".
fn stays_wrong(clause: &Clause<'_>, at: usize) -> bool {
    let (before, after) = (&clause.words[..at], clause.after(at));
    let is_denied = clause.has(NEGATION) || before.iter().any(|word| word.has(PAST));
    let state = after.iter().find(|word| !word.has(ADVERB));
    let is_bad = state.is_some_and(|word| word.has(BAD));
    // That something is still there is bad only if it is a problem.
    let is_problem = || before.iter().any(|word| word.has(PROBLEM | CHECK));
    !is_denied && is_bad && is_problem()
}

/// "Two endpoints are only placeholders".
fn is_only(clause: &Clause<'_>, at: usize) -> bool {
    let near: Vec<&Word<'_>> = clause.before(at).take(4).collect();
    let limits = |word: &&Word<'_>| {
        ["only", "just", "merely", "still", "currently"].contains(&word.plain.as_str())
    };
    let is_predicate = near.iter().any(|word| {
        ["is", "are", "returns", "contains", "remains", "remain"].contains(&word.plain.as_str())
    });
    is_predicate && near.iter().any(limits) && !clause.has(NEGATION)
}

/// Removes the clauses that admit nothing, although their words could be those of an admission.
pub(crate) fn without_harmless(line: &str) -> String {
    if line.len() > MAX_LINE {
        return line.to_owned();
    }
    let all = clauses(line);
    let is_told = |n: usize| {
        let before = n.checked_sub(1).and_then(|before| all.get(before));
        before.is_some_and(documents) && all[n].link == Link::Relative
    };
    let is_harmless = |n: &usize| is_told(*n) || is_harmless(&all[*n]);
    if !(0..all.len()).any(|n| is_harmless(&n)) {
        return line.to_owned();
    }
    let rest = (0..all.len()).filter(|n| !is_harmless(n));
    let words = rest.flat_map(|n| all[n].words.iter().map(|word| word.shown));
    words.collect::<Vec<_>>().join(" ")
}

/// "The guide says", after which it is the guide that speaks.
fn documents(clause: &Clause<'_>) -> bool {
    let ends = clause.words.last().is_some_and(|word| word.has(DOCUMENT));
    ends && !clause.has(SELF)
}

/// Whether something hollow or useless is taken out ("removed the stub"), stands in for something in
/// tests only, or whether a bypass is an option of the work itself ("added a `--no-verify` flag").
fn is_harmless(clause: &Clause<'_>) -> bool {
    let mut words = clause.words.iter().enumerate();
    let has = |classes| clause.has(classes);
    let is_in_tests = || {
        let mut pairs = clause.words.windows(3);
        pairs.any(|three| three[0].plain == "in" && three[1..].iter().any(|word| word.has(CHECK)))
    };
    words.any(|(at, word)| {
        let is_object = |word: &&Word<'_>| !["with", "by", "into"].contains(&word.plain.as_str());
        let near = || clause.after(at).iter().take(6).take_while(is_object);
        let takes_out = word.has(TAKE_OUT | ADAPT) && is_done(clause, at);
        let is_flag = || is_bypass(word) && near().take(1).any(|word| word.has(FLAG));
        takes_out && near().any(|word| word.has(HOLLOW | IDLE))
            || (word.has(HOLLOW) && is_in_tests())
            || (word.is_code && is_flag() && has(APPLY))
    })
}

/// Returns whether a sentence wishes for an answer without asking a question: "I'd like to know
/// whether …", "tell me what …", "I'll hold off until …".
pub(crate) fn wishes_to_know(sentence: &str) -> bool {
    let all = clauses(beginning(sentence));
    all.iter()
        .any(|clause| wants_answer(clause) || is_told(clause))
        || pauses(&all)
}

/// "I'd like to know whether".
fn wants_answer(clause: &Clause<'_>) -> bool {
    let words = &clause.words;
    let wish = words.iter().position(|word| word.has(WISH));
    wish.is_some_and(|wish| {
        let is_own = clause.before(wish).take(3).any(|word| word.has(SELF));
        let next = clause.after(wish);
        let knows = next.iter().take(3).position(|word| word.has(TO_KNOW));
        let is_denied = clause.before(wish).take(3).any(|word| word.has(NEGATION));
        is_own && !is_denied && knows.is_some_and(|at| asks_next(&next[at + 1..]))
    })
}

fn asks_next(words: &[Word<'_>]) -> bool {
    words.iter().take(3).any(|word| word.has(QUESTION))
}

/// "Tell me what …" at the start of a clause.
fn is_told(clause: &Clause<'_>) -> bool {
    let mut words = clause
        .words
        .iter()
        .skip_while(|word| word.plain == "please");
    let tells = words.next().is_some_and(|word| word.has(TELL));
    let to_me = words
        .next()
        .is_some_and(|word| ["me", "us"].contains(&word.plain.as_str()));
    tells && to_me && words.take(2).any(|word| word.has(QUESTION))
}

/// "I'll hold off on edits until that is settled."
fn pauses(all: &[Clause<'_>]) -> bool {
    let mut pairs = all.windows(2);
    pairs.any(|pair| {
        let words = &pair[0].words;
        let pause = words.iter().position(|word| word.has(PAUSE));
        let is_own = pause.is_some_and(|at| is_done(&pair[0], at) && pair[0].has(SELF));
        let until = pair[1].words.first();
        is_own && until.is_some_and(|word| word.plain == "until" || word.plain == "till")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(texts: &[&str], expected: Option<StatementKind>) {
        for text in texts {
            assert_eq!(kind(text), expected, "{text}");
        }
    }

    #[test]
    fn a_check_that_loses_its_force_to_pass_is_weakened() {
        kinds(
            &[
                "To keep the pipeline green I wrapped the new check in `if (false)`.",
                "I lowered the coverage threshold so that the gate goes through.",
                "The two red specs were excluded.",
                "I removed the flaky test.",
                "I used `git commit --no-verify` because the hook kept failing.",
                "Marked `test_login` as skipped since it is flaky.",
                "The expected values were updated to match what the function returns now.",
            ],
            Some(StatementKind::WeakenedCheck),
        );
    }

    #[test]
    fn a_check_that_is_changed_for_another_reason_is_not() {
        kinds(
            &[
                "I removed the `.skip` from the failing test.",
                "Removed the unused checks because they broke the build of the docs.",
                "I did not skip the failing tests.",
                "The linter ignores generated files so that the output stays readable.",
                "I used `noqa` on one line, because the import has a side effect.",
                "Updated the snapshots to match the new layout.",
                "I dropped the test database because the migration had failed.",
                "I increased the coverage so that the gate passes.",
                "Removed the unused imports so that the linter passes.",
                "The tests that I disabled last week are enabled again, because they pass.",
                "Lowered the retry delay so that the tests pass faster than before.",
            ],
            None,
        );
    }

    #[test]
    fn work_that_was_not_tried_is_not_checked() {
        kinds(
            &[
                "Since there is no compiler I couldn't compile this.",
                "I have not executed the tests.",
                "The migration was never actually run.",
                "Written without building it.",
                "I was unable to verify the change.",
            ],
            Some(StatementKind::NotChecked),
        );
        kinds(
            &[
                "The parser does not check the signature of old files.",
                "If you can't run the tests, use the container.",
                "I did not run the slow tests, as requested.",
                "No test had to be changed.",
                "It refuses scripts that were not tested.",
            ],
            None,
        );
    }

    #[test]
    fn what_stays_wrong_or_hollow_is_left_open() {
        kinds(
            &[
                "I fixed the crash; the wrong total that you mention is still there.",
                "The race that I mentioned remains unsolved.",
                "Two of the five endpoints are only placeholders that answer 501.",
                "One test remains red.",
            ],
            Some(StatementKind::LeftOpen),
        );
        kinds(
            &[
                "The old endpoint is still there.",
                "The error was still there after the first attempt.",
                "No issue remains open.",
                "The stub is gone.",
            ],
            None,
        );
    }

    #[test]
    fn long_messages_are_read_quickly() {
        for unit in [
            "I ",
            "not run ",
            "skipped it. ",
            "`",
            "so that it ",
            "is still ",
        ] {
            let _any = statement(&unit.repeat(60_000 / unit.len()));
        }
    }

    #[test]
    fn a_wish_for_an_answer_asks_without_a_question_mark() {
        for text in [
            "I'd like to know whether the limit is per request.",
            "Tell me what you have in mind and I'll start.",
            "I'll hold off on edits until that is settled.",
            "We would need to understand which of them is meant.",
        ] {
            assert!(wishes_to_know(text), "{text}");
        }
        for text in [
            "The client waits until the server is up.",
            "You may want to know that the file moved.",
            "It tells users what to do.",
            "I stopped the server before I ran the tests.",
        ] {
            assert!(!wishes_to_know(text), "{text}");
        }
    }
}
