"""Reading the text of failure reports."""

from __future__ import annotations

from regreen import (
    extract_blocker,
    extract_category,
    extract_completed_steps,
    extract_files_modified,
    extract_suggested_actions,
    is_retryable,
)

REPORT = """\
Child agent failed: Child timed out after 300s

Category: timeout
Duration: 300.0s
Retryable: Yes

Work completed before failure:
  ✓ Created 2 files
  ✓ Blocked on: nothing

Files modified: src/config.py, tests/test_config.py

Blocked on: Time limit insufficient

Suggested recovery actions:
  • Retry with timeout=600s
  • Break task into smaller subtasks

<task_metadata>
  <session_id>child-1</session_id>
  <status>failed</status>
  <failure_category>timeout</failure_category>
  <retryable>true</retryable>
</task_metadata>
"""
NOTHING_DONE = """\
Child agent failed: Contradiction

Category: invalid_task
Duration: 1.0s
Retryable: No

Work completed before failure:
  None

Files modified: none

Suggested recovery actions:
  • Clarify task requirements

<task_metadata>
  <session_id>child-2</session_id>
  <status>failed</status>
  <failure_category>invalid_task</failure_category>
  <retryable>false</retryable>
</task_metadata>
"""


def test_everything_in_a_report_is_found() -> None:
    assert extract_category(REPORT) == "timeout"
    assert is_retryable(REPORT)
    assert extract_completed_steps(REPORT) == ["Created 2 files", "Blocked on: nothing"]
    assert extract_files_modified(REPORT) == ["src/config.py", "tests/test_config.py"]
    assert extract_blocker(REPORT) == "Time limit insufficient"
    actions = ["Retry with timeout=600s", "Break task into smaller subtasks"]
    assert extract_suggested_actions(REPORT) == actions


def test_what_a_report_leaves_out_is_empty() -> None:
    assert extract_completed_steps(NOTHING_DONE) == []
    assert extract_files_modified(NOTHING_DONE) == []
    assert extract_blocker(NOTHING_DONE) is None
    assert not is_retryable(NOTHING_DONE)


def test_only_the_last_report_of_a_text_counts() -> None:
    text = f"## 1. The first half\n\n{REPORT}\n## 2. The other\n\n{NOTHING_DONE}"
    assert extract_category(text) == "invalid_task"
    assert extract_completed_steps(text) == []
    assert extract_blocker(text) is None
    assert extract_suggested_actions(text) == ["Clarify task requirements"]


def test_an_answer_has_no_failure() -> None:
    answer = (
        "Files modified: a\nBlocked on: nothing\n\n<task_metadata>\n  <status>completed</status>\n"
    )
    for text in ("", answer):
        assert extract_category(text) is None
        assert not is_retryable(text)
        assert extract_blocker(text) is None
        assert extract_files_modified(text) == []
        assert extract_completed_steps(text) == []
        assert extract_suggested_actions(text) == []
