//! Build and test tools.

/// Build and test tools, with the words that may follow. If the list is empty, the tool itself is
/// the check.
const TOOLS: &[(&str, &[&str])] = &[
    ("bats", &[]),
    ("bun", &["build", "check", "lint", "test"]),
    ("bundle", &["exec"]),
    (
        "cargo",
        &[
            "bench", "build", "check", "clippy", "doc", "fmt", "nextest", "test",
        ],
    ),
    ("composer", &["lint", "test", "validate"]),
    ("ctest", &[]),
    ("deno", &["check", "fmt", "lint", "task", "test"]),
    ("dotnet", &["build", "test"]),
    ("eslint", &[]),
    ("flutter", &["analyze", "build", "test"]),
    ("go", &["build", "generate", "test", "vet"]),
    ("gradle", &["assemble", "build", "check", "test"]),
    ("jest", &[]),
    ("mix", &["compile", "credo", "dialyzer", "format", "test"]),
    ("mvn", &["compile", "install", "package", "test", "verify"]),
    ("mypy", &[]),
    ("npm", &["build", "ci", "lint", "run", "start", "t", "test"]),
    ("npx", &["eslint", "jest", "playwright", "tsc", "vitest"]),
    ("phpunit", &[]),
    (
        "pnpm",
        &["build", "check-types", "lint", "run", "test", "typecheck"],
    ),
    ("poetry", &["build", "check", "run"]),
    ("pyright", &[]),
    ("pytest", &[]),
    ("rake", &["spec", "test"]),
    ("rspec", &[]),
    ("ruff", &["check", "format"]),
    ("sbt", &["compile", "test"]),
    ("swift", &["build", "test"]),
    ("tox", &[]),
    ("tsc", &[]),
    ("uv", &["build", "run"]),
    ("vitest", &["run"]),
    ("yarn", &["build", "lint", "run", "test"]),
    ("zig", &["build", "test"]),
];
/// Tools whose targets are declared in a project file.
pub(crate) const RUNNERS: &[&str] = &["gmake", "just", "make"];

/// Whether this is `npm test`, `cargo build`, `pytest` or the like.
pub(crate) fn is_tool(program: &str, arguments: &[&str]) -> bool {
    let tool = TOOLS.iter().find(|(name, _)| *name == program);
    match (tool, arguments.first()) {
        (Some((_, [])), None) => true,
        (Some((_, words)), Some(first)) => words.contains(first),
        (Some(_) | None, None) | (None, Some(_)) => false,
    }
}

/// Other programs that check and do nothing else.
const CHECKERS: &[&str] = &[
    "flake8",
    "golangci-lint",
    "hadolint",
    "nox",
    "phpstan",
    "pylint",
    "shellcheck",
    "yamllint",
];

/// Returns whether this runs a build or test tool, whatever its options.
pub(super) fn is_check(words: &[&str]) -> bool {
    let Some((program, arguments)) = words.split_first() else {
        return false;
    };
    let program = program.rsplit('/').next().unwrap_or(program);
    if let ["-m", module @ ..] = arguments
        && program.starts_with("python")
    {
        return module.first() == Some(&"unittest") || is_check(module);
    }
    let mut plain = arguments
        .iter()
        .filter(|word| !word.starts_with(['-', '+']));
    let tool = TOOLS.iter().find(|(name, _)| *name == program);
    CHECKERS.contains(&program)
        || RUNNERS.contains(&program)
        || tool.is_some_and(|(_, words)| {
            words.is_empty() || plain.next().is_some_and(|word| words.contains(word))
        })
}
