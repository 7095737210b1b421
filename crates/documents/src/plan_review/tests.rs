use super::*;

const PLAN: &str = "# OriginalPlan

## Phase 1

- [x] 1.1 Set up
  - **Verify**: `true`

- [ ] 1.2 Build
  - **Do**: build it
  - **Verify**: `make`

- [ ] 1.2.1 [FIX 1.2] Fix: boom
  - **Verify**: `make`

## Phase 2

- [ ] 2.1 Test
  - **Verify**: `make test`

- [ ] 2.2 Ship

---

The end.
";

fn key(file: &TaskFile, id: &str) -> TaskKey {
    let id = regreen_model::TaskId::parse(id).unwrap();
    let row = file.rows_with_id(&id).next().unwrap();
    file.key(row).unwrap()
}

fn ids(keys: &[TaskKey]) -> Vec<&str> {
    keys.iter().map(|key| key.id.as_str()).collect()
}

/// Reviews a plan while 1.2 and its fix are being worked on.
fn reviewed(after: &str) -> PlanReview {
    reviewed_again(after, &[])
}

fn reviewed_again(after: &str, put_back: &[&str]) -> PlanReview {
    let before = TaskFile::read(PLAN);
    let running = [key(&before, "1.2"), key(&before, "1.2.1")];
    let put_back = put_back.iter().map(|id| key(&before, id)).collect();
    review(&before, &TaskFile::read(after), &running, &put_back)
}

fn tampering(review: &PlanReview) -> Vec<(&str, RowChange)> {
    let one = |one: &'_ RevertedEdit| one.what;
    review
        .reverted
        .iter()
        .map(|taken| (taken.key.id.as_str(), one(taken)))
        .collect()
}

#[test]
fn rows_that_are_put_back_stand_in_the_gaps_they_stood_in() {
    let before = "- [ ] 1.1 a\n\nWords.\n\n- [ ] 1.2 b\n- [ ] 1.3 c\n- [ ] 1.4 d\n\n- [ ] 1.5 e\n";
    let gone = |rows: &[&str]| {
        let stays = |line: &&str| !rows.iter().any(|row| line.contains(row));
        before
            .split_inclusive('\n')
            .filter(stays)
            .collect::<String>()
    };
    for rows in [
        ["1.2", "1.2"],
        ["1.3", "1.3"],
        ["1.4", "1.4"],
        ["1.2", "1.3"],
    ] {
        let plan = TaskFile::read(before);
        let running = [key(&plan, "1.5")];
        let review = review(
            &plan,
            &TaskFile::read(gone(&rows)),
            &running,
            &BTreeSet::new(),
        );
        assert_eq!(review.text.as_deref(), Some(before), "{rows:?}");
    }
}

#[test]
fn an_untouched_plan_needs_no_review() {
    assert_eq!(reviewed(PLAN), PlanReview::default());
}

#[test]
fn the_agents_own_tick_is_taken_back_without_a_word() {
    let review = reviewed(&PLAN.replace("[ ] 1.2 Build", "[x] 1.2 Build"));
    assert_eq!(review.text.as_deref(), Some(PLAN));
    assert_eq!(tampering(&review), [("1.2", RowChange::Ticked)]);
    assert_eq!(review.warnings, Vec::<String>::new());
    assert_eq!(review.claims, []);
}

#[test]
fn changes_to_done_and_running_rows_are_taken_back() {
    let after = PLAN
        .replace("[x] 1.1 Set up", "[ ] 1.1 Set up")
        .replace("`make`\n\n- [ ] 1.2.1", "`true`\n\n- [ ] 1.2.1")
        .replace("Fix: boom", "Fix: something else")
        .replace("The end.", "The very end.");
    let review = reviewed(&after);
    assert_eq!(review.text, Some(PLAN.replace("The end.", "The very end.")));
    assert_eq!(
        tampering(&review),
        [
            ("1.1", RowChange::Unticked),
            ("1.2", RowChange::Edited),
            ("1.2.1", RowChange::Edited)
        ]
    );
    assert_eq!(
        review.warnings,
        [
            "task 1.1 is done: the agent unticked it; ticked it again",
            "task 1.2 is being worked on: reverted the agent's changes to it",
            "task 1.2.1 is being worked on: reverted the agent's changes to it",
        ]
    );
}

#[test]
fn a_tick_of_another_row_is_a_claim_with_the_verify_of_before() {
    let after = PLAN
        .replace("[ ] 2.1 Test", "[x] 2.1 Test")
        .replace("`make test`", "`true`")
        .replace("[ ] 2.2 Ship", "[x] 2.2 Ship");
    let review = reviewed(&after);
    // Nothing unverified is ticked.
    assert_eq!(review.text.as_deref(), Some(PLAN));
    let claims: Vec<(&str, String)> = review
        .claims
        .iter()
        .map(|claim| (claim.key.id.as_str(), claim.verify.concat()))
        .collect();
    assert_eq!(
        claims,
        [("2.1", "`make test`".to_owned()), ("2.2", String::new())]
    );
    let redefined = RowChange::Redefined(Aspect::Verify);
    assert_eq!(tampering(&review), [("2.1", redefined)]);
    assert_eq!(review.edited, []);
}

#[test]
fn the_definition_of_a_task_is_restored() {
    use Aspect::{Commit, Id, Markers, Nesting, Verify};
    let row = "- [ ] 2.1 Test\n  - **Verify**: `make test`\n  - **Commit**: `test: all`\n";
    let plan = format!("- [ ] 1.1 Build\n\n{row}\n- [ ] 2.2 Ship\n");
    for (what, from, to, aspect) in [
        ("a star makes it optional", "[ ] 2.1", "[ ]* 2.1", Markers),
        ("an escaped star, too", "[ ] 2.1", "[ ]\\* 2.1", Markers),
        (
            "a marker makes it a fix",
            "2.1 Test",
            "2.1 [FIX 1.1] Test",
            Markers,
        ),
        (
            "a marker before the id",
            "2.1 Test",
            "[VERIFY] 2.1 Test",
            Markers,
        ),
        ("another id", "2.1 Test", "7.1 Test", Id),
        ("another Verify", "make test", "true", Verify),
        ("no Verify", "  - **Verify**: `make test`\n", "", Verify),
        (
            "a Verify that comes first",
            "  - **Verify**",
            "  - **Verify**: `true`\n  - **Verify**",
            Verify,
        ),
        ("another Commit", "test: all", "chore: nothing", Commit),
        (
            "a group",
            "  - **Commit**",
            "  - [x] 2.1.1 Part\n  - **Commit**",
            Nesting,
        ),
    ] {
        let before = TaskFile::read(plan.as_str());
        let after = TaskFile::read(plan.replacen(from, to, 1));
        assert_ne!(before.text(), after.text(), "{what}");
        let running = [key(&before, "1.1")];
        let review = review(&before, &after, &running, &BTreeSet::new());
        assert_eq!(review.text.as_deref(), Some(plan.as_str()), "{what}");
        let redefined = RowChange::Redefined(aspect);
        let taken_back = tampering(&review);
        assert!(
            taken_back.contains(&("2.1", redefined)),
            "{what}: {taken_back:?}"
        );
        assert!(!review.restored, "{what}");
    }
}

#[test]
fn files_that_make_a_verify_a_command_are_as_they_were() {
    let files = "  - **Files**: check.js\n";
    let verify = "  - **Verify**: node check.js\n";
    let own = format!("- [ ] 1.1 Build\n\n- [ ] 2.1 Test\n{files}{verify}");
    let above = format!("- [ ] 1.1 Build\n\n- [ ] 1.2 Write\n{files}\n- [ ] 2.1 Test\n{verify}");
    for plan in [own, above] {
        let before = TaskFile::read(plan.as_str());
        let after = TaskFile::read(plan.replace(files, ""));
        let running = [key(&before, "1.1")];
        let taken_back = review(&before, &after, &running, &BTreeSet::new());
        assert_eq!(taken_back.text.as_deref(), Some(plan.as_str()));
        // Naming more files is an edit like any other.
        let added = review(&after, &before, &running, &BTreeSet::new());
        assert_eq!(added.text, None, "{plan}");
    }
}

#[test]
fn texts_of_rows_not_yet_run_stay_beside_what_is_taken_back_elsewhere() {
    let after = PLAN
        .replace("[ ] 2.1 Test", "[ ]* 2.1 Test")
        .replace("2.2 Ship", "2.2 Ship it");
    let review = reviewed(&after);
    assert_eq!(review.text, Some(PLAN.replace("2.2 Ship", "2.2 Ship it")));
    assert_eq!(ids(&review.edited), ["2.2"]);
    assert_eq!(
        review.warnings,
        ["task 2.1 has not run yet: reverted the agent's change of its markers"]
    );
}

#[test]
fn a_vanished_row_is_put_back_once_where_it_stood() {
    let gone = PLAN.replace("- [ ] 2.1 Test\n  - **Verify**: `make test`\n\n", "");
    let review = reviewed(&gone);
    assert_eq!(review.text.as_deref(), Some(PLAN));
    assert_eq!(ids(&review.vanished), ["2.1"]);
    assert_eq!(
        review.warnings,
        ["restored task 2.1, which had vanished from the plan; run `regreen skip 2.1` to skip it"]
    );
    let again = reviewed_again(&gone, &["2.1"]);
    assert_eq!(again.text, None);
    assert_eq!(ids(&again.skipped), ["2.1"]);
    assert_eq!(
        again.warnings,
        ["task 2.1 has vanished from the plan again; skipping it"]
    );
}

#[test]
fn done_and_running_rows_are_put_back_whenever_they_are_gone() {
    let gone = PLAN
        .replace("- [x] 1.1 Set up\n  - **Verify**: `true`\n\n", "")
        .replace(
            "- [ ] 1.2.1 [FIX 1.2] Fix: boom\n  - **Verify**: `make`\n\n",
            "",
        );
    let review = reviewed_again(&gone, &["1.1", "1.2.1"]);
    assert_eq!(review.text.as_deref(), Some(PLAN));
    assert_eq!(
        tampering(&review),
        [("1.1", RowChange::Removed), ("1.2.1", RowChange::Removed)]
    );
    assert_eq!((review.vanished, review.skipped), (vec![], vec![]));
}

#[test]
fn rows_go_back_below_their_heading_even_if_it_has_no_other() {
    let gone = "# OriginalPlan

## Phase 1

- [x] 1.1 Set up
  - **Verify**: `true`

- [ ] 1.2 Build
  - **Do**: build it
  - **Verify**: `make`

- [ ] 1.2.1 [FIX 1.2] Fix: boom
  - **Verify**: `make`

## Phase 2
";
    let review = reviewed(gone);
    let text = review.text.unwrap();
    assert!(
        text.ends_with(
            "## Phase 2\n\n- [ ] 2.1 Test\n  - **Verify**: `make test`\n\n- [ ] 2.2 Ship\n"
        ),
        "{text}"
    );
}

#[test]
fn added_rows_and_edits_of_rows_not_yet_run_stay() {
    let after = PLAN
        .replace(
            "- [ ] 2.2 Ship\n",
            "- [ ] 2.2 Ship it\n\n- [ ] 2.3 Announce\n\n- [x] 2.4 Old news\n",
        )
        .replace("# OriginalPlan", "# The plan");
    let review = reviewed(&after);
    let unproven = after.replace("[x] 2.4", "[ ] 2.4");
    assert_eq!(review.text, Some(unproven));
    assert_eq!(ids(&review.edited), ["2.2"]);
    assert_eq!(ids(&review.added), ["2.3", "2.4"]);
    let claimed: Vec<&str> = review
        .claims
        .iter()
        .map(|claim| claim.key.id.as_str())
        .collect();
    assert_eq!(claimed, ["2.4"]);
    assert_eq!(review.warnings, Vec::<String>::new());
}

/// An agent that hides rows leaves no copies of them, which another fence would make tasks again.
#[test]
fn rows_that_an_agent_made_code_or_a_comment_stand_in_the_plan_once() {
    for [open, close] in [["```", "```"], ["~~~", "~~~"], ["<!--", "-->"]] {
        let hidden = PLAN.replace("- [ ] 2.1 Test", &format!("{open}\n- [x] 2.1 Test")) + close;
        let review = reviewed(&hidden);
        assert_eq!(review.text.as_deref(), Some(PLAN), "{hidden}");
        assert_eq!(ids(&review.vanished), ["2.1", "2.2"]);
        assert_eq!(
            review.warnings[0],
            "the agent put tasks into a code block or a comment; restored the plan from before the attempt"
        );
        // Gone again, they are left out, as if they were removed.
        let review = reviewed_again(&hidden, &["2.1", "2.2"]);
        assert_eq!(ids(&review.skipped), ["2.1", "2.2"]);
    }
}

#[test]
fn a_row_that_the_plan_quotes_is_not_a_hidden_one() {
    let text = "```\n- [ ] 1.2 b\n```\n\n- [ ] 1.1 a\n- [ ] 1.2 b\n- [ ] 1.3 c\n";
    let before = TaskFile::read(text);
    let after = TaskFile::read(text.replace("a\n- [ ] 1.2 b\n", "a\n- [ ] 1.4 d\n"));
    let review = review(&before, &after, &[key(&before, "1.1")], &BTreeSet::new());
    assert!(!review.restored);
    assert_eq!(
        (ids(&review.vanished), ids(&review.added)),
        (vec!["1.2"], vec!["1.4"])
    );
}

/// A fence around a plan that already has one turns it inside out, and rows put back close it.
#[test]
fn a_fence_around_the_plan_leaves_no_second_row_of_a_done_task() {
    let text = "* [ ] 1.1 a\n\n  ```\n  - [ ] no row\n  ```\n* [ ] 1.2 b\n  - **Verify**: `true`\n\n\n* [X] 1.3 c\n* [-] 1.10 d\n";
    let before = TaskFile::read(text);
    let after = TaskFile::read(format!("```\n{text}```\n"));
    let (running, done) = ([key(&before, "1.1")], key(&before, "1.3"));
    let put_back = ["1.2", "1.10"].map(|id| key(&before, id));
    let review = review(&before, &after, &running, &BTreeSet::from(put_back));
    let now = TaskFile::read(review.text.unwrap());
    let row = now.resolve(&done).unwrap();
    assert!(now.is_done(row), "{}", now.text());
}

#[test]
fn copies_of_protected_rows_are_removed() {
    let after = PLAN.replace(
        "- [ ] 2.1 Test",
        "- [x] 1.2 Build\n  - **Verify**: `true`\n\n- [ ] 2.1 Test",
    );
    let review = reviewed(&after);
    assert_eq!(review.text.as_deref(), Some(PLAN));
    assert_eq!(tampering(&review), [("1.2", RowChange::Duplicated)]);
}

#[test]
fn a_row_that_was_moved_into_a_running_task_is_put_back() {
    let after = PLAN
        .replace("- [ ] 2.1 Test\n  - **Verify**: `make test`\n\n", "")
        .replace(
            "  - **Do**: build it\n",
            "  - **Do**: build it\n  - [x] 2.1 Test\n  - [x] 7.7 New\n",
        );
    let review = reviewed(&after);
    assert_eq!(review.text.as_deref(), Some(PLAN));
    assert_eq!(ids(&review.vanished), ["2.1"]);
    assert_eq!(tampering(&review), [("1.2", RowChange::Edited)]);
}

/// Reverting the agent's change to 1.1 removes 1.2 from the text, but 1.2 never vanished.
#[test]
fn a_row_that_was_put_back_before_is_put_back_again_from_where_the_agent_nested_it() {
    let plan = "- [ ] 1.1 A\n- [ ] 1.2 B\n  - **Verify**: `b`\n- [ ] 1.3 C\n";
    let nested = "- [ ] 1.1 A\n  - [ ] 1.2 B\n    - **Verify**: `b`\n- [ ] 1.3 C\n";
    let before = TaskFile::read(plan);
    let put_back = BTreeSet::from([key(&before, "1.2")]);
    let review = review(&before, &TaskFile::read(nested), &[], &put_back);
    assert_eq!(review.text.as_deref(), Some(plan));
    assert_eq!(review.skipped, []);
}

#[test]
fn other_line_endings_alone_are_not_a_change() {
    let before = TaskFile::read(PLAN.replace('\n', "\r\n"));
    let running = [key(&before, "1.2")];
    let after = TaskFile::read(PLAN.replace("The end.", "Fin."));
    let review = review(&before, &after, &running, &BTreeSet::new());
    let expected = PLAN.replace("The end.", "Fin.").replace('\n', "\r\n");
    assert_eq!(review.text, Some(expected));
    assert_eq!(review.reverted, []);
}

#[test]
fn reordered_rows_stay_where_they_are() {
    let moved = PLAN
        .replace("- [ ] 2.2 Ship\n\n", "")
        .replace("- [ ] 2.1 Test", "- [ ] 2.2 Ship\n\n- [ ] 2.1 Test");
    let review = reviewed(&moved);
    assert_eq!((review.text, review.edited), (None, vec![]));
}

#[test]
fn a_plan_that_is_gone_or_garbage_is_restored() {
    for after in [
        "",
        "All done!\n",
        "- [x] Everything\n",
        "```\n",
        "# New plan\n\n- [ ] 9.1 Other\n- [ ] 9.2 Thing\n",
        &format!("<!--\n{PLAN}\n-->\n"),
        &format!("```\n{PLAN}\n```\n"),
    ] {
        let review = reviewed(after);
        assert_eq!(review.text.as_deref(), Some(PLAN), "{after}");
        assert!(review.restored);
        assert!(
            review.warnings[0].contains("restored the plan from before the attempt"),
            "{after}"
        );
        assert_eq!(review.claims, []);
    }
}

#[test]
fn a_list_without_ids_is_matched_by_its_titles() {
    let plan = "- [x] Set up\n- [ ] Build\n- [ ] Test\n- [ ] Ship\n";
    let before = TaskFile::read(plan);
    let running = [key(&before, "2")];
    let after = "- [ ] Build faster\n- [ ] Inspect\n- [x] Ship\n- [ ] Test\n- [x] Set up\n";
    let review = review(&before, &TaskFile::read(after), &running, &BTreeSet::new());
    let text = review.text.unwrap();
    let file = TaskFile::read(text.as_str());
    assert!(file.resolve(&running[0]).is_some(), "{text}");
    assert!(
        text.contains("- [ ] Build\n") && text.contains("- [x] Set up\n"),
        "{text}"
    );
}

#[test]
fn a_text_without_a_last_line_ending_stays_one() {
    let plan = "- [x] 1.1 A\n- [ ] 1.2 B\n- [ ] 1.3 C";
    let before = TaskFile::read(plan);
    let running = [key(&before, "1.2")];
    let after = TaskFile::read("- [x] 1.1 A\n- [ ] 1.2 B");
    let review = review(&before, &after, &running, &BTreeSet::new());
    assert_eq!(review.text.as_deref(), Some(plan));
}

#[test]
fn a_restored_block_is_set_apart_from_what_follows() {
    let plan = "- [x] 1.1 A\n\nA note.\n\n---\n\n- [ ] 1.2 B\n- [ ] 1.3 C\n";
    let before = TaskFile::read(plan);
    let running = [key(&before, "1.2")];
    let after = TaskFile::read(plan.replace("\n\nA note.\n\n---", "\n---"));
    let review = review(&before, &after, &running, &BTreeSet::new());
    assert_eq!(review.text.as_deref(), Some(plan));
    assert!(!review.restored);
}

#[test]
fn a_group_keeps_its_rows() {
    let plan = "- [ ] 1. Group\n  Words.\n  - [x] 1.1 A\n  - [ ] 1.2 B\n  - [ ] 1.3 C\n- [ ] 2. Other\n  - [ ] 2.1 D\n";
    let before = TaskFile::read(plan);
    let running = [key(&before, "1.2")];
    for gone in [
        "  - [x] 1.1 A\n",
        "  - [ ] 1.2 B\n",
        "  - [ ] 1.3 C\n",
        "- [ ] 2. Other\n",
        "  - [ ] 2.1 D\n",
    ] {
        let after = TaskFile::read(plan.replace(gone, ""));
        let review = review(&before, &after, &running, &BTreeSet::new());
        assert_eq!(review.text.as_deref(), Some(plan), "{gone}");
        assert!(!review.restored, "{gone}");
    }
}

#[test]
fn a_plan_of_which_all_is_gone_is_told_in_a_few_lines() {
    let rows = |n: u32| format!("- [ ] 1.{n} Task\n");
    let before = TaskFile::read((1..=500).map(rows).collect::<String>());
    let review = review(&before, &TaskFile::read(""), &[], &BTreeSet::new());
    assert_eq!(review.vanished.len(), 500);
    assert!(review.warnings.len() < 15, "{:?}", review.warnings.len());
    let last = review.warnings.last().map(String::as_str);
    assert_eq!(last, Some("restored 490 more tasks"));
}

/// Who removed a row for good doesn't write another one in its place, whatever its Verify is.
#[test]
fn a_row_that_is_lost_is_not_added_again() {
    let whole = TaskFile::read(PLAN);
    let lost = BTreeSet::from([key(&whole, "2.1")]);
    let without = PLAN.replace("- [ ] 2.1 Test\n  - **Verify**: `make test`\n\n", "");
    let before = TaskFile::read(without.as_str());
    let running = [key(&before, "1.2")];
    for row in ["2.1 Test", "2.1 Other", "2.3 Test"] {
        let added = format!("{without}\n- [ ] {row}\n  - **Verify**: `true`\n");
        let reviewed = review(&before, &TaskFile::read(added), &running, &lost);
        let text = reviewed.text.unwrap();
        assert!(!text.contains(row), "{text}");
        assert!(reviewed.added.is_empty());
    }
    let added = format!("{without}\n- [ ] 2.4 More\n");
    let reviewed = review(&before, &TaskFile::read(added), &running, &lost);
    assert_eq!(ids(&reviewed.added), ["2.4"]);
}

#[test]
fn services_that_an_agent_declares_are_named_and_those_of_people_stay() {
    let serve = "- [ ] 3.1 Serve\n  - **Service**: `./fake`\n";
    let added = reviewed(&PLAN.replace("---", &format!("{serve}\n---")));
    assert_eq!(added.text, None);
    assert_eq!(added.clone().into_changes().services, ["./fake"]);
    assert_eq!(
        added.warnings,
        [
            "task 3.1, which the agent added, declares a service: in this run, it doesn't run during the checks of other tasks"
        ]
    );
    let before = "- [ ] 1.1 A\n- [ ] VE1 E2E startup\n  - **Do**: Start server: `npm start` in the background\n  - **Verify**: `true`\n";
    let changed = TaskFile::read(before.replace("npm start", "./fake"));
    let before = TaskFile::read(before);
    let changed = review(&before, &changed, &[key(&before, "1.1")], &BTreeSet::new());
    assert_eq!(
        tampering(&changed),
        [("VE1", RowChange::Redefined(Aspect::Service))]
    );
    assert_eq!(changed.text.as_deref(), Some(before.text()));
    assert_eq!(changed.services, []);
}
