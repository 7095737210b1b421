"""Why a command or an agent failed, from its output."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from ._failure import FailureCategory
from ._program import StrPath, call


@dataclass(frozen=True)
class SourcePlace:
    """A place in the source, as the output names it."""

    file: str
    line: int
    column: int | None


@dataclass(frozen=True)
class Excerpt:
    """The lines of the output that belong to the cause."""

    first_line: int
    last_line: int
    lines: list[str]


@dataclass(frozen=True)
class Explanation:
    """Why something failed."""

    category: FailureCategory
    kind: str
    """The root cause, such as ``missing_python_module``."""
    message: str
    blocked_on: str | None
    """The line that shows the cause."""
    line: int | None
    """The number of that line, starting at 1."""
    retryable: bool
    retry_mode: Literal["as_is", "after_repair", "after_fix", "after_human", "never"]
    completed_steps: list[str]
    files_modified: list[str]
    suggested_actions: list[str]
    repair: dict[str, Any] | None
    """A candidate for a repair, which hasn't been checked."""
    rule: str
    confidence: float
    """How sure the diagnosis is, from 0 to 1."""
    fingerprint: str
    """Equal for equal causes."""
    place: SourcePlace | None
    step: str | None
    command: str | None
    others: int
    """How many other lines of the same sort there are; 30 means 30 or more."""
    excerpt: Excerpt | None
    named_by: str | None
    """The rule of your own that named the cause."""

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> Explanation:
        """Read the object that ``regreen explain --json`` prints for a failure."""
        known = {name: fields[name] for name in cls.__dataclass_fields__}
        known["category"] = FailureCategory(known["category"])
        if known["place"] is not None:
            known["place"] = SourcePlace(**known["place"])
        if known["excerpt"] is not None:
            known["excerpt"] = Excerpt(**known["excerpt"])
        return cls(**known)


def explain(
    output: str | os.PathLike[str],
    *,
    exit_code: int | None = None,
    signal: int | str | None = None,
    timed_out: bool = False,
    command: str | None = None,
    source: Literal["command", "agent"] = "command",
    cwd: StrPath | None = None,
) -> Explanation | None:
    """Return why a command or an agent failed; ``None`` if its output shows no failure.

    :param output: The output itself, or the path of a log.
    :param exit_code: How the command ended, if you know.
    :param signal: The signal that killed it, by number or name.
    :param timed_out: Whether it hit a time limit.
    :param command: The command that printed the output.
    :param source: Whether a command printed it, or it is an agent's final message.
    :param cwd: Folder of the workspace, which may have rules of its own.
    :raises RegreenError: if the log can't be read.
    """
    arguments = ["explain", "--json", f"--source={source}"]
    if exit_code is not None:
        arguments.append(f"--exit-code={exit_code}")
    if signal is not None:
        arguments.append(f"--signal={signal}")
    if timed_out:
        arguments.append("--timed-out")
    if command is not None:
        arguments.append(f"--command={command}")
    text = ""
    if isinstance(output, str):
        text = output
        arguments += ["--", "-"]
    else:
        arguments += ["--", os.path.abspath(output)]
    fields = json.loads(call(arguments, text=text, cwd=cwd).require_output())
    return None if fields["category"] is None else Explanation.from_json(fields)
