"""Which regreen the package calls, and what is in its wheel."""

from __future__ import annotations

import importlib.metadata
import subprocess
import sys
from pathlib import Path

import pytest

import regreen
from regreen import _program


def test_the_program_is_the_one_that_the_wheel_installed() -> None:
    program = Path(regreen.find_program())
    assert program == Path(sys.prefix, "bin", "regreen")
    version = subprocess.run([program, "--version"], stdout=subprocess.PIPE, check=True).stdout
    assert version.decode().split()[1] == importlib.metadata.version("regreen")


def test_the_package_can_be_called_as_the_program() -> None:
    command = [sys.executable, "-m", "regreen", "--version"]
    output = subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout
    assert output.startswith(b"regreen ")


def test_without_the_wheels_program_the_environment_names_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "lib" / "python3" / "site-packages" / "regreen"
    monkeypatch.setattr(_program, "__file__", str(package / "_program.py"))
    monkeypatch.setenv("PATH", str(tmp_path / "path"))
    monkeypatch.delenv("REGREEN", raising=False)
    with pytest.raises(regreen.ProgramNotFound, match="not in PATH"):
        regreen.find_program()

    in_path = program(tmp_path / "path" / "regreen")
    assert regreen.find_program() == in_path
    named = program(tmp_path / "named")
    monkeypatch.setenv("REGREEN", named)
    assert regreen.find_program() == named
    of_wheel = program(tmp_path / "bin" / "regreen")
    assert regreen.find_program() == of_wheel
    monkeypatch.setattr(_program, "__file__", str(tmp_path / "regreen" / "_program.py"))
    assert regreen.find_program() == of_wheel


def test_a_wrong_name_is_not_replaced_by_another_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_program, "__file__", str(tmp_path / "regreen" / "_program.py"))
    monkeypatch.setenv("REGREEN", str(tmp_path / "gone"))
    with pytest.raises(regreen.ProgramNotFound, match="gone"):
        regreen.find_program()


def test_the_installed_package_is_typed() -> None:
    files = importlib.metadata.files("regreen") or []
    assert any(file.name == "py.typed" for file in files)


def program(path: Path) -> str:
    path.parent.mkdir(exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return str(path)
