//! What there is to do in a project, and who does it.

use std::fmt::Write as _;

/// A plan and the agent that knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    /// Twenty tasks, some of which fail at first, without recovery.
    Twenty,
    /// Tasks that need fixes, fixes of fixes, and rows that the agent asks for.
    Healing,
}

impl Work {
    pub(crate) fn agent(self) -> &'static str {
        match self {
            Self::Twenty => include_str!("agent.sh"),
            Self::Healing => include_str!("healing_agent.sh"),
        }
    }

    pub(crate) fn flags(self) -> &'static [&'static str] {
        match self {
            Self::Twenty => &[],
            Self::Healing => &["--recovery-mode", "--keep-state"],
        }
    }

    /// Every other task has a commit of its own.
    pub(crate) fn plan(self) -> String {
        let tasks = match self {
            Self::Twenty => 20,
            Self::Healing => 8,
        };
        let mut plan = "# Tasks\n".to_owned();
        for n in 1..=tasks {
            let _ = write!(
                plan,
                "\n- [ ] 1.{n} Task number {n}\n  - **Verify**: `\"$NEST/verify\" 1.{n}`\n"
            );
            if n % 2 == 1 {
                let _ = writeln!(plan, "  - **Commit**: `feat: task {n}`");
            }
        }
        plan
    }
}
