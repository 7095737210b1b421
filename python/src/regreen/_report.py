"""Reads the text of a failure report.

These functions take any ``str``: a :class:`~regreen.DelegationResult`, or a report that was stored
somewhere. What comes before the report, such as the answers of finished parts, doesn't count.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_START = "Child agent failed:"
_METADATA = "<task_metadata>"


def extract_category(result: str) -> str | None:
    """Return the category of the failure, such as ``timeout``; ``None`` if it didn't fail."""
    found = re.search(r"<failure_category>(.+?)</failure_category>", _metadata(result))
    return found.group(1) if found else None


def is_retryable(result: str) -> bool:
    """Return whether trying again can help without a person."""
    return "<retryable>true</retryable>" in _metadata(result)


def extract_completed_steps(result: str) -> list[str]:
    """Return what the agent had done before it failed."""
    return list(_items(result, "Work completed before failure:", "✓ "))


def extract_files_modified(result: str) -> list[str]:
    """Return the files that the agent changed before it failed."""
    files = _value(result, "Files modified: ")
    if files is None or files == "none":
        return []
    return [file.strip() for file in files.split(",")]


def extract_blocker(result: str) -> str | None:
    """Return the line that shows what blocked the agent, if there is one."""
    return _value(result, "Blocked on: ")


def extract_suggested_actions(result: str) -> list[str]:
    """Return what may help."""
    return list(_items(result, "Suggested recovery actions:", "• "))


def _metadata(result: str) -> str:
    """Return the last block of metadata: an answer may quote others."""
    return result[max(0, result.rfind(_METADATA)) :]


def _lines(result: str) -> list[str]:
    """Return the lines of the report, which is the last part of a text."""
    lines = result.split("\n")
    starts = [number for number, line in enumerate(lines) if line.startswith(_START)]
    return lines[starts[-1] :] if starts else []


def _value(result: str, label: str) -> str | None:
    values = (line[len(label) :] for line in _lines(result) if line.startswith(label))
    return next(values, None)


def _items(result: str, heading: str, mark: str) -> Iterator[str]:
    lines = iter(_lines(result))
    for line in lines:
        if line.startswith(heading):
            break
    for line in lines:
        if line.strip().startswith(mark):
            yield line.strip()[len(mark) :]
        elif line and not line.startswith(" "):
            return
