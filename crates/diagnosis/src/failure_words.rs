//! Words for failure in the output of programs that no rule knows.

use crate::rules::lazy_regex::LazyRegex;

static WORDS: LazyRegex = LazyRegex::new(
    r"(?xi)\b(?:fail(?:ed|ures?|s|ing)? | errors? | exceed(?:s|ed|ing)? | missing | invalid | unexpected
        | expected | cannot | can't | could(?:\snot|n't) | unable | denied | mismatch(?:es|ed)? | differs?
        | violat(?:es|ed|ions?) | unknown | undefined | unresolved | unsupported | broken | illegal
        | conflicts? | conflicting | abort(?:ed|ing|s)? | refus(?:ed|es|ing) | d(?:o|oes|id)(?:\snot|n't)
        | (?:is|are|was|were)(?:\snot|n't) | not\s(?:found|allowed|valid|set|defined|permitted|supported)
        | too\s(?:many|long|large|few|old|big|small) | no\ssuch | duplicated?s? | crash(?:ed|es)?
        | exceptions? | fatal | forbidden | rejected | wrong | bad | incorrect(?:ly)? | outdated | must
        | should | problems? | panic(?:ked)? | corrupt(?:ed)? | unreachable | dead\slinks?
        | out\sof\sdate)\b",
);

/// Returns whether a line says that something is wrong.
pub(crate) fn says_failure(line: &str) -> bool {
    WORDS.is_match(line)
}
