//! Admissions of unfinished work in words other than the five that always count.
//!
//! Prose is ambiguous, so an admission alone doesn't fail anything: it takes a second sign.

use std::sync::LazyLock;

use regex::Regex;

use super::Contradiction;
use crate::prose::{sentences, without_code};

/// The rest of a longer sentence isn't read, because no sentence needs more.
const MAX_SENTENCE: usize = 400;

// Both are made of English words, so `\w` and `\b` need to know ASCII only. With Unicode's letters, making
// them takes four fifths of all instructions of a short run.

/// Matches sentences that admit that something was not done, not checked, or only pretended.
static ADMITS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?xi-u)
         \b(?:could|can|was|were|am|is|are|did|do|does|has|have|had)(?:\ not|n't|not)\ (?:\w+\ ){0,2}(?:run|ran|start|started|execute|executed|test|tested|verify|verified|check|checked|confirm|confirmed|finish|finished|complete|completed|implement|implemented|convert|converted|update|updated|apply|applied|create|created|install|installed|build|built|deploy|deployed|try|tried|reach|access|reproduce|written|write|done|work|handle|cover|covered|support|fixed|touched|rebuilt|measured|compared|reviewed|fulfilled|met|connected|wired|called|find\ out|get\ (?:around|the|it|to)|tell|possible|there|ready|in\ place|part\ of)\b
        |\b(?:unable|not\ able|no\ way|not\ allowed|not\ possible)\ to\b|\bwas\ not\ possible\b
        |\bnot\ (?:yet|implemented|complete|started|all|every|ready|done|finished|verified|tested)\b|\bnever\ (?:run|executed|called|tried|attempted|tested|filled|been)\b
        |\b(?:yet|still|remain\w*|left|pending)\ (?:\w+\ ){0,2}to\ (?:be\ )?(?:do|done|be|write|written|add|added|migrate\w*|fix\w*|implement\w*)\b
        |\bstill\ (?:\w+\ ){0,2}(?:needs?|has\ to|have\ to|must|open|missing|fail\w*|red|broken|in|used|happens|required|to\ do)\b
        |\b(?:need|needs|have|has|must|should|will\ have|'ll\ need|requires?)\ (?:\w+\ ){0,2}(?:to\ )?(?:be\ )?(?:\w+\ ){0,4}(?:manually|by\ hand|yourself|by\ someone|by\ an\ admin\w*)\b
        |\b(?:manually|by\ hand)\ (?:after|before|on)\b|\bplease\ (?:run|create|set|add|restart|install|fill|apply|execute)\b|\byou(?:'ll|\ will)?\ (?:need|have|must)\ (?:to\ )?\w+
        |\b(?:someone|somebody|a\ human|an?\ admin\w*|the\ reviewer)\ (?:\w+\ )?(?:has|needs?|must|should)\b
        |\b(?:TODO|FIXME)\b
        |\b(?:i|we)\ (?:only\ |just\ |had\ to\ |have\ )?(?:skipped|left|disabled|deleted|removed\ the\ (?:failing|test)|commented|stubbed|mocked|faked|suppressed|bypassed|ignored|relaxed|weakened|gave\ up|stopped|postponed|dropped|xfailed|hard-?coded?|leave\ out|worked\ around|ran\ out|marked|replaced\ the\ failing|only)\b
        |\b(?:is|are|was|were)\ (?:only\ |just\ |now\ |still\ |currently\ )*(?:a\ )?(?:mocked|stubbed|faked|a\ stub|stub|skeleton|placeholder|partially|incomplete|unfinished|untested|unverified|missing|pending|commented\ out|disabled|skipped|excluded|left\ out|dropped|made\ up|dummy|hard-?coded|failing|empty\ except|turned\ off|unsupported|ignored|interrupted|denied|refused|unknown|a\ workaround|open|approximated|below|out\ for\ now)\b
        |\bmarked\ as\ skipped\b|\b(?:mock|dummy|fake)\ data\b|\bplaceholder\ (?:where|for)\b|\bhad\ to\ be\ (?:removed|skipped|disabled)\b|\bwithout\ (?:running|testing|verifying|executing)\b
        |\bno\ (?:network\ )?(?:access|permission|rights|time\ left|tests\ were)\b|\bdid(?:\ not|n't)\ have\b|\bnever\ managed\b|\bhas\ no\ body\b|\bdon't\ (?:have|know)\b|\bnothing\ (?:was|calls|yet)\b|\bno\ tests?\ (?:were|was|have)\b
        |\b(?:for\ now|for\ the\ (?:time\ being|moment)|at\ the\ moment|so\ far|temporarily|in\ a\ later\ step|will\ follow|for\ a\ follow-?up|for\ later)\b
        |\bonly\ (?:\w+\ ){0,3}(?:implemented|covered|covers|supports?|handles?|works?|part|half|of\ the|the\ \w+\ path)\b|\bworks?\ only\b|\b(?:half|some|few|part|two|three|one)\ of\ the\ (?:\w+\ )+(?:is|are|could)\b
        |\b(?:lacks?|does\ nothing|breaks|timed\ out)\b|\bshould\ (?:pass|work|be\ fine)\b|\bprobably\ works\b|\bassumed\b|\bfailed,?\ (?:but|and\ i)\b|\buntil\ the\ (?:\w+\ ){1,2}(?:is\ (?:ready|known|there)|exists)\b|\brest\ will\b|\bremains?\ (?:red|open|broken|unfinished)\b|\bnot\ implemented\b",
    )
    .ok()
});

/// Matches sentences about finished work that use the same words.
static IS_HARMLESS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?xi-u)
         \b(?:no|nothing|none|zero|without|never|neither|not)\b(?u:[^.;]){0,25}\b(?:required|needed|necessary|open|skipped|left|missing|fail\w*|regression|warnings?|errors?|special)\b
        |\bno\ longer\b|\bnow\ (?:pass\w*|works?|says?|happens?|raises?)\b|\bas\ (?:the\ task|specified|intended|expected|required)\b|\bif\ (?:there|the|it|no)\b|\bwhen\ the\b|\bwhich\ (?:i\ fixed|the)\b
        |\b(?:removed|replaced|resolved|enabled|fixed|cleared|rejected|reported|shown)\b(?u:[^.;]){0,30}\b(?:todo|fixme|mock|stub|commented|placeholder|dummy|disabled|instead|by|before)\b|\b(?:todo|fixme|mock|stub|dummy\ data|placeholder)\b(?u:[^.;]){0,20}\b(?:was|were|is|now|with)\ (?:removed|replaced|resolved|says|the)\b
        |\b(?:are|is)\ (?:listed|reported|shown|closed|handled|rejected)\b",
    )
    .ok()
});

/// Finds the first sentence outside of code with which a message admits unfinished work.
#[must_use]
pub fn admission(message: &str) -> Option<Contradiction> {
    message.lines().enumerate().find_map(|(n, line)| {
        let apart = sentences(&without_code(line));
        let all = apart.lines().map(str::trim);
        let found = all.map(beginning).find(|sentence| admits(sentence))?;
        Some(Contradiction {
            phrase: found.to_owned(),
            line: n + 1,
        })
    })
}

fn beginning(sentence: &str) -> &str {
    &sentence[..sentence.floor_char_boundary(MAX_SENTENCE)]
}

fn admits(sentence: &str) -> bool {
    let matches =
        |rule: &LazyLock<Option<Regex>>| rule.as_ref().is_some_and(|rule| rule.is_match(sentence));
    matches(&ADMITS) && !matches(&IS_HARMLESS)
}
