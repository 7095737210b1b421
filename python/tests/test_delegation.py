"""Delegations: what a caller gets, and that nothing is left running."""

from __future__ import annotations

import asyncio
import os
import pickle
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import Child

import regreen

MISSING = "echo \"ModuleNotFoundError: No module named 'pytest'\"; exit 1\n"
# A child of its own that would survive the end of the agent's process group.
LINGERS = "setsid sleep 300 & echo $! > pid; sleep 300\n"


def test_a_success_is_the_printed_text_and_its_parts(child: Child) -> None:
    result = regreen.delegate_task(
        "Write a greeting.",
        verify="test -s greeting.txt",
        agent=child("cat > prompt; echo hello > greeting.txt; echo Done.\n"),
    )
    assert result.succeeded and result.status == "completed" and result.exit_code == 0
    assert result.answer == "Done.\n"
    assert result.files_modified == ["greeting.txt", "prompt"]
    assert result.verified == "test -s greeting.txt"
    assert result.failure is None
    assert [attempt.outcome for attempt in result.attempts] == ["completed"]
    assert result.startswith("Done.\n\nExecution summary:\n")
    assert "<status>completed</status>" in result
    assert Path("prompt").read_text().startswith("Write a greeting.")


def test_a_failure_is_a_report_and_its_parts(child: Child) -> None:
    result = regreen.delegate_task("Run the tests.", agent=child(MISSING))
    blocker = "ModuleNotFoundError: No module named 'pytest'"
    assert not result.succeeded
    assert result.failure == regreen.ChildFailure(
        category=regreen.FailureCategory.TOOL_ERROR,
        message=blocker,
        session_id=result.session_id,
        duration=result.duration,
        completed_steps=[],
        files_modified=[],
        blocked_on=blocker,
        suggested_retry=True,
        suggested_actions=[
            "Install missing dependencies",
            "Run: pip install pytest",
            "Verify installation: pytest --version",
        ],
        tool_usage={},
        last_successful_tool=None,
    )
    assert result.failure.category == "tool_error" and str(result.failure.category) == "tool_error"
    assert f"Blocked on: {blocker}" in result.splitlines()
    assert Path(result.attempts[0].log).read_text().strip() == blocker


def test_a_result_can_be_pickled(child: Child) -> None:
    result = regreen.delegate_task("Run the tests.", agent=child(MISSING))
    copy = pickle.loads(pickle.dumps(result))
    assert copy == result and copy.failure == result.failure


def test_a_prompt_may_be_long_and_look_like_an_option(child: Child) -> None:
    prompt = "--help\n" + "x" * 300_000
    result = regreen.delegate_task(prompt, agent=child("head -c 300007 > prompt\n"))
    assert result.succeeded
    assert Path("prompt").read_text() == prompt


def test_a_delegation_that_cannot_begin_raises_what_to_do() -> None:
    with pytest.raises(regreen.RegreenError, match="agent") as caught:
        regreen.delegate_task("Anything.", agent="shell")
    assert caught.value.exit_code == 78
    with pytest.raises(regreen.RegreenError) as caught:
        regreen.delegate_task("Anything.", timeout=-1, agent="command:true")
    assert caught.value.exit_code == 2


def test_another_folder_can_be_worked_in(child: Child, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    agent = child("touch here\n")
    assert regreen.delegate_task("Touch.", agent=agent, cwd=tmp_path / "other").succeeded
    assert (tmp_path / "other" / "here").exists()


def test_several_delegations_run_at_once(child: Child) -> None:
    # Each agent waits for the other one.
    agent = child("touch $$.here; until [ $(ls *.here | wc -l) = 2 ]; do sleep 0.05; done\n")

    async def both() -> list[regreen.DelegationResult]:
        tasks = (regreen.delegate_task_async("Wait.", 30, agent=agent) for _ in range(2))
        return await asyncio.gather(*tasks)

    results = asyncio.run(both())
    assert all(result.succeeded for result in results)
    assert len({result.session_id for result in results}) == 2


def test_a_cancelled_task_ends_the_agent_and_its_children(child: Child) -> None:
    agent = child(LINGERS)

    async def cancelled() -> None:
        task = asyncio.create_task(regreen.delegate_task_async("Wait.", agent=agent))
        while not Path("pid").exists():
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
    assert_gone(int(Path("pid").read_text()))


def test_an_interrupt_ends_the_agent_and_its_children(child: Child) -> None:
    agent = child(LINGERS)
    script = f"import regreen; regreen.delegate_task('Wait.', agent={agent!r})"
    # Only this process gets the signal, not its group as from a terminal.
    process = subprocess.Popen([sys.executable, "-c", script], stderr=subprocess.PIPE)
    with process:
        while not Path("pid").exists():
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=30)
    assert b"KeyboardInterrupt" in stderr
    assert_gone(int(Path("pid").read_text()))


def assert_gone(pid: int) -> None:
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
