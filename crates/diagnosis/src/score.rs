use regreen_model::Finding;

use crate::mood::Mood;
use crate::rule::Rule;

/// How much a line proves: what its rule says, less what its mood takes away.
pub(crate) fn score(rule: &Rule, finding: &Finding) -> i32 {
    let discount = if rule.steady {
        0
    } else {
        Mood::of(&finding.text).discount()
    };
    i32::from(rule.weight) - discount
}
