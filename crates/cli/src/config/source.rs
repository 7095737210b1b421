use std::path::Path;
use std::sync::Arc;

use super::owner::Owner;

/// Which file is read.
#[derive(Clone, Debug)]
pub struct Source {
    pub owner: Owner,
    pub file: Arc<Path>,
    /// What the user's own file is called: there goes what a repository may not say.
    pub users_file: String,
}
