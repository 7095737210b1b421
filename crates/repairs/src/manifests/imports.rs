//! The other files of the workspace that a script may load.
//!
//! An unchanged script proves nothing if it imports one that the agent has changed, or if the agent
//! adds a module that shadows another. So every path that an import may refer to is recorded,
//! whether or not the file exists.

/// How many paths are recorded for one script.
const MAX_PATHS: usize = 500;

/// Suffixes of files that contain code.
const CODE: [&str; 10] = [
    ".sh", ".py", ".js", ".mjs", ".cjs", ".ts", ".rb", ".pl", ".php", ".lua",
];

/// Returns the paths that a script may load, relative to the root.
pub(super) fn imports(path: &str, text: &str) -> Vec<String> {
    let mut found = named_files(path, text);
    if path.ends_with(".py") {
        found.extend(text.lines().flat_map(|line| python_imports(path, line)));
    } else {
        found.extend(relative_modules(path, text));
    }
    found.retain(|file| file != path);
    found.sort();
    found.dedup();
    found.truncate(MAX_PATHS);
    found
}

/// Returns the folder of a file, with a slash at the end; empty for the root.
fn folder_of(path: &str) -> &str {
    path.rfind('/')
        .and_then(|at| path.get(..=at))
        .unwrap_or_default()
}

/// Resolves a path relative to a folder; `None` if it leads out of the workspace.
fn resolve(folder: &str, path: &str) -> Option<String> {
    let mut parts: Vec<&str> = Vec::new();
    for part in folder.split('/').chain(path.split('/')) {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    (!path.starts_with('/') && !parts.is_empty()).then(|| parts.join("/"))
}

/// Returns the files with code that a script names anywhere, relative to itself or to the root.
fn named_files(path: &str, text: &str) -> Vec<String> {
    let ends = |c: char| c.is_whitespace() || "\"'`;()&|=,<>[]{}".contains(c);
    let named = text
        .split(ends)
        .filter(|word| CODE.iter().any(|ending| word.ends_with(ending)));
    let named = named.map(|word| word.trim_start_matches("$PWD/"));
    named
        .flat_map(|word| [resolve(folder_of(path), word), resolve("", word)])
        .flatten()
        .collect()
}

/// Reads `import a.b, c` and `from .a import b`.
fn python_imports(path: &str, line: &str) -> Vec<String> {
    let line = line.trim().split('#').next().unwrap_or_default();
    let first = |text: &str| {
        text.split_whitespace()
            .next()
            .unwrap_or_default()
            .to_owned()
    };
    let modules: Vec<String> = if let Some(list) = line.strip_prefix("import ") {
        list.split(',').map(first).collect()
    } else if let Some((module, list)) = line
        .strip_prefix("from ")
        .and_then(|rest| rest.split_once(" import "))
    {
        let inner = list.trim_matches(['(', ')', ' ']).split(',').map(first);
        let module = module.trim().to_owned();
        let inner = inner.map(|name| format!("{}.{name}", module.trim_end_matches('.')));
        inner.chain([module.clone()]).collect()
    } else {
        Vec::new()
    };
    modules
        .iter()
        .flat_map(|module| python_files(path, module))
        .collect()
}

/// Returns the files that may contain a module, and those of the packages around it.
fn python_files(path: &str, module: &str) -> Vec<String> {
    let parts: Vec<&str> = module.split('.').filter(|part| !part.is_empty()).collect();
    let prefixes = (1..=parts.len()).filter_map(|end| Some(parts.get(..end)?.join("/")));
    let files = prefixes.flat_map(|part| [format!("{part}.py"), format!("{part}/__init__.py")]);
    let bases = [folder_of(path), "", "src/"];
    files
        .flat_map(|file| bases.map(|base| resolve(base, &file)))
        .flatten()
        .collect()
}

/// Returns the modules that JavaScript loads by path, and the files that a shell sources.
fn relative_modules(path: &str, text: &str) -> Vec<String> {
    let ends = |c: char| c.is_whitespace() || "\"'`;()".contains(c);
    let named = text
        .split(ends)
        .filter(|word| word.starts_with("./") || word.starts_with("../"));
    let endings = ["", ".js", ".mjs", ".cjs", ".ts", ".json", "/index.js"];
    named
        .flat_map(|word| endings.map(|ending| resolve(folder_of(path), &format!("{word}{ending}"))))
        .flatten()
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn imports_are_found_in_every_language() {
        for (path, text, expected) in [
            ("tools/gen.py", "import helper\n", "tools/helper.py"),
            (
                "tools/gen.py",
                "from lib.names import NAMES",
                "lib/names.py",
            ),
            ("tools/gen.py", "    from .near import x", "tools/near.py"),
            (
                "setup.py",
                "import os, versions as v",
                "versions/__init__.py",
            ),
            ("gen.js", "const a = require('./lib/a');", "lib/a.js"),
            ("tools/gen.mjs", "import a from \"../a.mjs\"", "a.mjs"),
            ("run.sh", ". ./env.sh\n", "env.sh"),
            ("run.sh", "python3 tools/x.py --out y", "tools/x.py"),
            ("gen.py", "subprocess.run([\"node\", \"x.js\"])", "x.js"),
        ] {
            let found = imports(path, text);
            assert!(found.iter().any(|one| one == expected), "{path}: {found:?}");
        }
        assert_eq!(imports("a.sh", "cat ../out.sh /etc/x.sh"), ["out.sh"; 0]);
    }
}
