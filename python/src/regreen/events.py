"""What happens in a run: one type for each event of ``regreen run --json``.

An event is a ``dict``; its key ``event`` says which one it is, and type checkers know the other
keys from that. docs/json-events.md describes every field. Newer versions of regreen may add events
and fields: ignore those that you don't know.
"""

from __future__ import annotations

from typing import Any, Literal, TypedDict, Union

Mark = Literal[
    "unverified",
    "expectation_not_checked",
    "verify_failed",
    "flaky",
    "known_failures",
    "nothing_changed",
    "claimed",
]


class TaskReference(TypedDict):
    """A task of the list."""

    id: str
    occurrence: int
    """0 for the first task with this id."""
    title: str


class PlanRow(TypedDict):
    task: TaskReference
    depth: int
    kind: Literal["task", "fix", "group"]
    done: bool
    optional: bool


class PlanChanges(TypedDict):
    """What happened to other tasks meanwhile."""

    claimed: list[TaskReference]
    skipped: list[TaskReference]
    put_back: list[TaskReference]
    added: list[TaskReference]
    edited: list[TaskReference]
    reverted: list[TaskReference]


class Budget(TypedDict):
    cost_micro_usd: int | None
    tokens: int | None
    time_ms: int | None


class Budgets(TypedDict):
    run: Budget
    task: Budget


class Diagnosis(TypedDict):
    """Why an attempt failed."""

    category: str
    kind: str
    message: str
    blocked_on: str | None
    line: int | None
    retryable: bool
    retry_mode: str
    completed_steps: list[str]
    files_modified: list[str]
    tool_usage: dict[str, int]
    last_successful_tool: str | None
    suggested_actions: list[str]
    repair: dict[str, Any] | None
    rule: str
    confidence: float
    fingerprint: str


class FlakyTest(TypedDict):
    test: str
    runs: int
    failed: int


class Advice(TypedDict):
    """What helped against earlier failures of this sort."""

    response: str
    helped: int
    tried: int
    workspaces: int
    here: bool
    notes: list[str]


class RegressedTask(TypedDict):
    task: TaskReference
    check: str
    error: str
    since: list[TaskReference]


class UnrepeatedCheck(TypedDict):
    task: TaskReference
    check: str
    why: Literal["red", "git_history", "no_time", "not_in_plan"]


class DoneOfTotal(TypedDict):
    done: int
    total: int


class DoneOfMade(TypedDict):
    done: int
    made: int


class AttemptCounts(TypedDict):
    made: int
    charged: int
    limit: int


class Waits(TypedDict):
    count: int
    ms: int


class Tokens(TypedDict):
    input: int
    output: int


class PlanFigures(TypedDict):
    added: list[TaskReference]
    edited: list[TaskReference]
    put_back: list[TaskReference]
    taken_back: list[TaskReference]
    reverted: list[TaskReference]


class Summary(TypedDict):
    """The result of a run."""

    run: str
    spec: str
    outcome: Literal[
        "all_green",
        "only_done",
        "skipped",
        "limit",
        "regressed",
        "needs_person",
        "try_later",
        "set_up",
        "stopped",
    ]
    exit_code: int
    message: str | None
    originals: DoneOfTotal
    fixes: DoneOfMade
    attempts: AttemptCounts
    waits: Waits
    time_ms: int
    cost_micro_usd: int | None
    tokens: Tokens
    unverified: list[TaskReference]
    verify_failed: list[TaskReference]
    flaky: list[TaskReference]
    known_failures: list[TaskReference]
    nothing_changed: list[TaskReference]
    claimed: list[TaskReference]
    skipped: list[TaskReference]
    failed: TaskReference | None
    waiting: list[TaskReference]
    regressed: list[TaskReference]
    not_repeated: list[UnrepeatedCheck]
    plan_changes: PlanFigures
    warnings: int


class _Event(TypedDict):
    v: int
    at: str
    """ISO 8601, UTC, with milliseconds."""
    run: str


class RunStarted(_Event):
    """A run starts."""

    event: Literal["run_started"]
    spec: str
    agent: str
    only: str | None
    gate: str | None
    include_optional: bool
    commits: bool
    attempts_per_task: int
    attempts_per_run: int
    attempt_timeout_ms: int
    verify_timeout_ms: int
    idle_timeout_ms: int | None
    max_wait_ms: int
    budgets: Budgets


class RunResumed(_Event):
    """A run resumes after a pause or a crash."""

    event: Literal["run_resumed"]


class PlanRead(_Event):
    """The whole plan: at first, and whenever it differs from what earlier events say."""

    event: Literal["plan"]
    rows: list[PlanRow]


class LimitSettled(_Event):
    """The limit of attempts for this run is settled."""

    event: Literal["limit_settled"]
    attempts_per_run: int


class TaskPicked(_Event):
    """regreen turns to a task."""

    event: Literal["task_picked"]
    task: TaskReference
    root: TaskReference
    index: int
    total: int
    group: bool
    verify: list[str]


class AttemptStarted(_Event):
    """The agent starts to work on a task."""

    event: Literal["attempt_started"]
    task: TaskReference
    attempt: int
    number: int
    limit: int
    prompt: Literal[
        "first", "retry", "reminder", "no_op", "interrupted", "new_session", "enriched", "split"
    ]
    timeout_ms: int


# `class` can't be the name of a field of a class.
_AttemptClass = TypedDict(
    "_AttemptClass",
    {"class": Literal["ordinary", "transient", "fatal", "session", "interrupted"]},
)


class AttemptEnded(_Event, _AttemptClass):
    """The agent has ended."""

    event: Literal["attempt_ended"]
    task: TaskReference
    attempt: int
    charged: bool
    why: str | None
    until: str | None
    error: str
    signalled: bool
    contradiction: str | None
    timed_out: bool
    exit_code: int | None
    signal: int | None
    duration_ms: int
    files_changed: int
    left_running: list[str]
    plan: PlanChanges


class SessionSeen(_Event):
    """The agent has named its session."""

    event: Literal["session_seen"]
    task: TaskReference
    attempt: int
    session: str


class PlanReviewed(_Event):
    """The plan was changed while a check, a commit hook or a repair ran."""

    event: Literal["plan_reviewed"]
    task: TaskReference | None
    plan: PlanChanges


class ServiceChanged(_Event):
    """Something happened to a service."""

    event: Literal["service_changed"]
    task: TaskReference
    command: str
    change: Literal["started", "restarted", "not_ready", "died", "ended"]
    why: str | None
    took_ms: int | None
    log: str


class ClaimsJudged(_Event):
    """regreen has verified the other tasks that the agent ticked."""

    event: Literal["claims_judged"]
    task: TaskReference
    kept: list[TaskReference]
    taken_back: list[TaskReference]


class VerifyStarted(_Event):
    """A check starts."""

    event: Literal["verify_started"]
    task: TaskReference
    attempt: int
    again: bool


class VerifyEnded(_Event):
    """A check has ended."""

    event: Literal["verify_ended"]
    task: TaskReference
    attempt: int
    verdict: Literal["green", "red", "unverified"]
    error: str | None


class TestsReviewed(_Event):
    """A check failed twice, and names the tests that failed."""

    event: Literal["tests_reviewed"]
    task: TaskReference
    attempt: int
    known: list[str]
    accepted: list[str]
    flaky: list[FlakyTest]
    new: list[str]
    turned_green: list[str]
    unexplained: str | None
    took_ms: int


class TaskFailed(_Event):
    """An attempt has failed."""

    event: Literal["task_failed"]
    task: TaskReference
    attempt: int
    error: str
    attempted_fix: str
    diagnosis: Diagnosis | None


class CommitRefused(_Event):
    """A commit hook refused the commit."""

    event: Literal["commit_refused"]
    task: TaskReference
    output: str


class Committed(_Event):
    """The work of a task is committed."""

    event: Literal["committed"]
    task: TaskReference
    hash: str | None


class TaskDone(_Event):
    """A task has passed."""

    event: Literal["task_done"]
    task: TaskReference
    marks: list[Mark]
    hash: str | None


class FixInserted(_Event):
    """regreen has added a fix task to the plan."""

    event: Literal["fix_inserted"]
    task: TaskReference
    fix: str


class Recalled(_Event):
    """regreen has looked the failure up in your history, and earlier runs had such failures."""

    event: Literal["recalled"]
    task: TaskReference
    failures: int
    workspaces: int
    similar: bool
    advice: list[Advice]
    useless: list[str]
    nothing_helped: bool


class RepairInspected(_Event):
    """regreen has inspected the workspace to see whether it can repair the cause of a failure."""

    event: Literal["repair_inspected"]
    task: TaskReference
    inspection: Literal["allowed", "ask", "refused", "nothing"]
    repair: dict[str, Any] | None
    does: str | None
    why: str | None


class RepairStarted(_Event):
    """regreen starts to carry out a fix itself."""

    event: Literal["repair_started"]
    task: TaskReference
    attempt: int
    repair: dict[str, Any]
    does: str


class RepairEnded(_Event):
    """A repair has ended."""

    event: Literal["repair_ended"]
    task: TaskReference
    done: bool
    did: str | None
    why: str | None


class PlanModified(_Event):
    """The agent asked for changes to the plan, and regreen made them."""

    event: Literal["plan_modified"]
    task: TaskReference
    added: list[TaskReference]


class ModificationRefused(_Event):
    """The agent asked for changes to the plan, and regreen refused."""

    event: Literal["modification_refused"]
    task: TaskReference
    why: str


class FixesSuperseded(_Event):
    """The task passed, so its open fixes have nothing left to do."""

    event: Literal["fixes_superseded"]
    task: TaskReference
    fixes: list[TaskReference]


class PersonAsked(_Event):
    """A person must decide about the task."""

    event: Literal["person_asked"]
    task: TaskReference
    why: str
    repair: dict[str, Any] | None


class PersonAnswered(_Event):
    """A person has answered."""

    event: Literal["person_answered"]
    task: TaskReference
    answer: Literal["repair", "edit", "context", "fix", "skip", "stop"]
    text: str | None


class TaskParked(_Event):
    """The task waits for a person while the others continue (``--keep-going``)."""

    event: Literal["task_parked"]
    task: TaskReference
    why: str


class Chosen(_Event):
    """A person decided while the run was paused, or by answering a question."""

    event: Literal["chosen"]
    task: TaskReference
    choice: Literal["skip", "done", "retry"]


class TaskGone(_Event):
    """Someone else removed or ticked the task before its attempt started or its fix was added."""

    event: Literal["task_gone"]
    task: TaskReference


class TaskSkipped(_Event):
    """A task is skipped."""

    event: Literal["task_skipped"]
    task: TaskReference


class FinalCheckStarted(_Event):
    """All tasks are done, and regreen repeats the checks that passed."""

    event: Literal["final_check_started"]
    checks: int


class FinalCheckEnded(_Event):
    """The final check has ended."""

    event: Literal["final_check_ended"]
    passed: list[TaskReference]
    flaky: list[TaskReference]
    known_failures: list[TaskReference]
    regressed: list[RegressedTask]
    not_repeated: list[UnrepeatedCheck]
    took_ms: int


class TaskReopened(_Event):
    """A task no longer passes, so regreen has unticked it."""

    event: Literal["task_reopened"]
    task: TaskReference


class WaitStarted(_Event):
    """regreen waits."""

    event: Literal["wait_started"]
    task: TaskReference
    since: str
    until: str
    why: str
    repeats: bool


class WaitEnded(_Event):
    """regreen has waited."""

    event: Literal["wait_ended"]
    task: TaskReference
    waited_ms: int


class ClosingCommitted(_Event):
    """Everything is done, and regreen has committed what was left of the spec's own files."""

    event: Literal["closing_committed"]
    hash: str | None


class Warned(_Event):
    """regreen warns."""

    event: Literal["warned"]
    message: str


class StopAsked(_Event):
    """Someone has asked the run to stop."""

    event: Literal["stop_asked"]
    signal: Literal["interrupt", "terminate", "after_task"]


class RunEnded(_Event):
    """The last event, unless regreen is killed."""

    event: Literal["run_ended"]
    summary: Summary


Event = Union[
    RunStarted,
    RunResumed,
    PlanRead,
    LimitSettled,
    TaskPicked,
    AttemptStarted,
    AttemptEnded,
    SessionSeen,
    PlanReviewed,
    ServiceChanged,
    ClaimsJudged,
    VerifyStarted,
    VerifyEnded,
    TestsReviewed,
    TaskFailed,
    CommitRefused,
    Committed,
    TaskDone,
    FixInserted,
    Recalled,
    RepairInspected,
    RepairStarted,
    RepairEnded,
    PlanModified,
    ModificationRefused,
    FixesSuperseded,
    PersonAsked,
    PersonAnswered,
    TaskParked,
    Chosen,
    TaskGone,
    TaskSkipped,
    FinalCheckStarted,
    FinalCheckEnded,
    TaskReopened,
    WaitStarted,
    WaitEnded,
    ClosingCommitted,
    Warned,
    StopAsked,
    RunEnded,
]
"""Anything that happens in a run."""
