use super::*;

/// `expected` has one letter per line, for its kind.
#[track_caller]
fn check(text: &str, expected: &str) {
    let letters: String = scan(text)
        .lines
        .iter()
        .map(|line| match line.kind {
            LineKind::Blank => '_',
            LineKind::Text => 't',
            LineKind::Item(_) => '-',
            LineKind::Heading => '#',
            LineKind::ThematicBreak => '=',
            LineKind::FenceOpen => '(',
            LineKind::FenceBody => '.',
            LineKind::FenceClose => ')',
            LineKind::Comment => '!',
            LineKind::IndentedCode => 'c',
        })
        .collect();
    assert_eq!(letters, expected, "{text}");
}

#[test]
fn lists_headings_and_breaks_are_distinguished() {
    check(
        "# a\n- b\n* c\n+ d\n1. e\n2) f\n---\n***\n- - -\n#g\n-h\n",
        "#-----===tt",
    );
}

#[test]
fn items_nest_by_the_column_of_their_content() {
    check("- a\n  - b\n    - c\n", "---");
    check("- a\n\n      - code of a\n", "-_c");
    check("- a\n      - text of a\n", "-t");
    check("1. a\n   - b\n", "--");
    check("-\ta\n\t- b\n", "--");
    check("    - code\n", "c");
}

#[test]
fn numbers_other_than_one_do_not_start_a_list_inside_a_paragraph() {
    check("In\n1984. [ ] a\n", "tt");
    check("In\n1. [ ] a\n2. [ ] b\n", "t--");
}

#[test]
fn rows_in_code_or_comments_do_not_count() {
    check("```\n- [ ] a\n```\n- b\n", "(.)-");
    check("~~~~\n```\n~~~\n~~~~\n", "(..)");
    check("<!--\n- [ ] a\n-->\n- b\n", "!!!-");
    check("<!-- one line -->\n- b\n", "!-");
    check("- a\n  ```\n  - [ ] b\n  ```\n", "-(.)");
    check("- ```\n  - [ ] b\n  ```\n- c\n", "-.)-");
}

#[test]
fn code_in_an_item_may_be_indented_less_than_the_item() {
    check("- a\n  ```\ntext\n# no heading\n  ```\n- b\n", "-(..)-");
}

#[test]
fn a_fence_that_never_closes_hides_nothing() {
    let text = "```\n- [ ] a\n## b\n";
    check(text, "t-#");
    assert_eq!(scan(text).warnings[0].line, 1);
    check("- a\n  ```\n- [ ] b\n  ```sh\n  x\n  ```\n", "-t-(.)");
    check("<!--\n- [ ] a\n", "t-");
}

#[test]
fn underlined_text_is_a_heading() {
    check("Title\n=====\n- a\n", "##-");
    check("- a\n---\n", "-=");
    check("a\n\n---\n", "t_=");
}

#[test]
fn continued_text_keeps_its_item_open() {
    check("- a\nlazy\n    - [ ] b\n", "-t-");
}

#[test]
fn text_that_continues_a_quotation_is_not_text_of_the_list() {
    check("> a\nlazy\n2. [ ] b\n", "tt-");
    check("1.  a\n    > q\nlazy\n    - [ ] b\n", "-tt-");
    check("- > q\nlazy\n  - [ ] b\n", "-t-");
    check("> # a\ntext\n2. [ ] b\n", "ttt");
    check("> a\n> ===\ntext\n2. [ ] b\n", "tttt");
    check("> a\n\n    code\n", "t_c");
}

#[test]
fn an_empty_item_ends_with_the_blank_line_below_it() {
    check("-\n\n    - [ ] code\n", "-_c");
    check("-\n  - [ ] a\n", "--");
    check("- -\n\n  - [ ] a\n", "-_-");
    check("-     code\n\n    - [ ] a\n", "-_-");
    check("-\n  \n    - [ ] a\n", "-_-");
    check("-\n  \n\n    - [ ] code\n", "-__c");
}

#[test]
fn hostile_nesting_costs_no_time() {
    let many = "- ".repeat(200_000) + "x\n";
    assert_eq!(scan(&many).lines.len(), 1);
    let unclosed = "  ```x\n".repeat(50_000);
    assert_eq!(scan(&format!("- a\n{unclosed}")).lines.len(), 50_001);
    let nested: String = (0..600)
        .map(|n| format!("{0}- a\n{0}  ```x\n", "  ".repeat(n)))
        .collect();
    let many = "text\n".repeat(200_000);
    assert_eq!(scan(&format!("{nested}{many}")).lines.len(), 201_200);
    let deep: String = (0..2_000)
        .map(|n| format!("{}- a\n", "  ".repeat(n)))
        .collect();
    assert_eq!(scan(&deep).lines.len(), 2_000);
}
