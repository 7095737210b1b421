//! Finds the tasks that stored JSON names, without knowing what it means.

use std::collections::BTreeSet;
use std::fmt;

use regreen_model::{TaskId, TaskKey};
use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// Adds the tasks that this JSON names: its objects with an `id`, an `occurrence` and a `title`.
/// What can't be read names none.
pub(crate) fn named_tasks(json: &str, into: &mut BTreeSet<TaskKey>) {
    let mut source = serde_json::Deserializer::from_str(json);
    let search = Search {
        into,
        keeps_text: false,
    };
    let _ = search.deserialize(&mut source);
}

/// Searches a value, and returns it if it is a text that is to be kept.
struct Search<'s> {
    into: &'s mut BTreeSet<TaskKey>,
    keeps_text: bool,
}

impl<'de> DeserializeSeed<'de> for Search<'_> {
    type Value = Option<String>;

    fn deserialize<D: Deserializer<'de>>(self, source: D) -> Result<Self::Value, D::Error> {
        source.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Search<'_> {
    type Value = Option<String>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(self.keeps_text.then(|| text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        let (into, keeps_text) = (self.into, false);
        while items
            .next_element_seed(Search { into, keeps_text })?
            .is_some()
        {}
        Ok(None)
    }

    /// Numbers that fit no type come as maps as well, with one member of another name.
    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self::Value, A::Error> {
        let into = self.into;
        let (mut id, mut occurrence, mut title) = (None, None, None);
        while let Some(member) = members.next_key_seed(MemberName)? {
            if member == Member::Occurrence {
                occurrence = members.next_value::<&RawValue>()?.get().parse().ok();
                continue;
            }
            let keeps_text = member != Member::Other;
            let text = members.next_value_seed(Search { into, keeps_text })?;
            match member {
                Member::Id => id = text,
                Member::Title => title = text,
                Member::Occurrence | Member::Other => {}
            }
        }
        let id = id.and_then(|id| TaskId::try_from(id).ok());
        if let (Some(id), Some(occurrence), Some(title)) = (id, occurrence, title) {
            into.insert(TaskKey {
                id,
                occurrence,
                title,
            });
        }
        Ok(None)
    }
}

/// A member of an object.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Member {
    Id,
    Occurrence,
    Title,
    Other,
}

struct MemberName;

impl<'de> DeserializeSeed<'de> for MemberName {
    type Value = Member;

    fn deserialize<D: Deserializer<'de>>(self, source: D) -> Result<Member, D::Error> {
        source.deserialize_str(self)
    }
}

impl Visitor<'_> for MemberName {
    type Value = Member;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a name")
    }

    fn visit_str<E>(self, name: &str) -> Result<Member, E> {
        Ok(match name {
            "id" => Member::Id,
            "occurrence" => Member::Occurrence,
            "title" => Member::Title,
            _ => Member::Other,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(json: &str) -> Vec<String> {
        let mut found = BTreeSet::new();
        named_tasks(json, &mut found);
        found.iter().map(|task| task.id.to_string()).collect()
    }

    #[test]
    fn tasks_are_found_at_any_depth_and_between_other_values() {
        let json = r#"[{"n":1,"minus":-1,"much":1.5e9,"flag":true,"none":null,"of":[[{"title":"A","id":"1.2",
            "occurrence":3,"more":{"task":{"id":"2","occurrence":0,"title":"B \"c\""}}}]]}]"#;
        assert_eq!(ids(json), ["1.2", "2"]);
    }

    #[test]
    fn what_is_no_task_is_not_found() {
        assert!(ids(r#"{"id":"1.2","title":"A"}"#).is_empty());
        assert!(ids(r#"{"id":"1.2","occurrence":"0","title":"A"}"#).is_empty());
        assert!(ids(r#"{"id":7,"occurrence":0,"title":"A"}"#).is_empty());
        let text = r#"{"id":"1","occurrence":0,"title":"A"}"#;
        assert!(ids(&serde_json::to_string(text).unwrap()).is_empty());
    }

    #[test]
    fn what_is_cut_off_names_the_tasks_before_that() {
        assert_eq!(
            ids(r#"[{"id":"1","occurrence":0,"title":"A"},{"id":"2","#),
            ["1"]
        );
    }
}
