use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::ends::Ends;
use crate::keeper_link::KeeperLink;
use crate::order::Order;
use crate::{Running, SpawnError, Spec};

/// Starts programs, each under a keeper of its own. A keeper that has nothing left to keep
/// waits for the next program: starting one anew costs more than all it does. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Keepers {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    program: PathBuf,
    idle: Mutex<Vec<KeeperLink>>,
}

impl Keepers {
    /// `program` is a binary that calls [`keeper_main`](crate::keeper_main): regreen's own.
    #[must_use]
    pub fn new(program: PathBuf) -> Self {
        let idle = Mutex::new(Vec::new());
        Self {
            shared: Arc::new(Shared { program, idle }),
        }
    }

    /// Starts a program.
    ///
    /// Everything it starts is gone when [`Running::wait`] returns, when the `Running` is
    /// dropped, or when this process ends, however it ends.
    ///
    /// # Errors
    ///
    /// If there is no keeper to be had: no descriptors, no processes, no such binary.
    pub fn spawn(&self, spec: Spec) -> Result<Running, SpawnError> {
        let order = Order::of(&spec);
        let (ours, childs) = Ends::make(spec.stdin, spec.masks.as_ref())?;
        let link = self.engage(|link| link.give(&order, &childs))?;
        Ok(Running::new(
            self.clone(),
            link,
            ours,
            spec.limits,
            spec.marker,
        ))
    }

    /// A keeper that took the order: one that waits, unless it died waiting, or a new one.
    fn engage(
        &self,
        give: impl Fn(&KeeperLink) -> io::Result<()>,
    ) -> Result<KeeperLink, SpawnError> {
        // Not while the list is held: a dead one is waited for when it is dropped.
        let mut waiting = self.idle().pop();
        while let Some(link) = waiting {
            if give(&link).is_ok() {
                return Ok(link);
            }
            waiting = self.idle().pop();
        }
        let link = KeeperLink::start(&self.shared.program).map_err(SpawnError::Keeper)?;
        give(&link).map_err(SpawnError::Order)?;
        Ok(link)
    }

    /// It has nothing left to keep.
    pub(crate) fn take_back(&self, link: KeeperLink) {
        self.idle().push(link);
    }

    fn idle(&self) -> MutexGuard<'_, Vec<KeeperLink>> {
        let lock = self.shared.idle.lock();
        lock.unwrap_or_else(PoisonError::into_inner)
    }
}
