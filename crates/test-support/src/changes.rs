//! A line-by-line diff of two texts.

/// Returns the lines that differ: `+` inserted, `-` removed, `x` ticked or unticked.
pub(crate) fn changes(before: &str, after: &str) -> String {
    let before: Vec<&str> = before.lines().collect();
    let after: Vec<&str> = after.lines().collect();
    let kept = longest_common(&before, &after);
    let (mut old, mut new) = (0, 0);
    let mut text = String::new();
    let mut show = |mark: char, line: &str| {
        text.push_str(format!("{mark} {line}").trim_end());
        text.push('\n');
    };
    for (next_old, next_new) in kept.into_iter().chain([(before.len(), after.len())]) {
        for line in &before[old..next_old] {
            show('-', line);
        }
        for line in &after[new..next_new] {
            show('+', line);
        }
        if next_old < before.len() && before[next_old] != after[next_new] {
            show('x', after[next_new]);
        }
        (old, new) = (next_old + 1, next_new + 1);
    }
    text
}

/// Returns the indexes of a longest common subsequence, ignoring ticks.
fn longest_common(before: &[&str], after: &[&str]) -> Vec<(usize, usize)> {
    let same = |old: usize, new: usize| unticked(before[old]) == unticked(after[new]);
    let mut lengths = vec![vec![0_usize; after.len() + 1]; before.len() + 1];
    for old in (0..before.len()).rev() {
        for new in (0..after.len()).rev() {
            lengths[old][new] = if same(old, new) {
                lengths[old + 1][new + 1] + 1
            } else {
                lengths[old + 1][new].max(lengths[old][new + 1])
            };
        }
    }
    let (mut old, mut new) = (0, 0);
    let mut kept = Vec::new();
    while old < before.len() && new < after.len() {
        if same(old, new) {
            kept.push((old, new));
            (old, new) = (old + 1, new + 1);
        } else if lengths[old + 1][new] >= lengths[old][new + 1] {
            old += 1;
        } else {
            new += 1;
        }
    }
    kept
}

fn unticked(line: &str) -> String {
    line.replacen("[x]", "[ ]", 1).replacen("[X]", "[ ]", 1)
}

#[cfg(test)]
mod tests {
    use super::changes;

    #[test]
    fn inserted_removed_and_ticked_lines_are_shown() {
        let before = "# Tasks\n- [ ] 1.1 One\n- [ ] 1.2 Two\n- [ ] 1.3 Three\n";
        let after = "# Tasks\n- [x] 1.1 One\n- [ ] 1.1.1 Fix\n\n- [ ] 1.3 Three\n";
        let expected = "x - [x] 1.1 One\n- - [ ] 1.2 Two\n+ - [ ] 1.1.1 Fix\n+\n";
        assert_eq!(changes(before, after), expected);
        assert_eq!(changes(before, before), "");
    }
}
