"""Runs of task lists, as events."""

from __future__ import annotations

import os
import re
import time
import typing
from pathlib import Path

import pytest

import regreen
from regreen import events

TASKS = """\
- [ ] 1.1 Greet
  - **Do**:
    ```sh
    echo hello > greeting.txt
    ```
  - **Verify**: `grep -q hello greeting.txt`
- [ ] 1.2 Ask
  - **Do**:
    ```sh
    {second}
    ```
  - **Verify**: `test -s question.txt`
"""
EVENTS_PAGE = Path(__file__).parents[2] / "docs" / "json-events.md"


def write_tasks(second: str) -> None:
    Path("tasks.md").write_text(TASKS.format(second=second))


def test_the_events_of_a_run_arrive_in_order_and_end_with_its_summary() -> None:
    write_tasks("echo '?' > question.txt")
    with regreen.run("tasks.md", agent="shell") as run:
        done = [event["task"]["id"] for event in run if event["event"] == "task_done"]
    assert done == ["1.1", "1.2"]
    assert run.exit_code == 0
    assert run.summary and run.summary["outcome"] == "all_green"
    assert next(run, None) is None


def test_a_run_that_fails_ends_with_its_summary_as_well() -> None:
    write_tasks("false")
    run = regreen.run("tasks.md", agent="shell", options=["--max-task-iterations=1"])
    errors = [event["error"] for event in run if event["event"] == "task_failed"]
    assert errors and run.exit_code == 1
    assert run.summary and run.summary["outcome"] == "limit"


def test_a_run_that_cannot_begin_raises_what_to_do() -> None:
    with pytest.raises(regreen.RegreenError, match="nowhere") as caught:
        list(regreen.run("nowhere", agent="shell"))
    assert caught.value.exit_code == 2


def test_leaving_the_loop_stops_the_run_and_another_one_resumes_it() -> None:
    write_tasks("echo '?' > question.txt; sleep 300 & echo $! > pid; test -e go || sleep 300")
    with regreen.run("tasks.md", agent="shell") as run:
        for event in run:
            if event["event"] == "attempt_started" and event["task"]["id"] == "1.2":
                break
        while not Path("pid").exists():
            time.sleep(0.01)
    assert run.exit_code == 143
    with pytest.raises(ProcessLookupError):
        os.kill(int(Path("pid").read_text()), 0)
    Path("go").touch()
    again = regreen.run("tasks.md", agent="shell")
    done = [event["task"]["id"] for event in again if event["event"] == "task_done"]
    assert done == ["1.2"]
    assert again.exit_code == 0


@pytest.mark.skipif(not EVENTS_PAGE.exists(), reason="only in regreen's repository")
def test_every_documented_event_and_field_has_a_type() -> None:
    sections = re.split(r"^### `(\w+)`\n", EVENTS_PAGE.read_text(), flags=re.MULTILINE)[1:]
    documented = {
        name: {field.partition(".")[0].removesuffix("[]") for field in fields_of(section)}
        for name, section in zip(sections[::2], sections[1::2], strict=True)
    }
    base = {"v", "at", "run", "event"}
    typed = {}
    for event in typing.get_args(events.Event):
        hints = typing.get_type_hints(event)
        (name,) = typing.get_args(hints["event"])
        typed[name] = set(hints) - base
    assert typed == documented


@pytest.mark.skipif(not EVENTS_PAGE.exists(), reason="only in regreen's repository")
def test_every_documented_field_of_the_summary_has_a_type() -> None:
    section = EVENTS_PAGE.read_text().partition("### `run_ended`")[2]
    parts = [field.split(".") for field in fields_of(section) if field.startswith("summary.")]
    assert {part[1].removesuffix("[]") for part in parts} == set(events.Summary.__annotations__)


def fields_of(section: str) -> list[str]:
    return re.findall(r"^\| `([^`|]+)` \|", section, flags=re.MULTILINE)
