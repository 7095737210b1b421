"""Finds the regreen program, and calls it."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, Union

StrPath = Union[str, "os.PathLike[str]"]

# regreen itself gives what it runs several seconds to end.
GRACE_SECONDS = 30.0


class RegreenError(Exception):
    """regreen could not do what it was asked to; the text says why, and what to do."""

    def __init__(self, message: str, exit_code: int | None = None) -> None:
        super().__init__(message)
        self.exit_code = exit_code
        """The exit code of regreen, if it was started."""


class ProgramNotFound(RegreenError):
    """regreen was not found."""


class Completed(NamedTuple):
    exit_code: int
    stdout: str
    stderr: str

    def require_output(self) -> str:
        """Return what regreen printed, or raise what it complained about."""
        if not self.stdout.strip():
            raise complaint(self.exit_code, self.stderr)
        return self.stdout


def complaint(exit_code: int, stderr: str) -> RegreenError:
    return RegreenError(stderr.strip() or f"regreen ended with exit code {exit_code}", exit_code)


def find_program() -> str:
    """Return the path of the regreen to call.

    This is the one that the same wheel installed, or else the one that ``$REGREEN`` names, or else
    the one in ``PATH``.

    :raises ProgramNotFound: if there is none.
    """
    for candidate in _installed_with(Path(__file__).parent):
        if os.access(candidate, os.X_OK):
            return str(candidate)
    named = os.environ.get("REGREEN")
    found = shutil.which(named or "regreen")
    if found is None:
        where = (
            f"$REGREEN names {named}, which is not a program" if named else "regreen is not in PATH"
        )
        raise ProgramNotFound(f"{where}; install a wheel of regreen that has the program")
    return found


def _installed_with(package: Path) -> list[Path]:
    """Return where pip puts the scripts of a package.

    ``PREFIX/lib/pythonX/site-packages/regreen`` has them in ``PREFIX/bin``. With ``--target``,
    ``FOLDER/regreen`` has them in ``FOLDER/bin``.
    """
    if package.parent.name in {"site-packages", "dist-packages"}:
        return [package.parents[3] / "bin" / "regreen"]
    return [package.parent / "bin" / "regreen"]


def call(arguments: Sequence[str], *, text: str = "", cwd: StrPath | None = None) -> Completed:
    """Run regreen to its end, with a text as its input.

    If this is interrupted, it ends regreen and everything that regreen has started.
    """
    process = subprocess.Popen(
        [find_program(), *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=cwd,
    )
    with process:
        try:
            stdout, stderr = process.communicate(text.encode())
        except BaseException:
            end(process)
            raise
    return Completed(process.returncode, _decoded(stdout), _decoded(stderr))


def end(process: subprocess.Popen[bytes]) -> None:
    """End regreen. A keeper ends what it has started, even if regreen has to be killed."""
    if process.poll() is not None:
        return
    process.terminate()
    try:
        process.wait(GRACE_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    except BaseException:
        process.kill()
        raise


async def call_async(
    arguments: Sequence[str], *, text: str = "", cwd: StrPath | None = None
) -> Completed:
    """Like :func:`call`, in an event loop. A cancelled task ends regreen as well."""
    # It takes longer to import than everything else here.
    import asyncio

    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        find_program(), *arguments, stdin=pipe, stdout=pipe, stderr=pipe, cwd=cwd
    )
    try:
        stdout, stderr = await process.communicate(text.encode())
    except BaseException:
        await _end_async(process)
        raise
    return Completed(process.returncode or 0, _decoded(stdout), _decoded(stderr))


async def _end_async(process: asyncio.subprocess.Process) -> None:
    import asyncio

    if process.returncode is not None:
        return
    process.terminate()
    try:
        await asyncio.wait_for(process.wait(), GRACE_SECONDS)
    except asyncio.TimeoutError:
        process.kill()
        await process.wait()
    except BaseException:
        process.kill()
        raise


def _decoded(output: bytes) -> str:
    return output.decode("utf-8", "replace")


# Only for the type checker: see call_async.
TYPE_CHECKING = False
if TYPE_CHECKING:
    import asyncio
