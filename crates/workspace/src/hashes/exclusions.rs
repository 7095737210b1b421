/// Folders that programs fill and nobody writes by hand.
const NAMES: [&str; 18] = [
    ".cache",
    ".direnv",
    ".git",
    ".gradle",
    ".hg",
    ".jj",
    ".mypy_cache",
    ".nox",
    ".pytest_cache",
    ".regreen",
    ".ruff_cache",
    ".svn",
    ".terraform",
    ".tox",
    ".turbo",
    ".venv",
    "__pycache__",
    "node_modules",
];

/// Files by which programs mark a folder as theirs: caches (among them cargo's `target`)
/// and Python environments of any name.
const MARKS: [&str; 2] = ["CACHEDIR.TAG", "pyvenv.cfg"];

pub(super) fn is_excluded_name(name: &[u8]) -> bool {
    NAMES.iter().any(|excluded| excluded.as_bytes() == name)
}

pub(super) fn marks_its_folder(name: &[u8]) -> bool {
    MARKS.iter().any(|mark| mark.as_bytes() == name)
}
