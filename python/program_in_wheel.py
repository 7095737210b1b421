"""Puts the regreen program into the wheel.

`REGREEN_BINARY` names the program. Without it the wheel has only Python code, fits every platform,
and uses the regreen that `$REGREEN` names or that is in `PATH`.
"""

from __future__ import annotations

import mmap
import os
import re
import struct
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ELF_MACHINES = {0x3E: "x86_64", 0xB7: "aarch64"}
MACHO_MACHINES = {0x01000007: "x86_64", 0x0100000C: "arm64"}
MACHO_MAGIC = 0xFEEDFACF


class ProgramInWheel(BuildHookInterface[Any]):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        for license_file in Path(self.root).parent.glob("LICENSE-*"):
            build_data["extra_metadata"][str(license_file)] = license_file.name
        binary = os.environ.get("REGREEN_BINARY")
        if not binary or version == "editable":
            return
        program = Path(binary).resolve(strict=True)
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{platform_tag(program)}"
        build_data["shared_scripts"][str(program)] = "regreen"


def platform_tag(program: Path) -> str:
    """Return the platform that a program needs, in the words of wheels."""
    with (
        program.open("rb") as file,
        mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content,
    ):
        if content[:4] == b"\x7fELF":
            return _linux(content)
        magic, machine = struct.unpack("<II", content[:8])
        if magic == MACHO_MAGIC and machine in MACHO_MACHINES:
            return f"macosx_11_0_{MACHO_MACHINES[machine]}"
    raise ValueError(f"{program} is not a program for Linux or macOS")


def _linux(content: mmap.mmap) -> str:
    (machine,) = struct.unpack("<H", content[18:20])
    if machine not in ELF_MACHINES:
        raise ValueError(f"unknown machine {machine:#x}")
    name = ELF_MACHINES[machine]
    # The newest glibc whose symbols it uses is the oldest that it runs with.
    versions = {int(minor) for minor in re.findall(rb"\0GLIBC_2\.(\d+)", content)}
    if not versions:
        return f"manylinux_2_17_{name}.musllinux_1_1_{name}"
    return f"manylinux_2_{max(17, *versions)}_{name}"
