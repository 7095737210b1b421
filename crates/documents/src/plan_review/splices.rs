use std::ops::Range;

/// Replacements of parts of one text, to be made together.
#[derive(Debug, Default)]
pub(super) struct Splices(Vec<(Range<usize>, String)>);

impl Splices {
    pub(super) fn push(&mut self, at: Range<usize>, with: String) {
        self.0.push((at, with));
    }

    /// The text with all of them made. What lies inside another that starts before it is
    /// left out; insertions at one place keep their order.
    pub(super) fn applied_to(mut self, text: &str) -> String {
        self.0
            .sort_by_key(|(at, _)| (at.start, std::cmp::Reverse(at.end)));
        let mut result = String::with_capacity(text.len());
        let mut from = 0;
        for (at, with) in self.0 {
            if at.start < from {
                continue;
            }
            result.push_str(text.get(from..at.start).unwrap_or_default());
            result.push_str(&with);
            from = at.end;
        }
        result.push_str(text.get(from..).unwrap_or_default());
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_outer_of_two_replacements_is_made_and_insertions_keep_their_order() {
        let mut splices = Splices::default();
        splices.push(4..5, "X".into());
        splices.push(1..3, "B".into());
        splices.push(1..2, "no".into());
        splices.push(5..5, "1".into());
        splices.push(5..5, "2".into());
        assert_eq!(splices.applied_to("abcdefg"), "aBdX12fg");
    }
}
