//! The manifests of the workspace as they were when the run started.

mod files;
mod imports;
mod javascript;
mod others;
mod python;
mod recipe;
mod shell_reader;
mod source;
mod targets;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

pub(crate) use files::FileKind;
pub(crate) use source::origin;

/// The contents of the workspace's manifests and lock files when the run started. Read once per run
/// and kept, so that it never contains anything that an agent adds later.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ManifestSnapshot {
    /// The files by path, relative to the root.
    files: BTreeMap<String, ManifestFile>,
    /// Whether the sources of packages were read; older versions didn't do that.
    #[serde(default)]
    has_sources: bool,
    /// Digests of packages and build back ends inside the workspace, by folder.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    folders: BTreeMap<String, String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ManifestFile {
    pub(crate) kind: FileKind,
    digest: String,
    #[serde(flatten)]
    pub(crate) content: ManifestContent,
}

/// The declarations in one file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ManifestContent {
    /// The name of the project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) project: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) packages: Vec<Package>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) targets: Vec<Target>,
    /// Files that it may load as code, relative to the root, whether or not they exist.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) imports: Vec<String>,
    /// Folders with code that builds it, relative to the root.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) build_folders: Vec<String>,
    /// Other files that it includes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) includes: Vec<String>,
    /// Folders of the workspace that are installed with it; an empty path is the root.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) projects: Vec<String>,
    /// A digest of everything else that influences an installer. Only a digest, because the text
    /// may contain secrets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) steering: Option<String>,
    /// Whether it is a workspace whose members are installed with it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) has_members: bool,
    /// Packages fetched from somewhere other than the usual index, in one word each, because
    /// addresses may contain passwords.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) elsewhere: Vec<String>,
    /// The origins of its registries: scheme, host and port.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) sources: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Package {
    pub(crate) name: String,
    /// The requirement in the installer's syntax, or just the name.
    pub(crate) requirement: String,
    /// The list that contains it; empty for the main one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) group: String,
}

/// A target of make or just, or a script of package.json.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Target {
    pub(crate) name: String,
    /// The file it is named after, and those that its recipe writes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) makes: Vec<String>,
    /// The targets it depends on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) needs: Vec<String>,
    /// The part of its recipe that a person should see first. The recipe itself isn't kept, because
    /// it may contain secrets.
    #[serde(rename = "grave", default, skip_serializing_if = "Option::is_none")]
    pub(crate) risk: Option<String>,
    /// The names of the programs that its recipe starts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) programs: Vec<String>,
    /// The files that its recipe runs, relative to the manifest.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) scripts: Vec<String>,
}

impl Target {
    fn called(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            makes: Vec::new(),
            needs: Vec::new(),
            risk: None,
            programs: Vec::new(),
            scripts: Vec::new(),
        }
    }

    fn add(&mut self, recipe: &recipe::Recipe) {
        self.programs.extend_from_slice(&recipe.programs);
        self.scripts.extend_from_slice(&recipe.scripts);
        self.risk = self.risk.take().or_else(|| recipe.doubt.clone());
    }
}

impl ManifestSnapshot {
    /// Reads the manifests below `root`, skipping those that can't be read.
    #[must_use]
    pub fn read(root: &Path) -> Self {
        let found = files::find(root).into_iter();
        let read = found
            .filter_map(|(path, kind)| Some((path.clone(), read_manifest(root, &path, kind)?)));
        let mut declared = Self {
            files: read.collect(),
            has_sources: true,
            folders: BTreeMap::new(),
        };
        declared.read_scripts(root);
        declared.read_includes(root);
        declared.read_imports(root);
        declared.read_folders(root);
        declared
    }

    /// Records the code that scripts and builds load.
    fn read_imports(&mut self, root: &Path) {
        let mut open: Vec<String> = self.all_imports();
        while let Some(path) = open.pop() {
            if self.has(&path) || self.files.len() > MAX_FILES {
                continue;
            }
            if let Some(file) = read_manifest(root, &path, FileKind::Script) {
                open.extend(file.content.imports.iter().cloned());
                self.files.insert(path, file);
            }
        }
    }

    fn all_imports(&self) -> Vec<String> {
        let files = self.files.values();
        files
            .flat_map(|file| file.content.imports.clone())
            .collect()
    }

    /// Records packages and build back ends inside the workspace.
    fn read_folders(&mut self, root: &Path) {
        let contents = self.files.values().map(|file| &file.content);
        let folders =
            contents.flat_map(|content| content.projects.iter().chain(&content.build_folders));
        let folders = folders.filter(|folder| !folder.is_empty());
        let digests = folders
            .filter_map(|folder| Some((folder.clone(), files::folder_digest(root, folder)?)));
        self.folders = digests.collect();
    }

    /// Returns whether everything in a folder is as it was when the run started.
    pub(crate) fn is_same_folder(&self, root: &Path, folder: &str) -> bool {
        let now = files::folder_digest(root, folder);
        now.is_some() && self.folders.get(folder) == now.as_ref()
    }

    /// Returns the first changed file among a file and everything it loads.
    pub(crate) fn changed_import(&self, root: &Path, path: &str) -> Option<String> {
        let (mut all, mut at) = (vec![path.to_owned()], 0);
        while let Some(path) = all.get(at) {
            if !self.is_as_it_was(root, path) {
                return Some(path.clone());
            }
            let file = self.files.get(path).into_iter();
            let loaded = file.flat_map(|file| &file.content.imports);
            let fresh: Vec<String> = loaded.filter(|path| !all.contains(path)).cloned().collect();
            all.extend(fresh);
            at += 1;
        }
        None
    }

    pub(crate) fn has_sources(&self) -> bool {
        self.has_sources
    }

    /// Records the scripts that targets run, and their risks.
    fn read_scripts(&mut self, root: &Path) {
        let mut scripts = BTreeMap::new();
        for (path, file) in &mut self.files {
            for target in &mut file.content.targets {
                for script in target.scripts.iter().filter_map(|one| beside(path, one)) {
                    let text = content(root, &script).unwrap_or_default();
                    let word = recipe::risky_word(&String::from_utf8_lossy(&text));
                    target.risk = target.risk.take().or(word);
                    let kept = read_manifest(root, &script, FileKind::Script);
                    scripts.extend(kept.map(|kept| (script, kept)));
                }
            }
        }
        for (path, script) in scripts {
            self.files.entry(path).or_insert(script);
        }
    }

    /// Reads requirements files that others include, whatever their names.
    fn read_includes(&mut self, root: &Path) {
        loop {
            let included = self.of_kind(FileKind::Requirements);
            let included = included.flat_map(|(_, file)| &file.content.includes);
            let fresh = included.filter(|path| !self.has(path) && beside("", path).is_some());
            let read = fresh.filter_map(|path| {
                let file = read_manifest(root, path, FileKind::Requirements)?;
                Some((path.clone(), file))
            });
            let read: Vec<(String, ManifestFile)> = read.collect();
            if read.is_empty() {
                return;
            }
            self.files.extend(read);
        }
    }

    /// Returns a file with everything that it includes, recursively.
    pub(crate) fn with_includes<'d>(&'d self, path: &'d str) -> Vec<&'d str> {
        let mut all = vec![path];
        let mut at = 0;
        while let Some(path) = all.get(at) {
            let file = self.files.get(*path);
            let includes = file.into_iter().flat_map(|file| &file.content.includes);
            let fresh: Vec<&str> = includes
                .map(String::as_str)
                .filter(|path| !all.contains(path))
                .collect();
            all.extend(fresh);
            at += 1;
        }
        all
    }

    /// Finds a file of these kinds that is new, is gone, or isn't the `same` as when the run
    /// started.
    pub(crate) fn changed(
        &self,
        root: &Path,
        kinds: &[FileKind],
        same: fn(&Self, &Path, &str) -> bool,
    ) -> Option<String> {
        let now = files::find(root).into_iter();
        let now = now.filter(|(_, kind)| kinds.contains(kind));
        let then = self.files.iter();
        let then = then.filter(|(_, file)| kinds.contains(&file.kind));
        let mut all = then
            .map(|(path, _)| path.clone())
            .chain(now.map(|(path, _)| path));
        all.find(|path| !same(self, root, path))
    }

    pub(crate) fn of_kind(&self, kind: FileKind) -> impl Iterator<Item = (&str, &ManifestFile)> {
        let files = self.files.iter().filter(move |(_, file)| file.kind == kind);
        files.map(|(path, file)| (path.as_str(), file))
    }

    pub(crate) fn file(&self, path: &str) -> Option<&ManifestFile> {
        self.files.get(path)
    }

    pub(crate) fn has(&self, path: &str) -> bool {
        self.files.contains_key(path)
    }

    /// Returns whether a target creates this file.
    pub(crate) fn has_target_for(&self, path: &Path) -> bool {
        let mut all = self.files.iter();
        all.any(|(file, declared)| {
            let makes = declared
                .content
                .targets
                .iter()
                .flat_map(|target| &target.makes);
            makes
                .filter_map(|made| beside(file, made))
                .any(|made| Path::new(&made) == path)
        })
    }

    /// Returns whether a file has not changed since the run started.
    pub(crate) fn is_unchanged(&self, root: &Path, path: &str) -> bool {
        let then = self.files.get(path).map(|file| file.digest.as_str());
        let now = content(root, path).map(|text| digest(&text));
        then.is_some() && then == now.as_deref()
    }

    /// Returns whether a file lists the same packages as when the run started, whatever else has
    /// changed.
    pub(crate) fn names_the_same(&self, root: &Path, path: &str) -> bool {
        let Some(then) = self.files.get(path) else {
            return false;
        };
        let now = read_manifest(root, path, then.kind);
        now.is_some_and(|now| {
            let named = |content: &ManifestContent| {
                (
                    content.packages.clone(),
                    content.elsewhere.clone(),
                    content.sources.clone(),
                )
            };
            named(&now.content) == named(&then.content)
                && now.content.steering == then.content.steering
        })
    }

    /// Returns whether a file is unchanged, or existed neither then nor now.
    pub(crate) fn is_as_it_was(&self, root: &Path, path: &str) -> bool {
        if self.has(path) {
            self.is_unchanged(root, path)
        } else {
            root.join(path).symlink_metadata().is_err()
        }
    }

    /// Returns the first of these files that isn't as it was.
    pub(crate) fn first_changed(
        &self,
        root: &Path,
        files: impl IntoIterator<Item = impl Into<String>>,
    ) -> Option<String> {
        let mut files = files.into_iter().map(Into::into);
        files.find(|file| !self.is_as_it_was(root, file))
    }
}

/// Resolves a path relative to the folder of `file`; `None` if it leads out of the workspace.
pub(crate) fn beside(file: &str, path: &str) -> Option<String> {
    let folder = file.rsplit_once('/').map_or("", |(folder, _)| folder);
    let parts = folder.split('/').chain(path.split('/'));
    let parts: Vec<&str> = parts.filter(|part| !matches!(*part, "" | ".")).collect();
    let is_inside = !path.starts_with('/') && !parts.contains(&"..") && !parts.is_empty();
    is_inside.then(|| parts.join("/"))
}

fn read_manifest(root: &Path, path: &str, kind: FileKind) -> Option<ManifestFile> {
    let text = content(root, path)?;
    Some(ManifestFile {
        kind,
        digest: digest(&text),
        content: with_imports(kind, path, &String::from_utf8_lossy(&text)),
    })
}

fn content(root: &Path, path: &str) -> Option<Vec<u8>> {
    let full = root.join(path);
    let is_small =
        full.symlink_metadata().ok()?.is_file() && full.metadata().ok()?.len() <= MAX_SIZE;
    is_small.then(|| fs::read(&full).ok()).flatten()
}

/// Larger files aren't manifests.
const MAX_SIZE: u64 = 32 * 1024 * 1024;

pub(super) fn digest(text: &[u8]) -> String {
    let hash = Sha256::digest(text);
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// How many files are recorded.
const MAX_FILES: usize = 5000;

/// Reads a file and, if it is code, the code it loads.
fn with_imports(kind: FileKind, path: &str, text: &str) -> ManifestContent {
    let mut content = read(kind, path, text);
    if matches!(
        kind,
        FileKind::Script | FileKind::SetupPy | FileKind::PyProject
    ) {
        content.imports = imports::imports(path, text);
    }
    let folders = content.build_folders.iter();
    content.build_folders = folders.filter_map(|folder| beside(path, folder)).collect();
    content
}

fn read(kind: FileKind, path: &str, text: &str) -> ManifestContent {
    match kind {
        FileKind::Requirements => python::requirements(path, text),
        FileKind::PyProject => python::pyproject(text),
        FileKind::SetupCfg => python::setup_cfg(text),
        FileKind::SetupPy => python::setup_py(text),
        FileKind::Pipfile => python::pipfile(text),
        FileKind::PythonLock => python::lock(text),
        FileKind::PackageJson => javascript::package_json(text),
        FileKind::NpmLock => javascript::npm_lock(text),
        FileKind::NodeSettings => javascript::settings(text),
        FileKind::CargoToml => others::cargo_toml(text),
        FileKind::CargoLock => others::cargo_lock(text),
        FileKind::GoMod => others::go_mod(text),
        FileKind::Gemfile => others::gemfile(text),
        FileKind::GemfileLock => others::gemfile_lock(text),
        FileKind::Composer => others::composer(text),
        FileKind::Makefile => targets::makefile(text),
        FileKind::Justfile => targets::justfile(text),
        FileKind::Gitmodules => others::gitmodules(text),
        FileKind::NodeLock => javascript::text_lock(text),
        FileKind::PipfileLock => python::pipfile_lock(text),
        FileKind::ComposerLock => others::composer_lock(text),
        FileKind::ManagerSettings => others::manager_settings(text),
        FileKind::Script | FileKind::Other => ManifestContent::default(),
    }
}

impl ManifestContent {
    pub(crate) fn package(&self, name: &str, normalized: fn(&str) -> String) -> Option<&Package> {
        let wanted = normalized(name);
        let mut packages = self.packages.iter();
        packages.find(|package| normalized(&package.name) == wanted)
    }

    fn add_elsewhere(&mut self, text: &str) {
        let end = |c: char| c.is_whitespace() || "=:@".contains(c);
        let word = text.trim_start().split(end).find(|word| !word.is_empty());
        let word: String = word.unwrap_or("an address").chars().take(60).collect();
        self.elsewhere.push(word);
    }

    /// Adds an address from which packages are fetched.
    fn add_source(&mut self, address: &str) {
        match origin(address) {
            Some(origin) if self.sources.contains(&origin) => {}
            Some(origin) => self.sources.push(origin),
            None => self.add_elsewhere(address),
        }
    }

    fn add(&mut self, name: &str, requirement: &str, group: &str) {
        self.packages.push(Package {
            name: name.to_owned(),
            requirement: requirement.to_owned(),
            group: group.to_owned(),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn later_additions_are_not_declared_and_count_as_a_change() {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join("requirements.txt"), "PyYAML>=6\n").unwrap();
        let declared = ManifestSnapshot::read(root.path());
        let kept = serde_json::to_string(&declared).unwrap();
        let declared: ManifestSnapshot = serde_json::from_str(&kept).unwrap();
        assert!(declared.is_unchanged(root.path(), "requirements.txt"));
        fs::write(root.path().join("requirements.txt"), "PyYAML>=6\nevil\n").unwrap();
        assert!(!declared.is_unchanged(root.path(), "requirements.txt"));
        let content = &declared.file("requirements.txt").unwrap().content;
        let names: Vec<&str> = content.packages.iter().map(|p| p.name.as_str()).collect();
        assert_eq!(names, ["PyYAML"]);
    }
}
