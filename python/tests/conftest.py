"""A workspace, and scripts that play an agent in it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

Child = Callable[[str], str]


@pytest.fixture(autouse=True)
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Start every test in a workspace of its own, as a user without any configuration."""
    for name in ("HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"):
        folder = tmp_path / name.lower()
        folder.mkdir()
        monkeypatch.setenv(name, str(folder))
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    return work


@pytest.fixture
def child(workspace: Path) -> Child:
    """Return a function that makes a shell script an agent, which gets the prompt as its input."""

    def agent(script: str) -> str:
        (workspace.parent / "child.sh").write_text(script)
        return "command:sh ../child.sh"

    return agent
