"""The recipes of the guide to failure recovery, with this package.

Each test does what a function or an example of the guide does. Names that the guide leaves
undefined are the helpers in this file; docs/python.md lists them.
"""

from __future__ import annotations

import asyncio
import re
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from conftest import Child

import regreen
from regreen import (
    FailureCategory,
    delegate_task,
    extract_blocker,
    extract_category,
    extract_completed_steps,
    extract_files_modified,
    extract_suggested_actions,
    is_retryable,
)

# Answers with a partial success at first, and does the rest when it is told what blocked it.
PARTIAL = r"""
prompt=$(cat)
case "$prompt" in
*"ImportError in tests: cannot import 'bcrypt'"*) echo "Fixed the rest."; exit 0 ;;
esac
mkdir -p src; echo x > src/auth.py
cat <<'END'
✓ Implemented authentication logic
✓ Created test file
ImportError in tests: cannot import 'bcrypt'
END
exit 1
"""


def test_a_timeout_with_progress_is_tried_again_with_twice_the_time(child: Child) -> None:
    agent = child("n=$(cat n 2>/dev/null || echo 0); echo $((n+1)) > n\n[ $n -gt 0 ] || sleep 9\n")
    result: str = delegate_task("Work.", timeout=1, agent=agent)
    assert "<failure_category>timeout</failure_category>" in result
    assert "<retryable>true</retryable>" in result
    result = delegate_task("Work.", timeout=1 * 2, agent=agent)
    assert "<status>completed</status>" in result


def test_a_timeout_without_progress_is_broken_into_parts(
    child: Child, capsys: pytest.CaptureFixture[str]
) -> None:
    agent = child('case "$(cat)" in *Everything*) exec sleep 9 ;; *) echo "A part." ;; esac\n')
    result = regreen.delegate_with_decomposition(
        "Everything", 1, decompose=decompose_task, agent=agent
    )
    assert capsys.readouterr().out == "Executing subtask 1/2\nExecuting subtask 2/2\n"
    assert result.count("A part.") == 2
    assert result.count("<status>completed</status>") == 2


def test_regreen_has_the_agent_break_a_task_into_parts(child: Child) -> None:
    agent = child(
        'case "$(cat)" in *"One half"*|*"The other"*) echo "A part." ;;\n'
        '*split*) printf "1. One half\\n2. The other\\n" ;; *) exec sleep 9 ;; esac\n'
    )
    result = regreen.delegate_with_decomposition("Everything", 1, agent=agent)
    assert isinstance(result, regreen.DelegationResult) and result.succeeded
    kinds = [attempt.prompt_kind for attempt in result.attempts]
    assert kinds == ["first", "split", "first", "first"]
    headings = [line for line in result.splitlines() if line.startswith("## ")]
    assert headings == ["## Subtask 1/2: One half", "## Subtask 2/2: The other"]


def test_a_missing_module_is_read_from_the_blocker_and_installed(child: Child) -> None:
    agent = child(
        "test -e installed || { echo \"ModuleNotFoundError: No module named 'shop'\"; exit 1; }\n"
    )
    result = delegate_task("Test it.", agent=agent)
    assert "<failure_category>tool_error</failure_category>" in result
    found = re.search(r"Blocked on: (.+)", result)
    assert found and "ModuleNotFoundError" in found.group(1)
    assert extract_module_name(found.group(1)) == "shop"
    Path("installed").touch()
    assert "<status>completed</status>" in delegate_task("Test it.", agent=agent)


def test_a_denied_permission_names_the_file(child: Child) -> None:
    Path("tool.sh").write_text("#!/bin/sh\n")
    agent = child("./tool.sh\n")
    result = delegate_task("Run the tool.", agent=agent)
    blocker = extract_blocker(result)
    assert blocker and "permission denied" in blocker.lower()
    Path(extract_file_path(blocker)).chmod(0o755)
    assert delegate_task("Run the tool.", agent=agent).succeeded


def test_missing_context_is_added_to_the_prompt(child: Child) -> None:
    agent = child(
        'case "$(cat)" in *"Test directory: tests"*) echo Found. ;;\n'
        "*) echo \"Cannot find 'the auth file' mentioned in prompt\"; exit 1 ;; esac\n"
    )
    result = delegate_task("Change the auth file.", agent=agent)
    assert extract_category(result) == "missing_context"
    context: dict[str, Any] = {
        "Project root": ".",
        "Main files": "src/auth.py, src/app.py",
        "Test directory": "tests",
    }
    lines = "\n".join(f"- {name}: {value}" for name, value in context.items())
    result = delegate_task(f"Change the auth file.\n\nAdditional context:\n{lines}", agent=agent)
    assert "<status>completed</status>" in result


def test_a_partial_success_is_continued_from_what_its_report_says(child: Child) -> None:
    agent = child(PARTIAL)
    result = delegate_task("Add authentication.", agent=agent)
    assert extract_category(result) == "partial" and is_retryable(result)
    steps = extract_completed_steps(result)
    assert steps == ["Implemented authentication logic", "Created test file"]
    blocker = extract_blocker(result)
    assert blocker == "ImportError in tests: cannot import 'bcrypt'"
    assert "src/auth.py" in extract_files_modified(result)
    assert extract_suggested_actions(result)
    done = "\n".join(f"✓ {step}" for step in steps)
    prompt = f"Already completed:\n{done}\n\nBlocker encountered: {blocker}\n\nDo the rest."
    assert "<status>completed</status>" in delegate_task(prompt, agent=agent)


def test_a_prompt_that_assumes_a_conversation_is_delegated_with_a_warning(child: Child) -> None:
    agent = child("echo Done.\n")
    good = delegate_task(prompt="In src/auth.py, add hash_password.", timeout=300, agent=agent)
    bad = delegate_task(prompt="Add auth as we discussed", timeout=300, agent=agent)
    assert good.succeeded and bad.succeeded


@pytest.mark.parametrize(
    ("script", "category"),
    [
        ("sleep 9", "timeout"),
        ("echo \"ModuleNotFoundError: No module named 'shop'\"; exit 1", "tool_error"),
        (PARTIAL, "partial"),
    ],
)
def test_each_category_can_be_handled(child: Child, script: str, category: str) -> None:
    result = delegate_task("A complex task", timeout=1, agent=child(script))
    handled = []
    if "<status>failed</status>" in result:
        found = extract_category(result)
        if found == "timeout":
            handled.append("timeout")
        elif found == "tool_error":
            fix_environment(result)
            handled.append("tool_error")
        elif found == "partial":
            complete_remaining_work(result)
            handled.append("partial")
    assert handled == [category]


def test_a_failure_can_be_logged(child: Child) -> None:
    result = delegate_task("Test it.", timeout=5, agent=child("echo boom >&2; exit 3\n"))
    log_failure(
        {
            "prompt": "Test it.",
            "timeout": 5,
            "category": extract_category(result),
            "blocker": extract_blocker(result),
            "files_modified": extract_files_modified(result),
            "timestamp": datetime.now().isoformat(),
        }
    )
    assert LOGGED[-1]["files_modified"] == []
    assert LOGGED[-1]["category"] in [str(category) for category in FailureCategory]


def test_retries_double_the_time_after_a_timeout(child: Child) -> None:
    agent = child(
        "n=$(cat n 2>/dev/null || echo 0); echo $((n+1)) > n; echo working on $n\n"
        "[ $n = 0 ] && sleep 9; echo Done.\n"
    )
    result = asyncio.run(regreen.delegate_with_retry("Work.", base_timeout=1, agent=agent))
    assert result.succeeded
    assert [attempt.timeout_ms for attempt in result.attempts] == [1000, 2000]


def test_retries_continue_a_partial_success(child: Child) -> None:
    result = asyncio.run(regreen.delegate_with_retry("Add it.", 3, 300.0, agent=child(PARTIAL)))
    assert result.succeeded
    assert [attempt.category for attempt in result.attempts] == ["partial", None]


def test_retries_end_where_only_a_person_helps(child: Child) -> None:
    agent = child("echo \"Cannot both 'preserve all code' and 'delete entire module'\"; exit 1\n")
    result = asyncio.run(regreen.delegate_with_retry("Do both.", agent=agent))
    assert extract_category(result) == "invalid_task" and not is_retryable(result)
    assert len(result.attempts) == 1


def test_a_timeout_with_progress_is_analyzed(child: Child) -> None:
    result = delegate_task("Test task", timeout=1, agent=child("touch a; echo On it.; sleep 9\n"))
    failure = result.failure
    assert failure is not None
    assert failure.category == FailureCategory.TIMEOUT
    assert failure.suggested_retry is True
    assert "Retry with timeout=2s" in failure.suggested_actions


def test_an_exception_is_analyzed() -> None:
    failure = analyze_exception(PermissionError("Permission denied: /etc/config"))
    assert failure is not None
    assert failure.category == FailureCategory.TOOL_ERROR
    assert failure.suggested_actions[0].startswith("Check file permissions")
    # Nothing that an agent may do gives it this permission.
    assert failure.retry_mode == "after_human"


def test_a_very_short_limit_returns_a_report(child: Child) -> None:
    async def delegated() -> str:
        return await regreen.delegate_task_async(
            prompt="Long task", timeout=0.1, agent=child("sleep 9\n")
        )

    assert extract_category(asyncio.run(delegated())) == "timeout"


def test_failures_are_counted_by_category(child: Child, capsys: pytest.CaptureFixture[str]) -> None:
    for script in ["sleep 9", PARTIAL, PARTIAL]:
        delegate_task("Work.", timeout=1, agent=child(script))
    alerts: list[str] = []
    rates = regreen.monitor_delegation_failures(threshold=2, alert=alerts.append)
    assert rates == regreen.FailureRates(3, {"partial": 2, "timeout": 1})
    assert capsys.readouterr().out == "partial: 2 (66.7%)\ntimeout: 1 (33.3%)\n"
    assert alerts == ["High delegation failure rate: 3 failures since 24h"]


def test_without_failures_nothing_is_reported(capsys: pytest.CaptureFixture[str]) -> None:
    assert regreen.monitor_delegation_failures(threshold=0) == regreen.FailureRates(0, {})
    assert regreen.analyze_failure_patterns() == []
    assert capsys.readouterr().out == ""


def test_blockers_are_grouped(child: Child, capsys: pytest.CaptureFixture[str]) -> None:
    other = "echo \"ModuleNotFoundError: No module named 'shop'\"; exit 1\n"
    for script in [other, PARTIAL, PARTIAL]:
        delegate_task("Work.", agent=child(script))
    patterns = regreen.analyze_failure_patterns(limit=1)
    assert [len(pattern.occurrences) for pattern in patterns] == [2]
    blocker = "ImportError in tests: cannot import 'bcrypt'"
    assert capsys.readouterr().out == f"{blocker}: 2 occurrences\n"
    assert patterns[0].occurrences[0].where == "delegation"


# The helpers.


LOGGED: list[dict[str, Any]] = []


def decompose_task(prompt: str) -> list[str]:
    return [f"Part {number}" for number in (1, 2)]


def extract_module_name(error: str) -> str:
    found = re.search(r"No module named '([\w.]+)'", error)
    assert found
    return found.group(1)


def extract_file_path(error: str) -> str:
    found = re.search(r"(\S+): [Pp]ermission denied", error)
    assert found
    return found.group(1)


def fix_environment(result: str) -> None:
    assert extract_suggested_actions(result)


def complete_remaining_work(result: str) -> None:
    assert extract_completed_steps(result)


def log_failure(entry: dict[str, Any]) -> None:
    LOGGED.append(entry)


def analyze_exception(error: Exception) -> regreen.Explanation | None:
    return regreen.explain(f"{type(error).__name__}: {error}", exit_code=1)
