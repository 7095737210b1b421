//! The keys of configuration files, and who may set them.

use serde_json::{Map, Value, json};

use super::settings::Key;

/// The owner of a configuration file, which decides what the file may set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// A repository's `regreen.toml`, which others may have written.
    Workspace,
    /// The user's own file.
    User,
}

/// Which files may set a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    AnyFile,
    /// Only the user's own file, because of the power that the sentence describes.
    UserFile(&'static str),
}

impl Key {
    /// Returns the key with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|key| key.name() == name)
    }

    /// Returns why a file of this owner may not set the key; `None` if it may.
    pub fn refusal(self, owner: Owner) -> Option<&'static str> {
        match (self.access(), owner) {
            (Access::UserFile(why), Owner::Workspace) => Some(why),
            (Access::UserFile(_), Owner::User) | (Access::AnyFile, _) => None,
        }
    }

    /// Returns the keys that a file of this owner may set.
    pub fn open_to(owner: Owner) -> impl Iterator<Item = Self> {
        let all = Self::ALL.iter().copied();
        all.filter(move |key| key.refusal(owner).is_none())
    }

    /// Returns the key with the most similar name, if any is similar.
    pub fn nearest(name: &str, owner: Owner) -> Option<Self> {
        const SIMILAR: f64 = 0.5;
        let name = name.replace('-', "_").to_lowercase();
        let rated = Self::open_to(owner).map(|key| (key, similarity(&name, key.name())));
        let (key, similarity) = rated.max_by(|(_, one), (_, other)| one.total_cmp(other))?;
        (similarity >= SIMILAR).then_some(key)
    }
}

/// Rates a name from 0 to 1, as a misspelling or a part of the key.
fn similarity(name: &str, key: &str) -> f64 {
    const PART: f64 = 0.7;
    let is_part = name.len() >= 3 && (key.contains(name) || name.contains(key));
    let typed = strsim::normalized_damerau_levenshtein(name, key);
    typed.max(if is_part { PART } else { 0.0 })
}

/// Returns the JSON schema of a configuration file, for editors.
pub fn schema(owner: Owner) -> Value {
    let title = match owner {
        Owner::Workspace => "regreen.toml",
        Owner::User => "user configuration of regreen (config.toml)",
    };
    let property = |key: Key| {
        let description = ("description".to_owned(), key.meaning().into());
        let mut property = Map::from_iter([description]);
        if let Value::Object(shape) = key.schema(owner) {
            property.extend(shape);
        }
        (key.name().to_owned(), property.into())
    };
    let mut properties = Map::new();
    for (name, property) in Key::open_to(owner).map(property) {
        match name.split_once('.') {
            None => properties.insert(name, property),
            Some((table, inner)) => {
                let table = properties.entry(table).or_insert_with(empty_table);
                table["properties"][inner] = property;
                None
            }
        };
    }
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": title,
        "type": "object",
        "additionalProperties": false,
        "properties": properties,
    })
}

/// Returns the schema of a table without settings.
fn empty_table() -> Value {
    json!({
        "type": "object",
        "additionalProperties": false,
        "properties": {},
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistyped_key_leads_to_the_right_one() {
        for (name, key) in [
            ("timout", Some("timeout")),
            ("verify-timeout", Some("verify_timeout")),
            ("Agent", Some("agent")),
            ("agents", Some("agent")),
            ("max_iterations", Some("max_task_iterations")),
            ("task_iterations", Some("max_task_iterations")),
            ("optional", Some("include_optional")),
            ("keepstate", Some("keep_state")),
            ("commits", Some("commit")),
            ("colour", None),
            ("", None),
        ] {
            let nearest = Key::nearest(name, Owner::User).map(Key::name);
            assert_eq!(nearest, key, "{name}");
        }
    }

    #[test]
    fn a_repository_is_not_led_to_a_key_that_it_may_not_set() {
        assert_eq!(Key::nearest("on_edn", Owner::Workspace), None);
        assert_eq!(Key::nearest("on_edn", Owner::User), Some(Key::OnEnd));
    }
}
