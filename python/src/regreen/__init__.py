"""Give a coding agent one task, or a list of them, and learn why it failed.

This package runs the program ``regreen``, which the same wheel installs::

    import regreen

    result = regreen.delegate_task("Add a test for the empty file", verify="pytest -q")
    if result.failure:
        print(result.failure.category, result.failure.blocked_on)

A result is also a ``str``: the text that ``regreen delegate`` prints.
"""

from __future__ import annotations

from ._delegation import Attempt, DelegationResult, delegate_task, delegate_task_async
from ._explanation import Excerpt, Explanation, SourcePlace, explain
from ._failure import ChildFailure, FailureCategory
from ._failure_log import (
    FailedAttempt,
    FailurePattern,
    FailureRates,
    analyze_failure_patterns,
    load_failures,
    monitor_delegation_failures,
)
from ._program import ProgramNotFound, RegreenError, find_program
from ._recovery import delegate_with_decomposition, delegate_with_retry
from ._report import (
    extract_blocker,
    extract_category,
    extract_completed_steps,
    extract_files_modified,
    extract_suggested_actions,
    is_retryable,
)
from ._run import Run, run
from .events import Event

__all__ = [
    "Attempt",
    "ChildFailure",
    "DelegationResult",
    "Event",
    "Excerpt",
    "Explanation",
    "FailedAttempt",
    "FailureCategory",
    "FailurePattern",
    "FailureRates",
    "ProgramNotFound",
    "RegreenError",
    "Run",
    "SourcePlace",
    "analyze_failure_patterns",
    "delegate_task",
    "delegate_task_async",
    "delegate_with_decomposition",
    "delegate_with_retry",
    "explain",
    "extract_blocker",
    "extract_category",
    "extract_completed_steps",
    "extract_files_modified",
    "extract_suggested_actions",
    "find_program",
    "is_retryable",
    "load_failures",
    "monitor_delegation_failures",
    "run",
]
