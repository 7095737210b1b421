//! Task lists in all the ways that people write them.

use regreen_model::TaskId;

/// A list to run, and what another row of it looks like.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plan {
    pub(super) text: &'static str,
    /// What stands before the number of a row that somebody adds; `None` where rows have no
    /// ids of their own.
    pub(super) id: Option<&'static str>,
}

/// The first word of every title is its row's name, whatever becomes of the rest.
pub(super) const PLANS: [Plan; 10] = [
    Plan {
        text: "# Tasks\n\n- [ ] 1.1 alpha a\n  - **Verify**: `true`\n  - **Commit**: `feat: a`\n- [x] 1.2 beta b\n- [ ] 1.3 gamma c\n  - **Verify**: `true`\n",
        id: Some("8."),
    },
    Plan {
        text: "- [ ] alpha a\n- [ ] beta b\n- [ ] gamma c\n",
        id: None,
    },
    Plan {
        text: "- [ ] alpha a\n",
        id: None,
    },
    Plan {
        text: "- [ ] 1. alpha g\n  - **Verify**: `true`\n  - [ ] 1.1 beta a\n  - [ ]* 1.2 gamma b\n- [ ] 2. delta h\n  - [ ] 2.1 epsilon c\n    - **Verify**: `true`\n  - [x] 2.2 zeta d\n",
        id: Some("8."),
    },
    Plan {
        text: "- [ ] T001 [P] alpha a\r\n- [ ] T002 [P] [US1] beta b\r\n  - **Verify**: `true`\r\n\r\n## Later\r\n\r\n- [ ] T003 gamma c",
        id: Some("T90"),
    },
    Plan {
        text: "## 1. Setup\n\n- [ ] 1.1 alpha a  \n- [x] 1.2 beta b\n\n## 2. Work\n\n- [ ] 2.1 gamma c\n- [ ] 2.2 delta d\n",
        id: Some("8."),
    },
    Plan {
        text: "- [ ] 1.1 alpha a\n  - **Verify**: `true`\n- [ ] 1.1 beta b\n  - **Verify**: `true`\n- [ ] 1.2 gamma c\n",
        id: Some("8."),
    },
    Plan {
        text: "* [ ] 1.1 alpha a\n\n  ```\n  - [ ] no row\n  ```\n* [ ] 1.2 [VERIFY] beta b\n  - **Verify**: `true`\n\n\n* [X] 1.3 gamma c\n* [-] 1.10 delta d",
        id: Some("8."),
    },
    Plan {
        text: "- [ ] 1.1 alpha a\n  - **Verify**: `true`\n- [x] 1.1.1 [FIX 1.1] Fix: it broke\n- [ ] 1.1.2 [FIX 1.1] Fix: it broke\n- [ ] 1.2 beta b\n- [ ] 1.2.1 [FIX 1.2] Fix: it broke\n",
        id: Some("8."),
    },
    Plan {
        text: "\u{feff}- [ ] alpha a\r\n  - **Verify**: `true`\r\n  - [ ] a checklist item\r\n- [ ] beta b",
        id: None,
    },
];

impl Plan {
    /// Another row of the list, without its line ending.
    pub(super) fn row(&self, name: &str, number: u64, is_ticked: bool) -> String {
        let mark = if is_ticked { 'x' } else { ' ' };
        match self.id {
            Some(id) => format!("- [{mark}] {id}{number} {name} n"),
            None => format!("- [{mark}] {name} n"),
        }
    }

    /// Whether a task is called after its place, which others can take.
    pub(super) fn has_ids(&self) -> bool {
        self.id.is_some()
    }

    /// A task that may be asked for by name.
    pub(super) fn first_id(&self) -> Option<TaskId> {
        let id = if self.text.contains("T001") {
            "T001"
        } else {
            "1.1"
        };
        self.id.and_then(|_| TaskId::parse(id))
    }
}
