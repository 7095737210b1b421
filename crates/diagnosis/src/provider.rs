//! Which package has a program, a header or a library that was not found.

use std::collections::BTreeMap;

use regreen_model::RepairAction;

use crate::names::{APT, CARGO, LIBRARIES, NPM, PIP, look_up};

/// The installation that brings what the captures name; `None` for names nobody is known to
/// provide, such as misspelt ones.
pub(crate) fn installation(captures: &BTreeMap<String, String>) -> Option<RepairAction> {
    let command = captures.get("command").and_then(|name| of_command(name));
    command.or_else(|| {
        let name = captures.get("library").or_else(|| captures.get("header"))?;
        let package = library(name)?;
        Some(RepairAction::AptInstall {
            args: vec![package],
        })
    })
}

fn of_command(name: &str) -> Option<RepairAction> {
    let by = [
        ("pip_install", PIP),
        ("npm_install", NPM),
        ("cargo_install", CARGO),
        ("apt_install", APT),
    ];
    by.into_iter().find_map(|(action, table)| {
        let package = look_up(table, name)?;
        RepairAction::from_parts(action, vec![package.to_owned()])
    })
}

/// `openssl/ssl.h` and `openssl` are both of OpenSSL.
fn library(name: &str) -> Option<String> {
    let first = name.split('/').next().unwrap_or(name);
    let stem = first.strip_suffix(".h").unwrap_or(first);
    let package = look_up(LIBRARIES, name).or_else(|| look_up(LIBRARIES, stem))?;
    Some(package.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(name: &str, value: &str) -> Option<String> {
        let captures = BTreeMap::from([(name.to_owned(), value.to_owned())]);
        installation(&captures).map(|action| action.to_string())
    }

    #[test]
    fn known_names_have_their_package() {
        assert_eq!(of("command", "rg").as_deref(), Some("apt_install ripgrep"));
        assert_eq!(
            of("command", "pytest").as_deref(),
            Some("pip_install pytest")
        );
        assert_eq!(
            of("command", "tsc").as_deref(),
            Some("npm_install typescript")
        );
        assert_eq!(of("command", "just").as_deref(), Some("cargo_install just"));
        assert_eq!(
            of("header", "openssl/ssl.h").as_deref(),
            Some("apt_install libssl-dev")
        );
        assert_eq!(
            of("header", "Python.h").as_deref(),
            Some("apt_install python3-dev")
        );
        assert_eq!(
            of("library", "ssl").as_deref(),
            Some("apt_install libssl-dev")
        );
    }

    #[test]
    fn nobody_is_guessed_for_a_misspelt_name() {
        assert_eq!(of("command", "pyhton"), None);
        assert_eq!(of("header", "mine/own.h"), None);
    }
}
