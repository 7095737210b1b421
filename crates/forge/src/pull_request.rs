//! Pull requests, and what they are merged into.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::check::{CheckState, CommitId};

/// A repository of a code host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repository {
    /// The host: `github.com`.
    pub host: String,
    /// The user or organisation.
    pub owner: String,
    /// The name.
    pub name: String,
}

impl Repository {
    /// The host of repositories that name none.
    pub const HOST: &str = "github.com";

    /// Parses `OWNER/NAME` or `HOST/OWNER/NAME`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let parts: Vec<&str> = text.split('/').collect();
        let (host, owner, name) = match parts[..] {
            [owner, name] => (Self::HOST, owner, name),
            [host, owner, name] => (host, owner, name),
            _ => return None,
        };
        // These become part of an address.
        let is_plain = |part: &&str| {
            let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
            !part.is_empty() && part.chars().all(is_plain) && !part.starts_with(['-', '.'])
        };
        [host, owner, name].iter().all(is_plain).then(|| Self {
            host: host.to_owned(),
            owner: owner.to_owned(),
            name: name.to_owned(),
        })
    }
}

impl fmt::Display for Repository {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.owner, self.name)
    }
}

/// The address of a git remote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RemoteAddress<'a>(pub &'a str);

impl RemoteAddress<'_> {
    /// Returns the repository that it leads to, if it is one of a code host:
    /// `git@host:owner/name.git`, `https://host/owner/name`, `ssh://git@host/owner/name`.
    #[must_use]
    pub fn repository(self) -> Option<Repository> {
        let text = self.0.trim().trim_end_matches('/');
        let text = text.strip_suffix(".git").unwrap_or(text);
        let (host, path) = match text.split_once("://") {
            Some(("https" | "http" | "ssh" | "git", rest)) => rest.split_once('/')?,
            Some(_) => return None,
            None => text.split_once(':')?,
        };
        let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
        let host = host.split_once(':').map_or(host, |(host, _)| host);
        let (owner, name) = path.split_once('/')?;
        Repository::parse(&format!("{host}/{owner}/{name}"))
    }
}

/// Whether a pull request can be merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mergeable {
    /// The code host has not found out yet.
    Unknown,
    /// Without conflicts.
    Clean,
    /// There are conflicts with the base branch.
    Conflict,
}

/// A pull request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PullRequest {
    /// Its number.
    pub number: u64,
    /// The last commit that the code host knows of its branch.
    pub head: CommitId,
    /// Its branch.
    pub branch: String,
    /// The branch that it is merged into.
    pub base: String,
    /// It is neither closed nor merged.
    pub is_open: bool,
    /// Whether it can be merged.
    pub mergeable: Mergeable,
    /// All checks aside, the code host demands more before a merge, such as a review.
    pub is_blocked: bool,
    /// Its page.
    pub url: String,
}

/// A pull request to open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewPullRequest {
    /// Its title.
    pub title: String,
    /// Its description.
    pub body: String,
    /// Its branch, with the owner in front if it is in another repository: `ann:feature`.
    pub branch: String,
    /// The branch to merge it into.
    pub base: String,
}

/// The branch that a pull request is merged into.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Base {
    /// Its last commit.
    pub commit: CommitId,
    /// The checks that must pass before a merge.
    pub required: BTreeSet<String>,
    /// The checks that ran on that commit; of several with one name the worst.
    pub checks: BTreeMap<String, CheckState>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_of_an_address_leads_to_the_repository() {
        for address in [
            "git@github.com:ann/cart.git",
            "https://github.com/ann/cart",
            "https://github.com/ann/cart.git/",
            "https://ann:secret@github.com/ann/cart.git",
            "ssh://git@github.com/ann/cart.git",
            "ssh://git@github.com:22/ann/cart.git",
        ] {
            let found = RemoteAddress(address).repository();
            let found = found.unwrap_or_else(|| panic!("{address}"));
            assert_eq!(
                (found.to_string().as_str(), found.host.as_str()),
                ("ann/cart", "github.com"),
                "{address}"
            );
        }
    }

    #[test]
    fn other_addresses_lead_nowhere() {
        for address in [
            "/srv/git/cart.git",
            "../cart",
            "file:///srv/git/cart.git",
            "git@github.com:cart.git",
            "https://github.com/ann/cart/../../x",
            "https://github.com/-x/cart",
            "https://github.com/ann/{repo}",
        ] {
            assert_eq!(RemoteAddress(address).repository(), None, "{address}");
        }
    }
}
