"""A run of a task list, as its events."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from types import TracebackType
from typing import IO

from ._program import RegreenError, StrPath, complaint, end, find_program
from .events import Event, Summary


class Run(Iterator[Event]):
    """A run of a task list: an iterator over what happens in it.

    Leaving it early (:meth:`close`, the end of a ``with`` block, an exception, dropping it) stops
    the run and everything that it has started. Another :func:`run` resumes it.
    """

    def __init__(self, arguments: Sequence[str], cwd: StrPath | None) -> None:
        self.summary: Summary | None = None
        """The result, once the run has ended."""
        self.exit_code: int | None = None
        """regreen's exit code, once it has ended."""
        self._complaints: IO[bytes] = tempfile.TemporaryFile()
        self._process = subprocess.Popen(
            [find_program(), *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=self._complaints,
            cwd=cwd,
        )

    def __next__(self) -> Event:
        if self.exit_code is not None:
            raise StopIteration
        output = self._process.stdout
        assert output is not None
        try:
            line = output.readline()
        except BaseException:
            self.close()
            raise
        if not line:
            self._finish()
            raise StopIteration
        event: Event = json.loads(line)
        if event["event"] == "run_ended":
            self.summary = event["summary"]
        return event

    def _finish(self) -> None:
        """Raise what regreen complained about, if it ended without a result."""
        exit_code = self._process.wait()
        self._complaints.seek(0)
        text = self._complaints.read().decode("utf-8", "replace")
        self.close()
        if self.summary is None and exit_code != 0:
            raise complaint(exit_code, text)

    def close(self) -> None:
        """Stop the run, unless it has ended."""
        if self.exit_code is not None:
            return
        end(self._process)
        self.exit_code = self._process.returncode
        if self._process.stdout is not None:
            self._process.stdout.close()
        self._complaints.close()

    def __enter__(self) -> Run:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def __del__(self) -> None:
        # The program may not even have been found.
        if getattr(self, "_process", None) is not None:
            self.close()


def run(
    spec: StrPath | None = None,
    *,
    agent: str | None = None,
    recovery_mode: bool = False,
    options: Sequence[str] = (),
    cwd: StrPath | None = None,
) -> Run:
    """Run a task list, and return an iterator over its events::

        with regreen.run("login", recovery_mode=True) as events:
            for event in events:
                if event["event"] == "task_done":
                    print(event["task"]["title"])
        print(events.exit_code)

    If the program ends without a result, the iterator raises :class:`RegreenError`.

    :param spec: Name, folder or file of the list; otherwise the current one.
    :param agent: As for :func:`delegate_task`.
    :param recovery_mode: Whether failed tasks get fix tasks and repairs.
    :param options: Further flags of ``regreen run``: ``["--strict", "--timeout=45m"]``.
    :param cwd: Folder of the workspace.
    """
    arguments = ["run", "--json"]
    if agent is not None:
        arguments.append(f"--agent={agent}")
    if recovery_mode:
        arguments.append("--recovery-mode")
    arguments += options
    if spec is not None:
        arguments += ["--", str(spec)]
    return Run(arguments, cwd)


__all__ = ["RegreenError", "Run", "run"]
