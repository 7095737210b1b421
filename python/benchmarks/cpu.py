"""What a delegation costs: CPU time beside a plain call of the same agent through the shell.

Run it in an environment with the wheel: ``python python/benchmarks/cpu.py``.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import tempfile
from collections.abc import Callable

import regreen

ROUNDS = 60
AGENT = "echo hello"


def milliseconds(call: Callable[[], object]) -> float:
    """Return the CPU time of this process and its children."""
    before = cpu()
    call()
    return 1000 * (cpu() - before)


def cpu() -> float:
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def shell() -> object:
    return subprocess.run(AGENT, shell=True, stdout=subprocess.PIPE, check=True)


def program() -> object:
    """The program itself, without this package."""
    command = [
        regreen.find_program(),
        "delegate",
        "--json",
        "--prompt=x",
        f"--agent=command:{AGENT}",
    ]
    return subprocess.run(command, stdout=subprocess.PIPE, check=True)


def package() -> object:
    return regreen.delegate_task("x", agent=f"command:{AGENT}")


def main() -> None:
    calls = {"shell": shell, "regreen delegate": program, "delegate_task": package}
    times: dict[str, list[float]] = {name: [] for name in calls}
    with tempfile.TemporaryDirectory() as home:
        os.environ["HOME"] = home
        os.chdir(home)
        # Taking turns: other programs use this machine too.
        for turn in range(ROUNDS + 3):
            for name, call in calls.items():
                time = milliseconds(call)
                if turn >= 3:
                    times[name].append(time)
    for name, measured in times.items():
        print(f"{name:18} {statistics.median(measured):6.2f} ms, at best {min(measured):6.2f} ms")
    more = statistics.median(times["delegate_task"]) - statistics.median(times["shell"])
    print(f"a delegation costs {more:.2f} ms more than the shell")


if __name__ == "__main__":
    main()
