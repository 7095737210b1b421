"""What failed lately: the log that ``regreen failures`` shows."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from ._failure import FailureCategory
from ._program import StrPath, call

Report = Callable[[str], object]


@dataclass(frozen=True)
class FailedAttempt:
    """A failed attempt of a run or a delegation."""

    time: str
    """ISO 8601, UTC."""
    where: Literal["run", "delegation"]
    attempt: int
    category: FailureCategory | None
    kind: str | None
    message: str
    blocked_on: str | None
    files_modified: list[str]
    tried: str | None
    """What was done about it."""
    helped: bool | None
    delegation: str | None
    prompt: str | None
    timeout_ms: int | None
    log: str | None
    run: str | None
    task: str | None
    title: str | None

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> FailedAttempt:
        known = {name: fields.get(name) for name in cls.__dataclass_fields__}
        category = fields.get("category")
        known["category"] = FailureCategory(category) if category else None
        return cls(**known)  # type: ignore[arg-type]


@dataclass(frozen=True)
class FailureRates:
    """How many delegations failed, by category."""

    total: int
    by_category: dict[str, int]


@dataclass(frozen=True)
class FailurePattern:
    """The failed attempts that the same line blocked."""

    blocker: str | None
    occurrences: list[FailedAttempt]


def load_failures(since: str | None = None, *, cwd: StrPath | None = None) -> list[FailedAttempt]:
    """Return the failed attempts of the workspace, the newest last.

    :param since: ``24h``, ``30m`` or a date in UTC; otherwise all.
    """
    period = [f"--since={since}"] if since else []
    output = call(["failures", "--json", *period], cwd=cwd).require_output()
    return [FailedAttempt.from_json(fields) for fields in json.loads(output)]


def monitor_delegation_failures(
    since: str = "24h",
    *,
    threshold: int | None = None,
    alert: Report | None = None,
    report: Report | None = print,
    cwd: StrPath | None = None,
) -> FailureRates:
    """Count the failed attempts of delegations by category, and report each category's share.

    :param threshold: Calls ``alert`` with a message if there were more than this.
    :param alert: What to call then; ``report`` if missing.
    :param report: Gets a line for each category; ``None`` reports nothing.
    """
    failures = [
        failure for failure in load_failures(since, cwd=cwd) if failure.where == "delegation"
    ]
    counts = Counter(str(failure.category or "unknown") for failure in failures)
    total = len(failures)
    alert = alert or report
    if threshold is not None and total > threshold and alert is not None:
        alert(f"High delegation failure rate: {total} failures since {since}")
    if report is not None:
        for category, count in counts.most_common():
            report(f"{category}: {count} ({count / total:.1%})")
    return FailureRates(total, dict(counts.most_common()))


def analyze_failure_patterns(
    since: str | None = None,
    *,
    limit: int = 10,
    report: Report | None = print,
    cwd: StrPath | None = None,
) -> list[FailurePattern]:
    """Group failed attempts by what blocked them, the most frequent first.

    :param limit: Maximum number of groups.
    :param report: Gets a line for each group; ``None`` reports nothing.
    """
    groups: dict[str | None, list[FailedAttempt]] = {}
    for failure in load_failures(since, cwd=cwd):
        groups.setdefault(failure.blocked_on, []).append(failure)
    patterns = [FailurePattern(blocker, failures) for blocker, failures in groups.items()]
    patterns.sort(key=lambda pattern: len(pattern.occurrences), reverse=True)
    if report is not None:
        for pattern in patterns[:limit]:
            report(f"{pattern.blocker}: {len(pattern.occurrences)} occurrences")
    return patterns[:limit]
