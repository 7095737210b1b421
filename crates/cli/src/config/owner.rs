/// Whose configuration file it is; that decides what it may say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// `regreen.toml` of a repository, which others may have written.
    Workspace,
    /// The user's own file.
    User,
}
