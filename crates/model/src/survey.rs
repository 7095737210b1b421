/// What a look at a workspace shows to somebody who knows nothing of it. All of it is text
/// from outside.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Survey {
    pub main_files: Vec<String>,
    pub configuration: Vec<String>,
    pub test_folders: Vec<String>,
    pub looked_up: Vec<LookedUp>,
}

/// Where something that somebody named is to be found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LookedUp {
    pub name: String,
    /// Files that are called so.
    pub files: Vec<String>,
    /// Lines in which it stands: `src/a.py:12: import auth`.
    pub lines: Vec<String>,
}
