//! A repair that never helped is not made again.

use std::collections::BTreeMap;

use regreen_model::{Event, Experience};

use crate::world::Check;
use crate::world::name_of;

/// What the history said about the last failure of each task.
#[derive(Debug, Default)]
pub(super) struct Recall {
    known: BTreeMap<String, Experience>,
}

impl Recall {
    pub(super) fn answered(&mut self, name: &str, experience: Option<&Experience>) {
        match experience {
            Some(experience) => self.known.insert(name.to_owned(), experience.clone()),
            None => self.known.remove(name),
        };
    }

    pub(super) fn hear(&mut self, event: &Event) -> Check {
        match event {
            Event::TaskFailed { task, .. } => drop(self.known.remove(&name_of(task))),
            Event::FixPlanned {
                task,
                repair: Some(repair),
                ..
            } => {
                let name = name_of(task);
                let known = self.known.get(&name);
                if known.is_some_and(|known| known.refuses(&repair.action)) {
                    return Err(format!(
                        "{name} gets a repair that never helped: {}",
                        repair.does
                    ));
                }
            }
            _ => {}
        }
        Ok(())
    }
}
