//! Manifests and locks of Python projects.

use toml::{Table, Value};

use super::ManifestContent;
use crate::package_names::is_python_package;

/// Reads a `requirements.txt` with its options.
pub(super) fn requirements(path: &str, text: &str) -> ManifestContent {
    let mut content = ManifestContent::default();
    for line in logical_lines(text) {
        requirement_line(path, &line, &mut content);
    }
    content
}

fn logical_lines(text: &str) -> Vec<String> {
    let joined = text.replace("\\\r\n", " ").replace("\\\n", " ");
    let without_comment = |line: &str| {
        let line = line.trim();
        let line = if line.starts_with('#') { "" } else { line };
        line.split(" #")
            .next()
            .unwrap_or_default()
            .trim()
            .to_owned()
    };
    let lines = joined.lines().map(without_comment);
    lines.filter(|line| !line.is_empty()).collect()
}

fn requirement_line(path: &str, line: &str, content: &mut ManifestContent) {
    let (word, rest) = line.split_once([' ', '=']).unwrap_or((line, ""));
    match word {
        "-r" | "--requirement" | "-c" | "--constraint" => {
            content.includes.push(beside(path, rest.trim()));
        }
        "-e" | "--editable" if is_own_path(rest.trim()) => {
            content.projects.push(project_folder(rest));
        }
        "--no-index" | "--pre" | "--prefer-binary" | "--require-hashes" | "--no-binary"
        | "--only-binary" | "--use-feature" => {}
        _ if is_own_path(line) => content.projects.push(project_folder(line)),
        _ => match requirement(line) {
            Some((name, requirement)) => content.add(&name, &requirement, ""),
            None => content.add_elsewhere(line),
        },
    }
}

/// Returns the folder in a path such as `./libs/x[extra]`, relative to the root, where pip runs.
fn project_folder(text: &str) -> String {
    let path = text.trim().split('[').next().unwrap_or_default();
    let parts = path.split('/').filter(|part| !matches!(*part, "" | "."));
    parts.collect::<Vec<&str>>().join("/")
}

/// Resolves the path in `-r base.txt`.
fn beside(path: &str, other: &str) -> String {
    match path.rsplit_once('/') {
        Some((folder, _)) => format!("{folder}/{other}"),
        None => other.trim_start_matches("./").to_owned(),
    }
}

/// Returns whether a path is the project itself or part of it.
fn is_own_path(text: &str) -> bool {
    let path = text.split('[').next().unwrap_or_default();
    (path == "." || path.starts_with("./")) && !path.split('/').any(|part| part == "..")
}

/// Extensions of archives, which pip accepts instead of a name.
const ARCHIVES: [&str; 7] = [".zip", ".whl", ".gz", ".bz2", ".xz", ".tar", ".egg"];

/// Parses a requirement. Returns its name and its text without options, if it needs only the index.
pub(super) fn requirement(text: &str) -> Option<(String, String)> {
    let text = text.split(" --").next().unwrap_or_default().trim();
    let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || "._-".contains(c)));
    let (name, rest) = text.split_at(end.unwrap_or(text.len()));
    let is_index_only = rest
        .chars()
        .all(|c| c.is_ascii_alphanumeric() || "._-[],<>=!~*+ ;'\"()".contains(c));
    let is_archive = ARCHIVES
        .iter()
        .any(|ending| text.to_ascii_lowercase().ends_with(ending));
    let is_good = is_python_package(name) && is_index_only && !is_archive;
    is_good.then(|| (name.to_owned(), text.to_owned()))
}

fn add_all(content: &mut ManifestContent, list: Option<&Value>, group: &str) {
    let texts = list.and_then(Value::as_array).into_iter().flatten();
    for text in texts.filter_map(Value::as_str) {
        match requirement(text) {
            Some((name, requirement)) => content.add(&name, &requirement, group),
            None => content.add_elsewhere(text),
        }
    }
}

fn add_groups(content: &mut ManifestContent, groups: Option<&Value>) {
    let groups = groups.and_then(Value::as_table).into_iter().flatten();
    for (group, list) in groups {
        add_all(content, Some(list), group);
    }
}

pub(super) fn pyproject(text: &str) -> ManifestContent {
    let mut content = ManifestContent::default();
    let Ok(table) = text.parse::<Table>() else {
        return content;
    };
    let project = table.get("project");
    let backend = table
        .get("build-system")
        .and_then(|b| b.get("backend-path"));
    let folders = backend.and_then(Value::as_array).into_iter().flatten();
    content.build_folders = folders
        .filter_map(|folder| folder.as_str().map(str::to_owned))
        .collect();
    let tool = |name: &str| table.get("tool").and_then(|tool| tool.get(name));
    add_all(
        &mut content,
        project.and_then(|p| p.get("dependencies")),
        "",
    );
    add_groups(
        &mut content,
        project.and_then(|p| p.get("optional-dependencies")),
    );
    add_groups(&mut content, table.get("dependency-groups"));
    add_groups(
        &mut content,
        tool("pdm").and_then(|pdm| pdm.get("dev-dependencies")),
    );
    add_all(
        &mut content,
        tool("uv").and_then(|uv| uv.get("dev-dependencies")),
        "dev",
    );
    let poetry = tool("poetry");
    poetry_packages(&mut content, poetry);
    let name = project.or(poetry).and_then(|p| p.get("name"));
    content.project = name.and_then(Value::as_str).map(str::to_owned);
    let sources = [
        poetry.and_then(|p| p.get("source")),
        tool("uv").and_then(|uv| uv.get("index").or(uv.get("sources"))),
        tool("pdm").and_then(|pdm| pdm.get("source")),
    ];
    if sources.iter().any(Option::is_some) {
        content.add_elsewhere("sources");
    }
    content
}

fn poetry_packages(content: &mut ManifestContent, poetry: Option<&Value>) {
    let Some(poetry) = poetry else { return };
    poetry_list(content, poetry.get("dependencies"), "");
    poetry_list(content, poetry.get("dev-dependencies"), "dev");
    let groups = poetry.get("group").and_then(Value::as_table);
    for (group, table) in groups.into_iter().flatten() {
        poetry_list(content, table.get("dependencies"), group);
    }
}

fn poetry_list(content: &mut ManifestContent, list: Option<&Value>, group: &str) {
    for (name, value) in list.and_then(Value::as_table).into_iter().flatten() {
        let version = value.as_str().or_else(|| value.get("version")?.as_str());
        match version.map(|version| caret(name, version)) {
            _ if name == "python" => {}
            Some(requirement) if is_python_package(name) => content.add(name, &requirement, group),
            _ => content.add_elsewhere(name),
        }
    }
}

/// Translates Poetry's version syntax for pip: `^1.2` is `>=1.2,<2`.
fn caret(name: &str, version: &str) -> String {
    let version = version.trim();
    let upper = |at: usize| {
        let mut parts = version.trim_start_matches(['^', '~', '=']).split('.');
        let kept: Vec<&str> = parts.by_ref().take(at + 1).collect();
        let (last, above) = kept.split_last()?;
        let next = last.parse::<u64>().ok()?.checked_add(1)?.to_string();
        Some(
            above
                .iter()
                .copied()
                .chain([next.as_str()])
                .collect::<Vec<_>>()
                .join("."),
        )
    };
    let base = version.trim_start_matches(['^', '~', '=']);
    let limit = match version.chars().next() {
        Some('^') => {
            let first = base.split('.').position(|part| part != "0").unwrap_or(0);
            upper(first).map(|upper| format!("{name}>={base},<{upper}"))
        }
        Some('~') if !version.starts_with("~=") => {
            upper(1).map(|upper| format!("{name}>={base},<{upper}"))
        }
        Some('<' | '>' | '=' | '!' | '~') => Some(format!("{name}{version}")),
        Some(c) if c.is_ascii_digit() => Some(format!("{name}=={version}")),
        _ => Some(name.to_owned()),
    };
    let limited = limit
        .and_then(|limit| requirement(&limit))
        .map(|(_, text)| text);
    limited.unwrap_or_else(|| name.to_owned())
}

/// Reads `install_requires` and extras from the indented lines below the keys.
pub(super) fn setup_cfg(text: &str) -> ManifestContent {
    let mut content = ManifestContent::default();
    let (mut section, mut key) = (String::new(), String::new());
    for line in text.lines() {
        let is_indented = line.starts_with([' ', '\t']);
        let trimmed = line.trim();
        if let Some(name) = trimmed
            .strip_prefix('[')
            .and_then(|rest| rest.strip_suffix(']'))
        {
            section = name.to_owned();
            continue;
        }
        let mut value = trimmed;
        if !is_indented && let Some((name, rest)) = trimmed.split_once('=') {
            key = name.trim().to_owned();
            value = rest.trim();
        }
        if (section.as_str(), key.as_str()) == ("metadata", "name")
            && !value.is_empty()
            && !is_indented
        {
            content.project = Some(value.to_owned());
        }
        let group = match (section.as_str(), key.as_str()) {
            ("options", "install_requires") => "",
            ("options.extras_require", extra) => extra,
            _ => continue,
        };
        if let Some((name, requirement)) = requirement(value) {
            content.add(&name, &requirement, group);
        }
    }
    content
}

/// Reads the name and the strings of `install_requires=[…]` without running the file.
pub(super) fn setup_py(text: &str) -> ManifestContent {
    let mut content = ManifestContent::default();
    for key in ["install_requires", "tests_require"] {
        let list = text.split_once(key).and_then(|(_, rest)| {
            let rest = rest
                .trim_start()
                .strip_prefix('=')?
                .trim_start()
                .strip_prefix('[')?;
            Some(rest.split(']').next().unwrap_or_default())
        });
        for (name, requirement) in strings(list.unwrap_or_default()).filter_map(requirement) {
            content.add(&name, &requirement, "");
        }
    }
    let name = text
        .split_once("name=")
        .or_else(|| text.split_once("name ="));
    content.project =
        name.and_then(|(_, rest)| strings(rest.lines().next()?).next().map(str::to_owned));
    content
}

/// Returns the quoted strings.
fn strings(text: &str) -> impl Iterator<Item = &str> {
    text.split(['\'', '"']).skip(1).step_by(2)
}

pub(super) fn pipfile(text: &str) -> ManifestContent {
    let mut content = ManifestContent::default();
    let Ok(table) = text.parse::<Table>() else {
        return content;
    };
    poetry_list(&mut content, table.get("packages"), "");
    poetry_list(&mut content, table.get("dev-packages"), "dev");
    let sources = table.get("source").and_then(Value::as_array);
    for source in sources.into_iter().flatten() {
        let address = source.get("url").and_then(Value::as_str);
        content.add_source(address.unwrap_or_default());
    }
    content
}

/// Collects the indexes that Pipfile.lock names, and what comes from elsewhere.
pub(super) fn pipfile_lock(text: &str) -> ManifestContent {
    let mut content = ManifestContent::default();
    match serde_json::from_str::<Value>(text) {
        Ok(json) => add_sources(&mut content, &json),
        Err(_) => content.add_elsewhere("unreadable"),
    }
    content
}

/// Collects the addresses in a lock file. Each manager writes them to different places, but under
/// the same keys.
fn add_sources(content: &mut ManifestContent, value: &Value) {
    if let Some(list) = value.as_array() {
        list.iter().for_each(|inner| add_sources(content, inner));
    }
    for (key, inner) in value.as_table().into_iter().flatten() {
        match (key.as_str(), inner.as_str()) {
            ("url" | "registry" | "index", Some(address)) if address.contains(['/', ':']) => {
                content.add_source(address);
            }
            // This is the project itself.
            ("editable" | "virtual" | "directory" | "path", Some(".")) => {}
            (
                "git" | "hg" | "svn" | "path" | "file" | "directory" | "editable" | "virtual",
                Some(at),
            ) if key != "file" || at.contains('/') => {
                content.add_elsewhere(key);
            }
            ("type", Some("git" | "url" | "file" | "directory")) => content.add_elsewhere("source"),
            ("vcs" | "archive", None) => content.add_elsewhere(key),
            _ => add_sources(content, inner),
        }
    }
}

/// Reads a lock file: poetry, uv and pdm all list `[[package]]` with name and version.
pub(super) fn lock(text: &str) -> ManifestContent {
    let mut content = ManifestContent::default();
    let Ok(table) = text.parse::<Table>() else {
        content.add_elsewhere("unreadable");
        return content;
    };
    for list in ["package", "packages"] {
        let packages = table.get(list).into_iter();
        packages.for_each(|packages| add_sources(&mut content, packages));
    }
    let listed = table.get("package").or_else(|| table.get("packages"));
    for package in listed.and_then(Value::as_array).into_iter().flatten() {
        let field = |key: &str| package.get(key).and_then(Value::as_str);
        let (Some(name), Some(version)) = (field("name"), field("version")) else {
            continue;
        };
        if let Some((name, pinned)) = requirement(&format!("{name}=={version}")) {
            content.add(&name, &pinned, "");
        }
    }
    content
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(content: &ManifestContent) -> Vec<String> {
        let of = |package: &super::super::Package| match package.group.as_str() {
            "" => package.requirement.clone(),
            group => format!("{group}: {}", package.requirement),
        };
        content.packages.iter().map(of).collect()
    }

    #[test]
    fn requirements_are_read_with_their_options() {
        let content = requirements(
            "requirements/dev.txt",
            "# x\nPyYAML>=6 # why\nflask[async]==2.0; python_version > '3'\n-r base.txt\n-e .\n\
             six==1 \\\n  --hash=sha256:aa\n--extra-index-url https://x/y\n\
             git+https://h/x.git\nfoo @ https://h/f.whl\n../other\n",
        );
        assert_eq!(
            all(&content),
            [
                "PyYAML>=6",
                "flask[async]==2.0; python_version > '3'",
                "six==1"
            ]
        );
        assert_eq!(content.includes, ["requirements/base.txt"]);
        assert_eq!(content.projects, [""]);
        assert_eq!(content.elsewhere.len(), 4, "{:?}", content.elsewhere);
    }

    #[test]
    fn every_dialect_of_pyproject_is_read() {
        let content = pyproject(
            "[project]\nname='a'\ndependencies=['python-dotenv>=1']\n\
             [project.optional-dependencies]\ntest=['pytest']\n\
             [dependency-groups]\ndev=['ruff']\n\
             [tool.poetry.dependencies]\npython='^3.9'\nrequests='^2.31'\nclick={version='~8.1'}\nown={git='x'}\n\
             [tool.poetry.group.docs.dependencies]\nsphinx='*'\n",
        );
        assert_eq!(content.project.as_deref(), Some("a"));
        assert_eq!(
            all(&content),
            [
                "python-dotenv>=1",
                "test: pytest",
                "dev: ruff",
                "click>=8.1,<8.2",
                "requests>=2.31,<3",
                "docs: sphinx"
            ]
        );
        assert_eq!(content.elsewhere, ["own"]);
    }

    #[test]
    fn older_manifests_and_locks_are_read() {
        assert_eq!(
            all(&setup_cfg(
                "[metadata]\nname = x\n[options]\ninstall_requires =\n    attrs>=1\n    six\npackages = find:\n"
            )),
            ["attrs>=1", "six"]
        );
        let setup = setup_py("setup(name='zq', install_requires=['attrs', \"six>=1\"], x=['no'])");
        assert_eq!(
            (all(&setup), setup.project.as_deref()),
            (vec!["attrs".to_owned(), "six>=1".to_owned()], Some("zq"))
        );
        assert_eq!(
            all(&pipfile(
                "[packages]\nrequests='*'\n[dev-packages]\npytest='==8.0'\n"
            )),
            ["requests", "dev: pytest==8.0"]
        );
        assert_eq!(
            all(&lock("[[package]]\nname='idna'\nversion='3.4'\n")),
            ["idna==3.4"]
        );
    }

    #[test]
    fn only_names_for_the_index_are_requirements() {
        for bad in [
            "-r x",
            "--index-url=x",
            "a/b",
            "./a",
            "a@b",
            "a:b",
            "x.whl",
            "a.zip",
            "",
            "a\nb",
            "$(x)",
        ] {
            assert_eq!(requirement(bad), None, "{bad}");
        }
    }
}
