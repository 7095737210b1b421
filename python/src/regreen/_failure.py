"""Why a child agent failed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any


class FailureCategory(str, Enum):
    """The kind of a failure, from the requester's point of view. Equal to its value."""

    TIMEOUT = "timeout"
    MISSING_CONTEXT = "missing_context"
    TOOL_ERROR = "tool_error"
    INVALID_TASK = "invalid_task"
    PARTIAL_SUCCESS = "partial"

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True)
class ChildFailure:
    """Why a child agent failed, what it had done before, and what may help."""

    category: FailureCategory
    message: str
    """The failure in one sentence."""
    session_id: str
    duration: float
    """Seconds, over all attempts."""
    completed_steps: list[str]
    files_modified: list[str]
    blocked_on: str | None
    """The one line that a person would quote."""
    suggested_retry: bool
    """Whether trying again can help without a person."""
    suggested_actions: list[str]
    tool_usage: dict[str, int]
    """How often the agent used each tool, as far as it reports that."""
    last_successful_tool: str | None

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> ChildFailure:
        """Read the object ``failure`` of ``regreen delegate --json``."""
        return cls(
            category=FailureCategory(fields["category"]),
            message=fields["message"],
            session_id=fields["session_id"],
            duration=fields["duration"],
            completed_steps=list(fields["completed_steps"]),
            files_modified=list(fields["files_modified"]),
            blocked_on=fields["blocked_on"],
            suggested_retry=fields["suggested_retry"],
            suggested_actions=list(fields["suggested_actions"]),
            tool_usage=dict(fields["tool_usage"]),
            last_successful_tool=fields["last_successful_tool"],
        )
