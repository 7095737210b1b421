use serde::{Deserialize, Serialize};

/// How often regreen tries before it says stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Attempts of one task.
    pub task_iterations: u32,
    /// Attempts of a whole run.
    pub global_iterations: u32,
    /// Fix tasks that one task may get.
    pub fixes_per_task: u32,
    /// How deep fixes of fixes may go; an original has depth 0.
    pub fix_depth: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            task_iterations: 5,
            global_iterations: 100,
            fixes_per_task: 3,
            fix_depth: 3,
        }
    }
}

impl Limits {
    /// Fix tasks that one original and all of its descendants may get together. Limits per
    /// id alone would still allow dozens of attempts on one original.
    #[must_use]
    pub fn fixes_per_root(&self) -> u32 {
        self.fixes_per_task.max(10)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_root_may_have_ten_fixes_or_as_many_as_one_task_may() {
        assert_eq!(Limits::default().fixes_per_root(), 10);
        let generous = Limits {
            fixes_per_task: 25,
            ..Limits::default()
        };
        assert_eq!(generous.fixes_per_root(), 25);
    }
}
