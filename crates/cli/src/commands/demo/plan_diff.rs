//! A line-by-line diff of a task list.

/// Shows ticked rows with `-` before and `+` after, new lines with `+`, and `...` for unchanged
/// lines. For short lists only: the time grows with the product of both lengths.
pub fn plan_diff(before: &str, after: &str) -> String {
    let before: Vec<&str> = before.lines().collect();
    let after: Vec<&str> = after.lines().collect();
    let common = common_from(&before, &after);
    let (mut old, mut new) = (0, 0);
    let mut diff = Diff::default();
    while old < before.len() || new < after.len() {
        let pair = before.get(old).zip(after.get(new));
        if let Some((then, now)) = pair.filter(|(then, now)| is_same_row(then, now)) {
            diff.kept(then, now);
            (old, new) = (old + 1, new + 1);
        } else if new == after.len()
            || (old < before.len() && common[old + 1][new] > common[old][new + 1])
        {
            diff.line('-', before[old]);
            old += 1;
        } else {
            diff.line('+', after[new]);
            new += 1;
        }
    }
    diff.text
}

/// Whether it is the same line, ticked or not.
fn is_same_row(before: &str, after: &str) -> bool {
    before == after || before == after.replacen("[x]", "[ ]", 1)
}

/// Returns how many lines both have in common, in order, from each pair of positions on.
fn common_from(before: &[&str], after: &[&str]) -> Vec<Vec<usize>> {
    let mut common = vec![vec![0; after.len() + 1]; before.len() + 1];
    for old in (0..before.len()).rev() {
        for new in (0..after.len()).rev() {
            common[old][new] = match is_same_row(before[old], after[new]) {
                true => common[old + 1][new + 1] + 1,
                false => common[old + 1][new].max(common[old][new + 1]),
            };
        }
    }
    common
}

#[derive(Debug, Default)]
struct Diff {
    text: String,
    has_gap: bool,
}

impl Diff {
    fn kept(&mut self, before: &str, after: &str) {
        if before == after {
            self.has_gap = true;
        } else {
            self.line('-', before);
            self.line('+', after);
        }
    }

    fn line(&mut self, sign: char, line: &str) {
        if std::mem::take(&mut self.has_gap) && !self.text.is_empty() {
            self.text.push_str("  ...\n");
        }
        self.text.push_str(format!("{sign} {line}").trim_end());
        self.text.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ticked_row_stands_before_the_fix_that_follows_it() {
        let before = "# Plan\n\n- [ ] 1\n\n- [ ] 2\n  - **Do**: it\n";
        let after = "# Plan\n\n- [x] 1\n\n- [x] 1.1\n  - why\n\n- [x] 2\n  - **Do**: it\n";
        assert_eq!(
            plan_diff(before, after),
            "- - [ ] 1\n+ - [x] 1\n  ...\n+ - [x] 1.1\n+   - why\n+\n- - [ ] 2\n+ - [x] 2\n"
        );
    }

    #[test]
    fn everything_new_or_gone_is_shown() {
        assert_eq!(plan_diff("a\nb\n", "a\nb\n"), "");
        assert_eq!(plan_diff("", "a\n"), "+ a\n");
        assert_eq!(plan_diff("a\nb\n", "b\n"), "- a\n");
    }
}
