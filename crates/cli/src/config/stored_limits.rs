use regreen_documents::StateDocument;
use regreen_model::Limits;

use super::count::Count;
use super::layer::Layer;
use super::origin::Origin;
use super::sourced::Sourced;

/// The limits that a spec's state file asks for. The defaults are written there by every
/// tool that knows the file, so they say nothing; and neither does zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StoredLimits {
    pub task_iterations: Option<Count>,
    pub global_iterations: Option<Count>,
    pub fix_tasks: Option<Count>,
    pub fix_depth: Option<Count>,
    /// Failed tasks are healed.
    pub recovery: bool,
}

impl StoredLimits {
    #[must_use]
    pub fn of(state: &StateDocument) -> Self {
        let default = Limits::default();
        Self {
            task_iterations: said(state.max_task_iterations(), default.task_iterations),
            global_iterations: said(state.max_global_iterations(), default.global_iterations),
            fix_tasks: said(state.max_fix_tasks(), default.fixes_per_task),
            fix_depth: said(state.max_fix_depth(), default.fix_depth),
            recovery: state.recovery_mode(),
        }
    }

    pub(super) fn layer(self) -> Layer {
        let stored = |count: Option<Count>| count.map(|count| Sourced::new(count, Origin::Stored));
        Layer {
            max_task_iterations: stored(self.task_iterations),
            max_global_iterations: stored(self.global_iterations),
            ..Layer::default()
        }
    }
}

fn said(stored: u32, default: u32) -> Option<Count> {
    Count::new(stored).filter(|_| stored != default)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(json: &str) -> [Option<u32>; 2] {
        let (state, _) = StateDocument::read(json).unwrap();
        let limits = StoredLimits::of(&state);
        [limits.task_iterations, limits.global_iterations].map(|count| count.map(Count::get))
    }

    #[test]
    fn what_is_stored_counts_unless_it_is_the_default_or_zero() {
        let both = |task: u32, global: u32| {
            format!(r#"{{"maxTaskIterations": {task}, "maxGlobalIterations": {global}}}"#)
        };
        assert_eq!(limits(&both(7, 40)), [Some(7), Some(40)]);
        assert_eq!(limits(&both(5, 100)), [None, None]);
        assert_eq!(limits(&both(0, 0)), [None, None]);
        assert_eq!(limits("{}"), [None, None]);
    }
}
