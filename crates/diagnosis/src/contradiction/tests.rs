use proptest::prelude::*;

use super::*;

#[track_caller]
fn admits(message: &str, phrase: &str) {
    let found = contradiction(message).map(|found| found.phrase);
    assert_eq!(found.as_deref(), Some(phrase), "{message}");
}

#[track_caller]
fn is_fine(message: &str) {
    assert_eq!(contradiction(message), None, "{message}");
}

#[test]
fn the_five_admissions_are_found_in_any_form() {
    for (message, phrase) in [
        ("This step requires manual testing.", "requires manual"),
        ("It will require manual work", "require manual"),
        ("A token is required manually", "required manually"),
        ("This requires a manual login", "requires a manual"),
        ("The UI check cannot be automated.", "cannot be automated"),
        ("It can't be automated", "can't be automated"),
        ("It can’t be automated", "can’t be automated"),
        ("It could not be automated", "could not be automated"),
        ("I could not complete the migration", "could not complete"),
        ("I couldn't complete it", "couldn't complete"),
        (
            "The migration could not be completed.",
            "could not be completed",
        ),
        ("I cannot complete this", "cannot complete"),
        ("This needs human review", "needs human"),
        ("We need a human to look at it", "need a human"),
        ("needs some further human input", "needs some further human"),
        (
            "Status: Blocked, needs manual intervention",
            "manual intervention",
        ),
        ("MANUAL INTERVENTION REQUIRED", "MANUAL INTERVENTION"),
        ("**Requires manual** steps", "Requires manual"),
        ("It _requires_\n  manual steps", "requires manual"),
        ("> requires manual steps", "requires manual"),
        ("\u{1b}[31mrequires manual\u{1b}[0m", "requires manual"),
        ("```\nok\n```\nrequires manual steps", "requires manual"),
        (
            "```\nnever closed: requires manual steps",
            "requires manual",
        ),
        ("an odd ` mark, requires manual steps", "requires manual"),
    ] {
        admits(message, phrase);
    }
}

#[test]
fn the_line_is_counted_from_one() {
    let message = "Done.\n\n```\nx\n```\nBut it needs\nhuman review.";
    let found = contradiction(message).map(|found| (found.phrase, found.line));
    assert_eq!(found, Some(("needs human".to_owned(), 6)));
}

#[test]
fn a_negated_phrase_is_not_an_admission() {
    for message in [
        "no manual intervention needed",
        "No manual intervention was required.",
        "This does not require manual steps.",
        "It doesn't require any manual steps",
        "It doesn’t require manual steps",
        "It does not currently require manual steps",
        "Nothing needs human review.",
        "Nothing here needs human review.",
        "No step needs human review",
        "None of the steps require manual work",
        "There is nothing that requires manual intervention",
        "It runs without manual intervention.",
        "It runs without any further manual intervention",
        "There is no need for manual intervention",
        "It no longer requires manual setup",
        "It never needs human input",
        "No errors, warnings, or manual intervention",
        "No human or manual intervention",
        "There is no step that cannot be automated",
        "Manual intervention is not needed.",
        "Manual intervention was not required",
        "Manual intervention isn't necessary",
        "Manual intervention is no longer needed",
        "Manual intervention is unnecessary",
        "- Manual intervention: none",
        "Manual intervention: no.",
        "zero manual intervention",
    ] {
        is_fine(message);
    }
}

#[test]
fn a_negation_of_something_else_does_not_count() {
    for message in [
        "The tests do not pass and require manual work.",
        "I did not touch the config because it requires manual approval",
        "No, this requires manual work",
        "There are no errors. It requires manual work",
        "No errors: requires manual work",
        "No errors - requires manual work",
        "There is no API, requires manual work",
        "No credentials means manual intervention",
        "With no credentials available manual intervention is next",
        "It does not work without manual intervention",
        "Nothing works without manual intervention",
        "It cannot be deployed without manual intervention.",
        "Not everything is done\n\nrequires manual work",
        "- not done\n- requires manual work",
        "Nothing `x` requires manual work",
        "Manual intervention: no way around it",
        "Manual intervention is not optional",
        "I did not notice that this requires manual work",
        "No tests cover the deploy step of the thing that requires manual approval",
        "No manual intervention needed for the build, but the deploy requires manual approval",
    ] {
        assert!(contradiction(message).is_some(), "{message}");
    }
}

#[test]
fn code_and_other_words_are_not_admissions() {
    for message in [
        "",
        "All tests pass.\n\nTASK_COMPLETE",
        "```\nrequires manual intervention\n```",
        "The flag `requires manual` is new",
        "Added the text `needs human` and `manual intervention` to the docs",
        "The manual requires an update",
        "I wrote the manual. Intervention teams will like it",
        "needs humane treatment",
        "could not be more complete",
        "It requires. Manual steps follow",
    ] {
        is_fine(message);
    }
}

#[test]
fn hostile_sizes_are_read_quickly() {
    for unit in [
        "not ",
        "manual ",
        "no, or ",
        "requires a ",
        "`",
        "\n",
        "could not be ",
    ] {
        is_fine(&unit.repeat(200_000 / unit.len()));
    }
}

proptest! {
    #[test]
    fn any_message_is_read(message in "(\\PC|\n|not |manual |requires |`){0,100}") {
        if let Some(found) = contradiction(&message) {
            prop_assert!(found.line >= 1 && found.line <= message.lines().count());
        }
    }

    #[test]
    fn an_admission_is_found_after_any_text(before in "(\\PC|\n){0,80}") {
        prop_assume!(!before.contains("```") && !before.contains("~~~"));
        let message = format!("{before}\n\nThis requires manual work.");
        prop_assert!(contradiction(&message).is_some());
    }
}
