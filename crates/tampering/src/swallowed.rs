//! Scripts and CI files that no longer run a check, or no longer fail with it.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::Regex;

use crate::change::Edited;
use crate::roles::Role;
use crate::sign::{Sign, TamperSign};

/// A command that checks a project.
static CHECK: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?x)\b(?:pytest|py\.test|unittest|tox|nox|jest|vitest|mocha|karma|playwright\ test|cypress\ run
        |(?:npm|yarn|pnpm|bun)\ (?:run\ )?(?:test|lint|check|typecheck|audit)[\w:-]*
        |cargo\ (?:test|nextest|clippy|fmt|deny|audit|check)|go\ (?:test|vet)|golangci-lint|staticcheck
        |mvn\ [^|&;]*(?:test|verify|install)|gradlew?\ [^|&;]*(?:test|check|build)|sbt\ test
        |make\ (?:test|check|lint)[\w-]*|ctest|rspec|rake\ (?:test|spec)|rubocop|phpunit|phpstan|psalm|pest
        |eslint|tsc|mypy|pyright|ruff|flake8|pylint|bandit|black\ --check|isort\ --check|prettier\ --check|shellcheck|hadolint|actionlint
        |dotnet\ test|mix\ (?:test|credo|dialyzer)|swift\ test|xcodebuild\ test|flutter\ (?:test|analyze)|dart\ (?:test|analyze)|bats|prove|stack\ test|cabal\ test
        |coverage\ report|codecov|npx\ tsc|trivy|semgrep)\b").ok()
});

static STOPS_AT_ERRORS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"\bset\s+-[a-z]*e|\bset\s+-o\s+(?:errexit|pipefail)|\bset\s+-[a-z]*o\s+pipefail|^\s*fail_fast:\s*true|^\s*exit\s+(?:\$\?|\$\w+|1)\b|\|\|\s*exit\s+1\b|^\s*strict:\s*true").ok()
});

/// Finds checks that are dropped and exit codes that no longer count.
pub(crate) fn signs(file: &Edited<'_>, roles: &[Role]) -> Vec<TamperSign> {
    let says_what_runs = roles.contains(&Role::Script) || roles.contains(&Role::Ci);
    if !says_what_runs || file.is_new {
        return Vec::new();
    }
    let dropped = dropped_check(file).or_else(|| dropped_prerequisite(file));
    let mut signs: Vec<TamperSign> = dropped.into_iter().collect();
    if let Some(stops) = STOPS_AT_ERRORS.as_ref() {
        let count = |text: &str| text.lines().filter(|line| stops.is_match(line)).count();
        let lost = file.removed().find(|line| stops.is_match(line.text));
        let lost = lost.filter(|_| !file.is_gone && count(file.after) < count(file.before));
        signs.extend(lost.map(|line| file.sign_of_loss(Sign::ExitSwallowed, line.text)));
    }
    signs
}

fn dropped_check(file: &Edited<'_>) -> Option<TamperSign> {
    let check = CHECK.as_ref()?;
    let count = |text: &str| {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        let lines = text.lines().filter(|line| !is_comment(line));
        for found in
            lines.flat_map(|line| check.find_iter(line).map(|found| found.as_str().to_owned()))
        {
            *counts.entry(found).or_default() += 1;
        }
        counts
    };
    let (before, after) = (count(file.before), count(file.after));
    let fewer = |name: &str| before.get(name) > after.get(name);
    let new = after
        .iter()
        .filter(|(name, _)| !before.contains_key(*name))
        .count();
    let gone: Vec<_> = before.keys().filter(|name| fewer(name)).collect();
    // Another check may stand in the place of each.
    if gone.len() <= new {
        return None;
    }
    let dropped = file.removed().find(|line| {
        !is_comment(line.text)
            && check
                .find_iter(line.text)
                .any(|found| fewer(found.as_str()))
    })?;
    Some(file.sign_of_loss(Sign::CheckDropped, dropped.text))
}

/// A target of a Makefile that checks, with its prerequisites.
static TARGET: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"^([\w.-]*(?:check|test|ci|verify|lint|all)[\w.-]*)\s*:([^=]*)$").ok()
});

/// Finds a target that no longer depends on another check.
fn dropped_prerequisite(file: &Edited<'_>) -> Option<TamperSign> {
    let target = TARGET.as_ref()?;
    let checks = |name: &&str| {
        ["lint", "test", "check", "type", "audit", "vet", "fmt"]
            .iter()
            .any(|part| name.contains(part))
    };
    file.removed().find_map(|old| {
        let before = target.captures(old.text)?;
        let now = file.after.lines().find_map(|line| {
            target.captures(line).filter(|now| {
                now.get(1).map(|name| name.as_str()) == before.get(1).map(|name| name.as_str())
            })
        })?;
        let needs = |found: &regex::Captures<'_>| -> Vec<String> {
            let names = found.get(2).map_or("", |names| names.as_str());
            names.split_whitespace().map(str::to_owned).collect()
        };
        let kept = needs(&now);
        let gone = needs(&before)
            .into_iter()
            .filter(|name| !kept.contains(name));
        let is_dropped =
            gone.clone().any(|name| checks(&name.as_str())) && kept.len() < needs(&before).len();
        is_dropped.then(|| file.sign_of_loss(Sign::CheckDropped, old.text))
    })
}

fn is_comment(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with('#') || line.starts_with("//")
}
