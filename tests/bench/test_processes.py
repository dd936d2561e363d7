"""A server is measured while its children come and go."""

import sys
from pathlib import Path

from bench.processes import SERVER, Process

RESTLESS = """
import subprocess
while True:
    subprocess.run(["true", "uvicorn"])
"""


def test_children_that_end_meanwhile_are_no_error(tmp_path: Path) -> None:
    command = [sys.executable, "-c", RESTLESS, "uvicorn"]
    with Process(command, log=tmp_path / "log", environment={}, is_ready=lambda: True) as server:
        sizes = [server.server_mebibytes() for _ in range(200)]
        taken = [server.cpu_seconds() for _ in range(200)]
    assert min(sizes) > 0
    assert all(SERVER in roles for roles in taken)
