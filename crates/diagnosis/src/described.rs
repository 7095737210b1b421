//! Prose that describes what the work does, not how it went. "Added a test that fails when
//! the cache is cold" tells of no failure; neither does "on an error a message is shown".

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;

/// Clauses about behaviour, up to the end of the clause.
static DESCRIPTION: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?xi)
          \b(?:fails?\sif|fails?\sunless|when|whenever|if|unless|in\scase|as\ssoon\sas)\s[^,.;:!?)—]*
        | \b(?:so|such)\sthat\s[^.;!?)]* | \bso\s(?:nobody|no\sone|nothing|users?|callers?|they|it|you)\s(?:can|could|will|would|never|is|are)\b[^.;!?)]*
        | \b(?:added|wrote|written|created|introduced|include[sd]?|there\sis\snow)\s(?:\S+\s){0,5}(?:tests?|cases?|checks?|specs?|assertions?|examples?|fixtures?)\s(?:that|which)\s[^,.;!?)]*
        | \b(?:added|implemented|introduced|enforced|new)\s(?:\S+\s){0,3}(?:validations?|rules?|checks?|constraints?|guards?|invariants?)(?:\s(?:for|to|on|of|in)(?:\s\S+){1,4})?:\s[^.;!?]*
        | \b(?:on|upon|after|for|in\scase\sof|handles?|handling|catch(?:es)?|reports?|shows?|returns?|raises?|throws?|logs?)\s(?:\S+\s){0,3}(?:errors?|failures?|failed|timeouts?|exceptions?)\b[^,.;!?)]*
        | \bretr(?:y|ies|ied|ying)\b[^.;!?)]* | \bgives?\sup\safter\b[^,.;!?)]*
        | \b(?:wenn|falls|sobald|sodass|damit)\s[^,.;:!?)]* | \bbei\s(?:einem|einer|jedem|jeder)?\s?\w*(?:fehler\w*|ausfall|timeout)[^,.;:!?)]*
        | \b(?:quand|lorsque|dès\sque|afin\sque|pour\sque|en\scas\sd(?:e|'))\b[^,.;:!?)]* | \blorsqu'[^,.;:!?)]* | \bs'il\s[^,.;:!?)]*
        | \b(?:cuando|para\sque|en\scaso\sde|quando|para\sque|em\scaso\sde|caso|in\scaso\sdi|affinché|wanneer|zodat|in\sgeval\svan)\s[^,.;:!?)]*
        | (?:когда|если|чтобы|при\s\w*\s?ошибк)[^,.;:!?)]*
        | [^，。；、：]*(?:失败|错误|失敗|エラー|不存在|找不到|실패|오류)[^，。；、]{0,6}(?:时|的时候|時に|場合|하면|경우)",
    )
    .ok()
});

/// After such a word a sentence says what went wrong, in whatever clause.
static ADVERSATIVE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?i)\b(?:but|however|although|though|unfortunately|aber|jedoch|allerdings|leider|mais|cependant|malheureusement|pero|sin embargo|mas|porém|però|ma|maar|echter|но|однако)\b|但|不过|しかし|ただし|하지만|그러나",
    )
    .ok()
});

/// The line without what it describes.
pub(crate) fn without_descriptions(line: &str) -> String {
    let (Some(description), Some(adversative)) = (DESCRIPTION.as_ref(), ADVERSATIVE.as_ref())
    else {
        return line.to_owned();
    };
    let sentences = line.split_inclusive(". ").map(|sentence| {
        if adversative.is_match(sentence) {
            Cow::Borrowed(sentence)
        } else {
            description.replace_all(sentence, " ")
        }
    });
    sentences.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, expected: &str) {
        let words: Vec<String> = without_descriptions(line)
            .split_whitespace()
            .map(str::to_owned)
            .collect();
        assert_eq!(words.join(" "), expected, "{line}");
    }

    #[test]
    fn what_the_work_does_is_left_out() {
        check(
            "Added a test that fails when the cache is cold, and made it pass.",
            ", and made it pass.",
        );
        check(
            "I escaped it so that nobody can inject a tag.",
            "I escaped it .",
        );
        check("Added validation: the amount can't be negative.", ".");
        check("登录失败时显示提示", "显示提示");
    }

    #[test]
    fn how_the_work_went_stays() {
        check("The tests fail when run in parallel.", "The tests fail .");
        check("When I start it, it crashes.", ", it crashes.");
        let but = "I added it, but when the build runs it fails.";
        check(but, but);
        check("运行测试时失败了", "运行测试时失败了");
        check("I have two tests that fail.", "I have two tests that fail.");
    }
}
