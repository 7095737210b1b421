use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// Where the user's own configuration lies, on every system the same: in the folder that
/// `XDG_CONFIG_HOME` names, else in `.config` of the home folder.
#[must_use]
fn user_file(xdg_config_home: Option<&OsStr>, home: Option<&Path>) -> Option<PathBuf> {
    // What is not absolute counts as not set, says the XDG specification; an empty home too,
    // or any folder regreen is started in could pose as the user's.
    let absolute = |path: &Path| path.is_absolute().then(|| path.to_owned());
    let folder = xdg_config_home
        .and_then(|folder| absolute(Path::new(folder)))
        .or_else(|| Some(absolute(home?)?.join(".config")))?;
    Some(folder.join("regreen/config.toml"))
}

/// The file of whoever runs this process; `None` where there is no home folder to look in.
#[must_use]
pub fn usual_user_file() -> Option<PathBuf> {
    let xdg = std::env::var_os("XDG_CONFIG_HOME");
    user_file(xdg.as_deref(), std::env::home_dir().as_deref())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_users_file_is_in_the_usual_place() {
        let file = |xdg: Option<&str>, home: Option<&str>| {
            let file = user_file(xdg.map(OsStr::new), home.map(Path::new))?;
            Some(file.display().to_string())
        };
        let xdg = "/x/regreen/config.toml";
        let home = "/h/.config/regreen/config.toml";
        assert_eq!(file(Some("/x"), Some("/h")).as_deref(), Some(xdg));
        assert_eq!(file(None, Some("/h")).as_deref(), Some(home));
        assert_eq!(file(Some(""), Some("/h")).as_deref(), Some(home));
        assert_eq!(file(Some("x"), Some("/h")).as_deref(), Some(home));
        assert_eq!(file(Some("/x"), None).as_deref(), Some(xdg));
        assert_eq!(file(None, Some("")), None);
        assert_eq!(file(None, None), None);
    }
}
