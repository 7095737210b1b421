//! Checks whether everything in a lock file comes from a registry that the user knows.
//!
//! A lock file can send an installer anywhere. It is trusted only if all of its addresses belong to
//! the registry in the user's own configuration, or to the manager's default. The manager itself is
//! asked for both, outside of the workspace, which works without a network. If it doesn't or can't
//! answer, a person decides.

use crate::context::RepairContext;
use crate::manifests::origin;

/// A family of package managers with the same registries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Registries {
    Node,
    Python,
    Ruby,
    /// Composer's lock files name an address on any host for each package, and no registry.
    Php,
}

/// A question about a manager's configuration.
struct Question {
    argv: &'static [&'static str],
    /// Variables that would change the answer.
    unset: &'static [&'static str],
    /// Only lines with this word are answers.
    word: &'static str,
}

const fn question(argv: &'static [&'static str]) -> Question {
    Question {
        argv,
        unset: &[],
        word: "",
    }
}

/// The user's registry, the default, and what the other managers use.
const NODE: [Question; 5] = [
    question(&["npm", "config", "get", "registry"]),
    Question {
        argv: &[
            "npm",
            "config",
            "get",
            "registry",
            "--userconfig=/dev/null",
            "--globalconfig=/dev/null",
        ],
        unset: &["npm_config_registry", "NPM_CONFIG_REGISTRY"],
        word: "",
    },
    question(&["yarn", "config", "get", "registry"]),
    question(&["yarn", "config", "get", "npmRegistryServer"]),
    question(&["pnpm", "config", "get", "registry"]),
];

/// pip knows its default index, and the host of the files that it lists.
const PIP_DEFAULT: &str = "from pip._internal.models.index import PyPI as index\n\
    print(index.simple_url, 'https://' + index.file_storage_domain)";

const PYTHON: [Question; 2] = [
    question(&["python3", "-I", "-c", PIP_DEFAULT]),
    Question {
        argv: &["python3", "-I", "-m", "pip", "config", "list"],
        unset: &[],
        word: "index-url",
    },
];

const RUBY: [Question; 1] = [question(&["gem", "sources", "--list"])];

impl Registries {
    fn questions(self) -> &'static [Question] {
        match self {
            Self::Node => &NODE,
            Self::Python => &PYTHON,
            Self::Ruby => &RUBY,
            Self::Php => &[],
        }
    }

    /// Returns whether this origin is in the user's configuration, or is a default.
    fn know(self, context: &RepairContext<'_>, wanted: &str) -> bool {
        self.questions().iter().any(|question| {
            let answer = context.ask(question.argv, question.unset);
            let answer = answer.unwrap_or_default();
            let lines = answer.lines().filter(|line| line.contains(question.word));
            let mut words = lines.flat_map(|line| line.split([' ', '\'', '"', '=', '\t']));
            words.any(|word| origin(word).as_deref() == Some(wanted))
        })
    }

    /// Returns why a person should decide about a file that steers the installer.
    pub(super) fn doubt(self, context: &RepairContext<'_>, path: &str) -> Option<String> {
        let content = &context.manifests.file(path)?.content;
        if let Some(source) = content.elsewhere.first() {
            return Some(format!(
                "{path} fetches from elsewhere than a registry ({source})"
            ));
        }
        if !context.manifests.has_sources() {
            return Some("the run was started by an older version of regreen".to_owned());
        }
        let mut sources = content.sources.iter();
        let strange = sources.find(|source| !self.know(context, source))?;
        Some(if strange.starts_with("http://") {
            format!("{path} fetches without encryption, from {strange}")
        } else {
            format!("{path} fetches from {strange}, which your own configuration does not name")
        })
    }
}
