"""One prompt for one agent."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from ._failure import ChildFailure
from ._program import StrPath, call, call_async

Status = Literal["completed", "failed", "stopped"]


@dataclass(frozen=True)
class Attempt:
    """One run of the agent."""

    number: int
    """Starts at 1."""
    time: str
    """When it began: ISO 8601, UTC."""
    prompt_kind: str
    timeout_ms: int
    duration_ms: int
    outcome: str
    category: str | None
    kind: str | None
    """The kind of its failure, such as ``missing_python_module``."""
    blocked_on: str | None
    files: list[str]
    tried: str | None
    """What was done about its failure before the next attempt."""
    helped: bool | None
    log: str
    """The file with its whole output, relative to the workspace."""

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> Attempt:
        return cls(**{name: fields[name] for name in cls.__dataclass_fields__})


class DelegationResult(str):
    """The end of a delegation: the text that ``regreen delegate`` prints, and its parts.

    After a success the text is the answer with a summary, otherwise the failure report; both end
    in ``<task_metadata>``. It is empty if the delegation was stopped.
    """

    status: Status
    session_id: str
    """The name of the delegation; its logs are in ``.regreen/delegations/SESSION_ID``."""
    exit_code: int
    """0: success, 1: failure, 3: a person must decide, 75: try later, 78: fix the setup."""
    why: str | None
    """What a person must decide, or why the agent can't work now."""
    answer: str | None
    """The agent's last message, after a success."""
    failure: ChildFailure | None
    attempts: list[Attempt]
    duration: float
    """Seconds."""
    files_modified: list[str]
    verified: str | None
    """The command that checked the result, after a success."""
    flaky: bool
    """Whether that command failed at first."""

    def __new__(cls, report: Mapping[str, Any]) -> DelegationResult:
        """Read the object that ``regreen delegate --json`` prints."""
        self = super().__new__(cls, report["text"])
        completion = report["completion"] or {}
        failure = report["failure"]
        end = completion or failure or {}
        self._report = report
        self.status = report["status"]
        self.session_id = report["session_id"]
        self.exit_code = report["exit_code"]
        self.why = report["why"]
        self.answer = completion.get("answer")
        self.failure = ChildFailure.from_json(failure) if failure else None
        self.attempts = [Attempt.from_json(attempt) for attempt in report["attempts"]]
        self.duration = end.get("duration", 0.0)
        self.files_modified = list(end.get("files_modified", []))
        self.verified = completion.get("verified")
        self.flaky = completion.get("flaky", False)
        return self

    _report: Mapping[str, Any]

    def __getnewargs__(self) -> tuple[Mapping[str, Any]]:  # type: ignore[override]
        return (self._report,)

    @property
    def succeeded(self) -> bool:
        """Whether the agent finished, and the check passed, if there is one."""
        return self.status == "completed"


def delegate_task(
    prompt: str,
    timeout: float = 300,
    retries: int = 1,
    verify: str | None = None,
    agent: str | None = None,
    cwd: StrPath | None = None,
) -> DelegationResult:
    """Give an agent one prompt, and return its answer or why it failed.

    A failure of the agent is a result, not an exception. If this is interrupted (``Ctrl-C``), the
    agent and everything that it has started end first.

    :param prompt: All that the agent gets to know, apart from its tools and the workspace.
    :param timeout: Seconds for the first attempt; doubled after a timeout with signs of progress.
    :param retries: Maximum number of attempts, including the first. Each responds to the failure
        before it: more time, a repair, another prompt, parts.
    :param verify: Command that must exit with 0 when the agent is done.
    :param agent: ``claude``, ``codex``, ``gemini``, ``opencode``, ``command:PROGRAM ARGS`` or
        ``acp:PROGRAM ARGS``; otherwise the one that your configuration names, or an installed one.
    :param cwd: Folder to work in.
    :raises RegreenError: if the delegation could not begin.
    """
    arguments = _arguments(timeout, retries, verify, agent)
    return _result(call(arguments, text=prompt, cwd=cwd).require_output())


async def delegate_task_async(
    prompt: str,
    timeout: float = 300,
    retries: int = 1,
    verify: str | None = None,
    agent: str | None = None,
    cwd: StrPath | None = None,
) -> DelegationResult:
    """Like :func:`delegate_task`, without blocking the event loop.

    If the task is cancelled, the agent and everything that it has started end first.
    """
    arguments = _arguments(timeout, retries, verify, agent)
    completed = await call_async(arguments, text=prompt, cwd=cwd)
    return _result(completed.require_output())


def _arguments(timeout: float, retries: int, verify: str | None, agent: str | None) -> list[str]:
    seconds = f"{timeout:.3f}".rstrip("0").rstrip(".")
    # On standard input, a prompt has no maximum length, and `ps` doesn't show it.
    arguments = ["delegate", "--json", "--prompt-file=-", f"--timeout={seconds}s"]
    arguments.append(f"--retries={retries}")
    if verify is not None:
        arguments.append(f"--verify={verify}")
    if agent is not None:
        arguments.append(f"--agent={agent}")
    return arguments


def _result(output: str) -> DelegationResult:
    return DelegationResult(json.loads(output))
