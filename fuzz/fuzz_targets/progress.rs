//! A progress file keeps every line it had, and saying a thing twice changes nothing.
#![no_main]

use libfuzzer_sys::fuzz_target;
use regreen_documents::{FixHistory, HealingOutcome, ProgressFile};
use regreen_model::TaskId;

fuzz_target!(|text: &str| {
    let task = TaskId::parse("1.3").expect("an id");
    let history = FixHistory {
        task: task.clone(),
        fixes: vec![task.child(1), task.child(2)],
        outcome: HealingOutcome::Pass,
    };
    let say = |progress: &ProgressFile| {
        progress
            .completed(&task, text, Some("abc1234"))
            .fix_history(&history)
    };
    let once = say(&ProgressFile::read(text));
    assert_eq!(say(&once), once);
    let mut kept = lines(once.text());
    for line in lines(text).filter(|line| !line.trim_start().starts_with("- Task 1.3: ")) {
        assert!(kept.any(|other| other == line), "{line:?} is gone");
    }
});

fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.split(['\n', '\r']).filter(|line| !line.is_empty())
}
