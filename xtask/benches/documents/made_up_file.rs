//! Generated task files of any length, in the styles found in repositories.

use std::fmt;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    /// A block of fields per task, about 500 bytes each.
    SmartRalph,
    /// One line per task.
    SpecKit,
}

impl fmt::Display for Style {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::SmartRalph => "smart-ralph",
            Self::SpecKit => "spec-kit",
        })
    }
}

/// Tasks of one phase before the next heading.
const PHASE: usize = 25;

impl Style {
    pub(crate) fn file(self, tasks: usize) -> String {
        let mut text = String::from("# Tasks\n\nWhat is to be done, phase by phase.\n");
        for at in 0..tasks {
            if at.is_multiple_of(PHASE) {
                text.push_str(&format!("\n## Phase {}\n\n", at / PHASE + 1));
            }
            text.push_str(&self.task(at));
        }
        text
    }

    /// Returns the id of the task at an index, counted from 0.
    pub(crate) fn id(self, at: usize) -> String {
        match self {
            Self::SmartRalph => format!("{}.{}", at / PHASE + 1, at % PHASE + 1),
            Self::SpecKit => format!("T{:03}", at + 1),
        }
    }

    fn task(self, at: usize) -> String {
        let id = self.id(at);
        let mark = if at.is_multiple_of(3) { 'x' } else { ' ' };
        match self {
            Self::SmartRalph => block(at, &id, mark),
            Self::SpecKit => format!(
                "- [{mark}] {id} [P] [US{}] Create the model of entity {at} in src/models/entity_{at}.py\n",
                at % 7 + 1
            ),
        }
    }
}

fn block(at: usize, id: &str, mark: char) -> String {
    format!(
        "- [{mark}] {id} Add the handler of request {at}\n  \
           - **Do**:\n    \
             1. Create `src/handlers/request_{at}.ts` with the function `handleRequest{at}`\n    \
             2. Register it in `src/router.ts` behind the check of permissions\n    \
             3. Write the case that fails first, then make it pass\n  \
           - **Files**: `src/handlers/request_{at}.ts`, `src/router.ts`\n  \
           - **Done when**: Requests of kind {at} are answered as the specification says\n  \
           - **Verify**: `npm test -- --grep \"request {at}\"`\n  \
           - **Commit**: `feat(handlers): answer request {at}`\n  \
           - _Requirements: FR-{at}, AC-{at}.1_\n\n"
    )
}
