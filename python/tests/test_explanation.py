"""Explanations of output."""

from __future__ import annotations

from pathlib import Path

import pytest

import regreen

OUTPUT = """\
collected 3 items

py/test_a.py:6: AssertionError
FAILED py/test_a.py::test_sum - assert 3 == 4
"""


def test_output_is_explained_with_all_that_regreen_knows() -> None:
    found = regreen.explain(OUTPUT, exit_code=1)
    assert found is not None
    assert found.category is regreen.FailureCategory.TOOL_ERROR
    assert (found.kind, found.retry_mode, found.line) == ("test_failure", "after_fix", 4)
    assert found.place == regreen.SourcePlace("py/test_a.py", 6, None)
    assert found.excerpt is not None and found.excerpt.lines == OUTPUT.splitlines()[2:]
    assert 0 < found.confidence <= 1


def test_a_log_is_explained_by_its_path() -> None:
    Path("-out.log").write_text(OUTPUT)
    found = regreen.explain(Path("-out.log"), exit_code=1)
    assert found is not None and found.kind == "test_failure"
    with pytest.raises(regreen.RegreenError, match="nowhere"):
        regreen.explain(Path("nowhere.log"))


def test_what_did_not_fail_has_no_explanation() -> None:
    assert regreen.explain("fine\n", exit_code=0) is None


def test_what_is_known_about_the_end_counts() -> None:
    found = regreen.explain("", timed_out=True)
    assert found is not None and found.category == "timeout"
    killed = regreen.explain("", signal="KILL", command="make")
    assert killed is not None and killed.confidence < 1


def test_an_agents_message_is_read_as_one() -> None:
    found = regreen.explain("Cannot find 'the auth file' mentioned in prompt", source="agent")
    assert found is not None and found.category == "missing_context"
