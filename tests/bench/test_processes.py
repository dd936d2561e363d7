"""A server is measured while its children come and go."""

import sys
from pathlib import Path

import pytest

from bench.processes import SERVER, Process, describe_python

RESTLESS = """
import subprocess
print("running", flush=True)
while True:
    subprocess.run(["true", "uvicorn"])
"""


def test_children_that_end_meanwhile_are_no_error(tmp_path: Path) -> None:
    command = [sys.executable, "-c", RESTLESS, "uvicorn"]
    log = tmp_path / "log"
    # For an instant after its start, a process has no command line to recognize it by.
    with Process(command, log=log, environment={}, is_ready=lambda: log.stat().st_size > 0) as server:
        sizes = [server.server_mebibytes() for _ in range(200)]
        taken = [server.cpu_seconds() for _ in range(200)]
    assert min(sizes) > 0
    assert all(SERVER in roles for roles in taken)


@pytest.mark.parametrize(
    ("arguments", "build"),
    [
        ("'--enable-optimizations' '--with-lto' 'LDFLAGS=-g -O2'", "with PGO, with LTO"),
        ("'--with-lto=thin'", "without PGO, with LTO"),
        ("'--enable-shared' '--with-lto=no' 'CFLAGS=--enable-optimizations -O2'", "without PGO, without LTO"),
        ("", "built in an unknown way"),
        (None, "built in an unknown way"),
    ],
)
def test_a_python_says_how_it_was_built(arguments: str | None, build: str) -> None:
    assert describe_python("3.11.7", arguments) == f"Python 3.11.7 ({build})"
