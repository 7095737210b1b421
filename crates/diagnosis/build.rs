//! Turns the rule files into static tables, so that nothing needs to be parsed at startup. An
//! incomplete rule fails the build.
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "a build script reads files and talks to cargo"
)]

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write as _;
use std::path::Path;

use regreen_model::{FailureKind, RepairAction, RetryMode, Source};
use serde::Deserialize;

include!("src/rules/ascii_classes.rs");
include!("src/rules/pattern_texts.rs");

/// One file of rules.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Family {
    /// The default weight of its rules.
    weight: u8,
    /// The source that these rules read; both if missing.
    source: Option<Source>,
    /// A `CauseOrigin`, in snake case.
    #[serde(default)]
    origin: String,
    /// Whether its rules count fully in any kind of line.
    #[serde(default)]
    steady: bool,
    rule: Vec<Rule>,
}

/// A rule as written in its file. `src/rules/rule.rs` explains the fields.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Rule {
    name: String,
    kind: Option<FailureKind>,
    #[serde(default)]
    role: String,
    needs: Vec<String>,
    pattern: String,
    #[serde(default)]
    raw: bool,
    unless: Option<String>,
    before: Option<String>,
    after: Option<String>,
    not_near: Option<String>,
    weight: Option<u8>,
    #[serde(default)]
    last: bool,
    #[serde(default)]
    steady: bool,
    #[serde(default)]
    proves: bool,
    blocker: Option<String>,
    repair: Option<RepairAction>,
    #[serde(default)]
    provider: bool,
    #[serde(default)]
    suggest: Vec<String>,
    #[serde(default)]
    absorbs: Vec<FailureKind>,
    retry: Option<RetryMode>,
    #[serde(rename = "match")]
    matching: Vec<String>,
    ignore: Vec<String>,
}

/// The order in which rules are tried and listed.
const FAMILIES: [&str; 27] = [
    "framing",
    "system",
    "shell",
    "python",
    "node",
    "rust",
    "c",
    "go",
    "java",
    "ruby",
    "php",
    "other_languages",
    "git",
    "forges",
    "containers",
    "network",
    "database",
    "packages",
    "tests",
    "test_runners",
    "linters",
    "tools",
    "time",
    "signs",
    "generic",
    "agent_apis",
    "agent_messages",
];

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=rules");
    let ordinary = Ordinary::read()?;
    let mut rules = String::new();
    let mut count = 0;
    for family in FAMILIES {
        let path = format!("rules/{family}.toml");
        let text = std::fs::read_to_string(&path)?;
        let file: Family = toml::from_str(&text).map_err(|error| format!("{path}: {error}"))?;
        for rule in &file.rule {
            check(rule).map_err(|error| format!("{path}, {}: {error}", rule.name))?;
            write_rule(&mut rules, family, &file, rule, &ordinary)?;
            count += 1;
        }
    }
    let rules = format!("static RULES: [Rule; {count}] = [\n{rules}];\n");
    let out = std::env::var("OUT_DIR")?;
    std::fs::write(Path::new(&out).join("rules.rs"), rules)?;
    std::fs::write(Path::new(&out).join("names.rs"), names()?)?;
    Ok(())
}

fn check(rule: &Rule) -> Result<(), String> {
    if rule.needs.is_empty() {
        return Err("needs no text: it would be tried on every line".to_owned());
    }
    if rule.matching.is_empty() {
        return Err("has no text that it matches".to_owned());
    }
    if rule.ignore.is_empty() {
        return Err("has no text that it ignores".to_owned());
    }
    Ok(())
}

fn write_rule(
    out: &mut String,
    family: &str,
    file: &Family,
    rule: &Rule,
    ordinary: &Ordinary,
) -> std::fmt::Result {
    let prose = file.source == Some(Source::Agent);
    let pattern = |pattern: &str| {
        if prose {
            pattern.to_owned()
        } else {
            ascii_classes(pattern)
        }
    };
    let near = |text: &Option<String>| text.as_deref().map(|text| format!("(?m){text}"));
    let lazy = |pattern: &str| lazy(pattern, prose);
    let role = if rule.role.is_empty() {
        "cause"
    } else {
        &rule.role
    };
    let origin = if file.origin.is_empty() {
        "tool"
    } else {
        &file.origin
    };
    let repair = rule
        .repair
        .as_ref()
        .map(|repair| (repair.name(), repair.arguments()));
    writeln!(
        out,
        "Rule {{ name: {:?}, source: {}, role: Role::{}, origin: CauseOrigin::{},",
        format!("{family}/{}", rule.name),
        option(file.source.map(|s| format!("Source::{s:?}"))),
        camel(role),
        camel(origin)
    )?;
    writeln!(
        out,
        "  kind: {}, needs: &{:?}, raw: {},",
        option(rule.kind.map(|k| format!("FailureKind::{k:?}"))),
        ordinary.with_keys(&ordinary.all_needs(&rule.needs, &pattern(&rule.pattern), prose)),
        rule.raw
    )?;
    writeln!(
        out,
        "  pattern: {}, unless: {},",
        lazy(&rule.pattern),
        option(near(&rule.unless).as_deref().map(lazy))
    )?;
    writeln!(
        out,
        "  before: {}, after: {}, not_near: {},",
        option(near(&rule.before).as_deref().map(lazy)),
        option(near(&rule.after).as_deref().map(lazy)),
        option(near(&rule.not_near).as_deref().map(lazy))
    )?;
    writeln!(
        out,
        "  weight: {}, last: {}, steady: {}, proves: {},",
        rule.weight.unwrap_or(file.weight),
        rule.last,
        rule.steady || file.steady,
        rule.proves
    )?;
    writeln!(
        out,
        "  blocker: {:?}, provider: {}, suggest: &{:?},",
        rule.blocker, rule.provider, rule.suggest
    )?;
    writeln!(
        out,
        "  repair: {}, absorbs: &{},",
        option(repair.map(|(name, args)| format!("RepairTemplate::new({name:?}, &{args:?})"))),
        kinds(&rule.absorbs)
    )?;
    writeln!(
        out,
        "  retry: {},",
        option(rule.retry.map(|r| format!("RetryMode::{r:?}")))
    )?;
    writeln!(
        out,
        "  #[cfg(test)] examples: Examples {{ matching: &{:?}, ignore: &{:?} }},\n}},",
        rule.matching, rule.ignore
    )
}

/// Shorter texts would match everywhere in logs. Messages are short, so they may have shorter ones.
const SHORTEST: usize = 4;
const SHORTEST_IN_PROSE: usize = 2;

/// The frequency of character sequences in ordinary logs. A text is searched for by its four rarest
/// consecutive characters.
struct Ordinary {
    counts: BTreeMap<[u8; 4], u32>,
}

impl Ordinary {
    fn read() -> std::io::Result<Self> {
        let text = std::fs::read_to_string("rules/names/ordinary.txt")?.to_ascii_lowercase();
        let mut counts = BTreeMap::new();
        for part in text.as_bytes().windows(4) {
            *counts
                .entry([part[0], part[1], part[2], part[3]])
                .or_default() += 1;
        }
        Ok(Self { counts })
    }

    /// Returns the texts that a rule names, and the rarest text from each branch of its pattern
    /// that contains none of them.
    fn all_needs(&self, named: &[String], pattern: &str, is_prose: bool) -> Vec<String> {
        let mut needs: Vec<String> = named.iter().map(|need| need.to_lowercase()).collect();
        let at_least = if is_prose {
            SHORTEST_IN_PROSE
        } else {
            SHORTEST
        };
        let Ok(hir) = regex_syntax::parse(pattern) else {
            return needs;
        };
        let named = needs.clone();
        let is_named = |text: &str| named.iter().any(|need| text.contains(need));
        for branch in branches(&hir) {
            needs.extend(self.needs_of(branch, at_least, &is_named));
        }
        needs
    }

    /// Returns texts such that each match of a branch contains one, if there are any; otherwise the
    /// rarest text that some of its matches contain. A match that contains a named text is found
    /// through that.
    fn needs_of(
        &self,
        branch: &Hir,
        at_least: usize,
        is_named: &dyn Fn(&str) -> bool,
    ) -> Vec<String> {
        let worth = |text: &str| {
            if is_named(text) {
                return Some(0);
            }
            // Texts that are common in logs would match everywhere; messages are short.
            let is_rare = at_least < SHORTEST || self.rarity(text) == 0;
            (is_rare && is_distinctive(text, at_least)).then(|| self.rarity(text))
        };
        if let Some(mut texts) = cover(branch, &worth) {
            texts.retain(|text| !is_named(text));
            return texts;
        }
        let texts = shortest_texts(branch).into_iter();
        let unnamed = texts.filter(|text| !is_named(&as_text(text)));
        let rarest = unnamed.filter_map(|text| {
            let runs = distinctive_runs(&text, at_least).into_iter();
            runs.min_by_key(|run| (self.rarity(run), Reverse(run.len())))
        });
        rarest.collect()
    }

    /// Returns how often the rarest part of a text occurs in ordinary logs.
    fn rarity(&self, text: &str) -> u32 {
        let parts = text.as_bytes().windows(4);
        let counts = parts.map(|part| self.counts.get(part).copied().unwrap_or(0));
        counts.min().unwrap_or(u32::MAX)
    }

    /// Returns the texts in lower case, each with the position of its key.
    fn with_keys(&self, needs: &[String]) -> Vec<(String, usize)> {
        needs
            .iter()
            .map(|need| self.with_key(&need.to_ascii_lowercase()))
            .collect()
    }

    fn with_key(&self, need: &str) -> (String, usize) {
        let count = |part: &[u8]| self.counts.get(part).copied().unwrap_or(0);
        let places = need.as_bytes().windows(4).enumerate();
        let rarest = places.min_by_key(|(_, part)| (count(part), commonness(part)));
        (need.to_owned(), rarest.map_or(0, |(at, _)| at))
    }
}

/// Returns how common a part is that doesn't occur in ordinary logs: letters are more common than
/// punctuation.
fn commonness(part: &[u8]) -> usize {
    part.iter().filter(|b| b" etaoinsr".contains(b)).count()
}

fn option(text: Option<String>) -> String {
    text.map_or_else(|| "None".to_owned(), |text| format!("Some({text})"))
}

fn lazy(pattern: &str, is_prose: bool) -> String {
    let constructor = if is_prose { "of_prose" } else { "new" };
    format!("LazyRegex::{constructor}({pattern:?})")
}

fn kinds(kinds: &[FailureKind]) -> String {
    let names: Vec<String> = kinds
        .iter()
        .map(|kind| format!("FailureKind::{kind:?}"))
        .collect();
    format!("[{}]", names.join(", "))
}

fn camel(snake: &str) -> String {
    let capitalised = snake.split('_').map(|word| {
        let mut chars = word.chars();
        chars.next().map_or_else(String::new, |first| {
            first.to_uppercase().chain(chars).collect()
        })
    });
    capitalised.collect()
}

/// Writes the tables of names and the packages that provide them, sorted for searching.
fn names() -> Result<String, Box<dyn Error>> {
    #[derive(Deserialize)]
    struct Python {
        distributions: BTreeMap<String, String>,
        local: Vec<String>,
    }
    let python: Python = toml::from_str(&std::fs::read_to_string("rules/names/python.toml")?)?;
    let commands: BTreeMap<String, BTreeMap<String, String>> =
        toml::from_str(&std::fs::read_to_string("rules/names/commands.toml")?)?;
    let mut out = String::new();
    writeln!(
        out,
        "pub(crate) static PYTHON_LOCAL: &[&str] = &{:?};",
        python.local
    )?;
    table(&mut out, "PYTHON", &python.distributions)?;
    for (table_name, entries) in &commands {
        table(&mut out, &table_name.to_uppercase(), entries)?;
    }
    Ok(out)
}

fn table(out: &mut String, name: &str, entries: &BTreeMap<String, String>) -> std::fmt::Result {
    let pairs: Vec<(&String, &String)> = entries.iter().collect();
    writeln!(
        out,
        "pub(crate) static {name}: &[(&str, &str)] = &{pairs:?};"
    )
}

/// Returns the top-level alternatives of a pattern.
fn branches(hir: &Hir) -> Vec<&Hir> {
    match hir.kind() {
        HirKind::Alternation(branches) => branches.iter().collect(),
        _ => vec![hir],
    }
}
