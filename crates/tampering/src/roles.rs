//! What a file is to the checks of a project, by its path and its text.

use std::sync::LazyLock;

use regex::Regex;
use serde::Deserialize;

use crate::change::Edited;

/// What a file is to the checks of a project.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Role {
    /// Tests.
    Test,
    /// A stored result that a test compares with.
    Snapshot,
    /// Configures or prepares a test runner.
    Setup,
    /// Configures linters, type checkers, coverage or the build.
    Settings,
    /// Says which commands check the project: a script, a Makefile.
    Script,
    /// Says what a CI system runs.
    Ci,
    /// A program in a folder of installed programs.
    Program,
    /// Everything else that is code.
    Source,
}

/// A role, and the paths that have it.
const PATHS: [(Role, &str); 7] = [
    (
        Role::Test,
        r"(?x)
        (?:^|/)(?:test|tests|spec|__tests__|e2e|testing|testsuite|cypress|Tests|t)/(?:.*/)?[^/]+\.(?:py|js|jsx|ts|tsx|mjs|cjs|mts|cts|rs|go|java|kt|kts|scala|groovy|cs|fs|vb|rb|php|ex|exs|erl|swift|dart|hs|lua|pl|t|pm|bats|sh|clj|cljs|jl|[rR]|nim|ml|c|cc|cpp|cxx|h|hpp|vue|elm|feature|m|zig)$
        |(?:^|/)test_[^/]*\.(?:py|rb|c|cc|cpp|jl|lua|sh|[rR])$
        |[^/]*(?:_test|_tests|_spec|-test|-spec|\.test|\.tests|\.spec|\.cy|\.e2e|_SUITE)\.[A-Za-z]+$
        |[^/](?:Test|Tests|TestCase|Spec|IT|ITCase|Specs)\.(?:java|kt|scala|groovy|cs|fs|vb|php|swift|hs)$
        |(?:^|/)(?:Test[A-Z][^/]*|tests)\.(?:java|kt|cs|php|hs|py|rs)$
        |\.(?:bats|feature)$",
    ),
    (
        Role::Snapshot,
        r"(?:^|/)(?:__snapshots__|__image_snapshots__|snapshots|goldens?|expected|expected_output|baselines?|cassettes|approvals?)/|\.(?:snap|ambr|golden|approved|expected|verified|stdout|stderr)(?:\.[A-Za-z]+)?$|(?:^|/)testdata/.*\.(?:out|txt|json|want)$|\.(?:approved|verified|golden|expected)\.[A-Za-z]+$",
    ),
    (
        Role::Setup,
        r"(?:^|/)(?:conftest\.py|sitecustomize\.py|usercustomize\.py|pytest\.ini|\.?pytest\.toml|tox\.ini|noxfile\.py|(?:jest|vitest|karma|playwright|cypress|wdio|ava|nightwatch|web-test-runner)[^/]*\.(?:js|ts|mjs|cjs|mts|json)|\.mocharc[^/]*|setup-?[tT]ests?\.[a-z]+|(?:spec|rails|test)_helper\.(?:rb|exs)|\.rspec|phpunit\.xml(?:\.dist)?|nextest\.toml|(?:Pest|bootstrap)\.php|testng\.xml|junit-platform\.properties|test_helper\.[a-z]+)$",
    ),
    (
        Role::Settings,
        r"(?:^|/)(?:\.?eslint[^/]*|tsconfig[^/]*\.json|jsconfig\.json|\.?mypy\.ini|\.flake8|setup\.cfg|pyproject\.toml|pytest\.ini|tox\.ini|\.?ruff\.toml|\.?pylintrc|\.bandit|\.coveragerc|\.nycrc[^/]*|\.?codecov\.ya?ml|\.?clippy\.toml|\.?rustfmt\.toml|Cargo\.toml|\.golangci\.(?:ya?ml|toml|json)|\.rubocop(?:_todo)?\.yml|phpstan[^/]*|psalm\.xml|\.?phpcs\.xml[^/]*|checkstyle[^/]*\.xml|detekt\.ya?ml|\.editorconfig|\.stylelintrc[^/]*|biome\.jsonc?|\.?prettierrc[^/]*|\.(?:prettier|eslint|stylelint)ignore|sonar-project\.properties|package\.json|build\.gradle(?:\.kts)?|pom\.xml|(?:jest|vitest|karma|playwright|cypress)[^/]*\.(?:js|ts|mjs|cjs|mts|json)|phpunit\.xml(?:\.dist)?|\.credo\.exs|mix\.exs|pyrightconfig\.json|stryker\.conf[^/]*|infection\.json5?|deny\.toml|\.simplecov|[^/]+\.csproj|Directory\.Build\.props|\.jshintrc|tslint\.json|lighthouserc[^/]*|\.size-limit[^/]*|\.swiftlint\.yml|analysis_options\.yaml|CMakeLists\.txt)$",
    ),
    (
        Role::Script,
        r"(?:^|/)(?:(?:GNU)?[Mm]akefile|[jJ]ustfile|Taskfile\.ya?ml|Rakefile|tox\.ini|noxfile\.py|package\.json|composer\.json|deno\.jsonc?|Procfile|lefthook\.ya?ml|\.pre-commit-config\.yaml|build\.sh)$|\.(?:mk|sh|bash|zsh)$|(?:^|/)\.husky/|(?:^|/)(?:scripts?|bin|ci|hack|tools)/[^/.]+$|(?:^|/)\.githooks/",
    ),
    (
        Role::Ci,
        r"(?:^|/)\.github/(?:workflows|actions)/|(?:^|/)(?:\.gitlab-ci\.ya?ml|\.travis\.yml|Jenkinsfile|azure-pipelines\.ya?ml|bitbucket-pipelines\.yml|\.drone\.yml|appveyor\.yml|\.appveyor\.yml|cloudbuild\.ya?ml|\.cirrus\.yml|\.woodpecker\.ya?ml)$|(?:^|/)\.(?:circleci|buildkite|gitlab)/",
    ),
    (
        Role::Program,
        r"(?:^|/)node_modules/\.bin/|(?:^|/)\.?v?env/(?:bin|Scripts)/|(?:^|/)vendor/bin/|^(?:pytest|unittest|jest|mocha|grep|diff|test|coverage|tox|nose|hypothesis|make|npm|npx|node|python3?|cargo|go|ruff|mypy|flake8|tsc|eslint)(?:\.(?:py|js|sh)|/__init__\.py)?$",
    ),
];

static PATTERNS: LazyLock<Vec<(Role, Regex)>> = LazyLock::new(|| {
    let pattern = |(role, text): &(Role, &str)| Some((*role, Regex::new(text).ok()?));
    PATHS.iter().filter_map(pattern).collect()
});

/// Tests that stand in the same file as the code that they test.
static INNER_TESTS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?m)^\s*#\[(?:\w+::)?(?:test|rstest|test_case)\b|^\s*#\[cfg\(test\)\]|^\s*if import\.meta\.vitest|^\s*>>> ").ok()
});

/// Returns whether a file at this path is a test, or something that tests compare with or are set up by.
pub(crate) fn is_part_of_tests(path: &str) -> bool {
    let of_tests = [Role::Test, Role::Snapshot, Role::Setup];
    PATTERNS
        .iter()
        .any(|(role, pattern)| of_tests.contains(role) && pattern.is_match(path))
}

/// Returns the roles of a file.
pub(crate) fn roles(file: &Edited<'_>) -> Vec<Role> {
    let is_it = |(_, pattern): &&(Role, Regex)| pattern.is_match(file.path);
    let mut roles: Vec<Role> = PATTERNS
        .iter()
        .filter(is_it)
        .map(|(role, _)| *role)
        .collect();
    let has_tests = |text: &str| {
        INNER_TESTS
            .as_ref()
            .is_some_and(|tests| tests.is_match(text))
    };
    let is_test = roles.contains(&Role::Test);
    if !is_test && (has_tests(file.before) || has_tests(file.after)) {
        roles.push(Role::Test);
    }
    if !is_test && roles.iter().all(|role| *role == Role::Test) {
        roles.push(Role::Source);
    }
    roles
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::FileChange;

    fn roles_of(path: &str, after: &str) -> Vec<Role> {
        let change = FileChange {
            path,
            before: None,
            after: Some(after),
        };
        roles(&Edited::new(&change).unwrap())
    }

    #[test]
    fn all_patterns_compile() {
        assert_eq!(PATTERNS.len(), PATHS.len());
        assert!(INNER_TESTS.is_some());
    }

    #[test]
    fn paths_say_what_a_file_is_to_the_checks() {
        for (path, expected) in [
            ("tests/test_a.py", &[Role::Test][..]),
            ("src/sum.test.ts", &[Role::Test]),
            ("pkg/sum_test.go", &[Role::Test]),
            ("src/test/java/SumTest.java", &[Role::Test]),
            ("spec/sum_spec.rb", &[Role::Test]),
            ("src/__snapshots__/a.test.js.snap", &[Role::Snapshot]),
            ("conftest.py", &[Role::Setup]),
            ("pyproject.toml", &[Role::Settings]),
            ("package.json", &[Role::Settings, Role::Script]),
            (".github/workflows/ci.yml", &[Role::Ci]),
            ("Makefile", &[Role::Script]),
            ("node_modules/.bin/jest", &[Role::Program]),
            ("src/sum.py", &[Role::Source]),
            ("src/latest.py", &[Role::Source]),
            ("docs/contest.md", &[Role::Source]),
        ] {
            assert_eq!(roles_of(path, "x"), expected, "{path}");
        }
    }

    #[test]
    fn a_source_file_with_tests_inside_is_both() {
        let text = "fn a() {}\n#[cfg(test)]\nmod tests {}\n";
        assert_eq!(roles_of("src/sum.rs", text), [Role::Test, Role::Source]);
    }
}
