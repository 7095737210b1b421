"""What a user of the package may write. mypy checks it, and nothing runs it."""

from __future__ import annotations

from typing import Optional

import regreen
from regreen import ChildFailure, DelegationResult, FailureCategory


def report_of(result: DelegationResult) -> str:
    return result


def handled(result: DelegationResult) -> Optional[str]:
    failure: Optional[ChildFailure] = result.failure
    if failure is not None and failure.category is FailureCategory.TIMEOUT:
        return failure.blocked_on
    return regreen.extract_category(result)


async def tried_again(prompt: str) -> str:
    return await regreen.delegate_with_retry(prompt, max_retries=3, base_timeout=300.0)


def finished_tasks(spec: str) -> list[str]:
    titles: list[str] = []
    with regreen.run(spec, recovery_mode=True) as run:
        for event in run:
            if event["event"] == "task_done":
                titles.append(event["task"]["title"])
            elif event["event"] == "task_failed" and event["diagnosis"] is not None:
                titles.append(event["diagnosis"]["kind"])
    return titles


def place_of(output: str) -> Optional[str]:
    found = regreen.explain(output, exit_code=1)
    return found.place.file if found and found.place else None
