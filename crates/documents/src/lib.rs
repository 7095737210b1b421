//! The files that people and regreen share: `tasks.md`, `.ralph-state.json`, `.progress.md`.
//!
//! Reading never fails, and an edit is the smallest one that does the job and keeps every other
//! byte. Text in, text out: the files themselves are `workspace`'s business.
//!
//! ```
//! use regreen_documents::TaskFile;
//!
//! let file = TaskFile::read("# Plan\n\n- [ ] 1.1 Write it\n- [ ] 1.2 Test it\n");
//! let first = file.rows().next().expect("a row");
//! let ticked = file.tick(first)?.into_file(file);
//! assert_eq!(ticked.text(), "# Plan\n\n- [x] 1.1 Write it\n- [ ] 1.2 Test it\n");
//! # Ok::<(), regreen_documents::EditError>(())
//! ```

mod markdown;
mod plan_review;
mod progress;
mod shell;
mod state;
mod tasks;

pub use plan_review::{
    Aspect, ClaimedRow, ForeignCode, PlanReview, RevertedEdit, RowChange, choices_of_change,
    line_diff, review, review_after, with_accepted_changes, with_reopened,
};
pub use progress::{CompletedLine, FixHistory, HealingOutcome, ProgressFile};
pub use shell::{
    BlindSpot, PathState, RedCommand, Shell, always_passes, guarded, guarded_for, inputs_of,
    is_answer, is_plain_command, is_search, needs_of, says_no_with_one,
};
pub use state::{
    FixRecord, InvalidSettings, InvalidState, ModificationLineage, StateDocument, StateWarning,
    TaskResult, epic_with_completed, index_page_with_completed, index_with_completed,
    with_claude_hooks,
};
pub use tasks::{
    Change, EditError, InsertPosition, Next, Pick, RowId, TaskFile, UNRUN_HELP, UnrunRows,
    background_start, commit_message, is_path, shell_steps, vague_words, verify_commands,
};
