//! What could help against which failure: one file per sort of repair. Each look says nothing
//! (`None`) about what is not its own.

mod asks;
mod cache;
mod cargo;
mod crlf;
mod env_file;
mod executable;
mod generated;
mod go;
mod locale;
mod lock;
mod migration;
mod missing_folder;
mod node;
mod other_managers;
mod ours;
mod port;
mod python;
mod requirement_source;
mod submodule;
mod tool_path;
mod venv;

use regreen_model::Failure;

use crate::scene::Scene;
use crate::verdict::Verdict;

pub(crate) use crlf::script as crlf_script;
pub(crate) use executable::why_not as why_not_executable;

type Look = fn(&Scene<'_>, &Failure) -> Option<Verdict>;

/// In this order: what is nearest to the cause comes first.
pub(crate) const LOOKS: [(&str, Look); 18] = [
    ("submodule", submodule::look),
    ("generated file", generated::look),
    (".env from its example", env_file::look),
    ("missing folder", missing_folder::look),
    ("executable bit", executable::look),
    ("line ends", crlf::look),
    ("stale lock", lock::look),
    ("port", port::look),
    ("PATH", tool_path::look),
    ("Python", python::look),
    ("Node.js", node::look),
    ("cargo", cargo::look),
    ("Go", go::look),
    ("Bundler and Composer", other_managers::look),
    ("locale", locale::look),
    ("migration", migration::look),
    ("cache", cache::look),
    ("a person's", asks::look),
];
