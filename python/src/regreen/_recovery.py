"""Delegations that respond to their failures."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ._delegation import DelegationResult, delegate_task, delegate_task_async
from ._program import StrPath
from ._report import extract_category, is_retryable


async def delegate_with_retry(
    prompt: str,
    max_retries: int = 3,
    base_timeout: float = 300.0,
    *,
    verify: str | None = None,
    agent: str | None = None,
    cwd: StrPath | None = None,
) -> DelegationResult:
    """Delegate, and try again after failures that trying again can help.

    regreen itself decides what comes between two attempts: after a timeout the time doubles, after
    a tool error it makes a safe repair or tells the agent what was wrong, and after part of the
    work it asks for the rest.

    :param max_retries: Maximum number of attempts, including the first.
    :param base_timeout: Seconds for the first attempt.
    """
    return await delegate_task_async(
        prompt, timeout=base_timeout, retries=max_retries, verify=verify, agent=agent, cwd=cwd
    )


def delegate_with_decomposition(
    prompt: str,
    timeout: float,
    *,
    decompose: Callable[[str], Sequence[str]] | None = None,
    report: Callable[[str], object] | None = print,
    verify: str | None = None,
    agent: str | None = None,
    cwd: StrPath | None = None,
) -> str:
    """Delegate, and split the task if it times out without any sign of progress.

    Without ``decompose``, regreen asks the agent to split the task, shares the time among the
    parts, and joins their answers under headings.

    :param decompose: Splits a prompt into those of its parts. Each part then gets an equal share of
        ``timeout``, and the result is the texts of all parts.
    :param report: Gets a line before each of these parts.
    """
    if decompose is None:
        return delegate_task(prompt, timeout, 2, verify, agent, cwd)
    result = delegate_task(prompt, timeout, verify=verify, agent=agent, cwd=cwd)
    if extract_category(result) != "timeout" or is_retryable(result):
        return result
    subtasks = decompose(prompt)
    if not subtasks:
        return result
    results = []
    for number, subtask in enumerate(subtasks, 1):
        if report is not None:
            report(f"Executing subtask {number}/{len(subtasks)}")
        share = timeout / len(subtasks)
        is_last = number == len(subtasks)
        check = verify if is_last else None
        results.append(delegate_task(subtask, share, verify=check, agent=agent, cwd=cwd))
    return "\n\n".join(results)
