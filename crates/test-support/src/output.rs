use std::fs;

use snapbox::IntoData;

use crate::workspace::{PROGRESS, STATE, TASKS, Workspace};

/// The exit code and output of a command, and the files it left.
#[derive(Debug)]
pub struct Output {
    /// `None` if a signal ended it.
    pub code: Option<i32>,
    /// Its standard output, normalized.
    pub stdout: String,
    /// Its standard error, normalized.
    pub stderr: String,
    /// The final message of a condensed run, or empty.
    pub message: String,
    files: String,
}

impl Output {
    pub(crate) fn new(code: Option<i32>, stdout: String, stderr: String) -> Self {
        Self {
            code,
            stdout,
            stderr,
            message: String::new(),
            files: String::new(),
        }
    }

    pub(crate) fn with_message(mut self, message: String) -> Self {
        self.message = message;
        self
    }

    /// Adds files of the workspace to the comparison in [`Output::shows`].
    pub fn and(mut self, workspace: &Workspace, files: &[&str]) -> Self {
        for path in files {
            let text = match fs::read_to_string(workspace.path(path)) {
                Ok(text) => format!("--- {path}\n{}", workspace.plain(&text)),
                Err(_) => format!("--- no {path}\n"),
            };
            self.files.push_str(&text);
            if !self.files.ends_with('\n') {
                self.files.push_str("\n--- no line ending\n");
            }
        }
        self
    }

    /// Adds the changes to the task file, and the progress file. Fixes are shown without the lines
    /// below their rows, which always come from the same template.
    pub fn and_plan(mut self, workspace: &Workspace) -> Self {
        let (path, changes) = (TASKS, without_details_of_fixes(&workspace.plan_changes()));
        self.files
            .push_str(&format!("--- changes in {path}\n{changes}"));
        self.and(workspace, &[PROGRESS])
    }

    /// Adds the changes to the task file, the progress file, and the counts in the state file.
    pub fn and_spec(self, workspace: &Workspace) -> Self {
        self.and_plan(workspace).and_state(workspace)
    }

    /// Adds the state file on one line, without its limits.
    pub fn and_state(mut self, workspace: &Workspace) -> Self {
        let line = match fs::read_to_string(workspace.path(STATE)) {
            Ok(text) => format!("--- state {}\n", workspace.plain(&counts(&text))),
            Err(_) => "--- no state\n".to_owned(),
        };
        self.files.push_str(&line);
        self
    }

    /// Compares everything: both streams, the exit code and the files.
    #[track_caller]
    pub fn shows(self, expected: impl IntoData) {
        let code = self
            .code
            .map_or("a signal".to_owned(), |code| code.to_string());
        let mut all = self.stdout;
        if !self.stderr.is_empty() {
            all.push_str(&format!("--- standard error\n{}", self.stderr));
        }
        all.push_str(&format!("--- exit code {code}\n{}", self.files));
        compare(all, expected);
    }

    /// Compares the standard output.
    #[track_caller]
    pub fn prints(self, expected: impl IntoData) -> Self {
        compare(self.stdout.clone(), expected);
        self
    }

    /// Compares the standard error.
    #[track_caller]
    pub fn complains(self, expected: impl IntoData) -> Self {
        compare(self.stderr.clone(), expected);
        self
    }

    /// Compares the exit code.
    #[track_caller]
    pub fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{}{}", self.stdout, self.stderr);
        self
    }

    /// Asserts that either stream contains a text.
    #[track_caller]
    pub fn mentions(self, text: &str) -> Self {
        let found = self.stdout.contains(text) || self.stderr.contains(text);
        assert!(found, "no {text:?} in:\n{}{}", self.stdout, self.stderr);
        self
    }

    /// Asserts that neither stream contains a text.
    #[track_caller]
    pub fn omits(self, text: &str) -> Self {
        let found = self.stdout.contains(text) || self.stderr.contains(text);
        assert!(!found, "{text:?} in:\n{}{}", self.stdout, self.stderr);
        self
    }

    /// Returns the content of a report's tag, as a simple parser finds it.
    pub fn tag(&self, name: &str) -> Option<&str> {
        let (_, rest) = self.stdout.split_once(&format!("<{name}>"))?;
        Some(rest.split_once(&format!("</{name}>"))?.0)
    }
}

#[track_caller]
fn compare(actual: String, expected: impl IntoData) {
    snapbox::assert_data_eq!(actual.into_data().raw(), expected.into_data().raw());
}

/// Returns a state file on one line: without the settings, with the status of each task as its
/// result, and without the text of requests.
fn counts(state: &str) -> String {
    let mut state: serde_json::Value = serde_json::from_str(state).unwrap();
    if let Some(fields) = state.as_object_mut() {
        let is_identity = |name: &str, value: &serde_json::Value| {
            ["phase", "name", "basePath"].contains(&name) || (name == "source" && value == "direct")
        };
        fields.retain(|name, value| !is_identity(name, value) && !name.starts_with("max"));
    }
    let requests = state
        .get_mut("modificationMap")
        .and_then(|map| map.as_object_mut());
    for entry in requests.into_iter().flat_map(|map| map.values_mut()) {
        if let Some(entry) = entry.as_object_mut() {
            entry.retain(|name, value| name != "modifications" && *value != 0);
        }
    }
    let results = state
        .get_mut("taskResults")
        .and_then(|map| map.as_object_mut());
    for result in results.into_iter().flat_map(|map| map.values_mut()) {
        if let Some(status) = result.get("status").cloned() {
            *result = status;
        }
    }
    state.to_string()
}

fn without_details_of_fixes(changes: &str) -> String {
    let mut in_fix = false;
    let mut text = String::new();
    for line in changes.lines() {
        let is_detail = line.starts_with("+   ");
        in_fix = (in_fix && is_detail) || line.contains(" [FIX ");
        if !(in_fix && is_detail) {
            text.push_str(line);
            text.push('\n');
        }
    }
    text
}
