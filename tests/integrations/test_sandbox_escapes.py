"""Attempts to escape from the sandbox, as the tests' user and as an unprivileged one."""

import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from gateway.run.options import PROJECT_DIR
from tests.integrations import escapes
from tests.run.machine import plain_user, site_packages

SCRIPT = Path(escapes.__file__).read_text(encoding="utf-8")
WORD = "the-secret"
EGRESS_REACHES = {"a port", "a port by the wildcard", "a port by IPv6", "the network"}
OPEN_OUTSIDE = {
    *("a file", "a file by its own root", "a file by a symbolic link", "a socket in a file", "an abstract socket"),
    *("a port", "a port by the wildcard", "a signal", "a process's descriptor", "another's environment"),
    *("the gateway's folder", "semaphores", "message queues", "shared memory", "memory files"),
}
"""What a program without a sandbox reaches. It shows that the attempts work."""
WAYS = list(
    escapes.ways(dict.fromkeys(("secret", "process", "project", "data", "socket", "abstract", "port", "word"), ""))
)
USERS = ("ours", *(["plain"] if plain_user() else []))


@pytest.fixture(scope="module")
def machine() -> Iterator[dict[str, Any]]:
    """Create targets on the machine, accessible to all users, that a program must not reach."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(dir="/var/tmp")))
        folder.chmod(0o777)
        (folder / "secret").write_text(WORD)
        (folder / "secret").chmod(0o666)
        port = stack.enter_context(socket.create_server(("127.0.0.1", 0))).getsockname()[1]
        abstract = f"gateway-test-{os.getpid()}"
        for name in (str(folder / "socket"), "\0" + abstract):
            server = stack.enter_context(socket.socket(socket.AF_UNIX))
            server.bind(name)
            server.listen()
        (folder / "socket").chmod(0o777)
        other = stack.enter_context(subprocess.Popen(["sleep", "600"], env={"WORD": WORD}))
        stack.callback(other.kill)
        yield {
            "secret": str(folder / "secret"),
            "socket": str(folder / "socket"),
            "abstract": abstract,
            "port": port,
            "process": other.pid,
            "word": WORD,
            "project": str(PROJECT_DIR),
            "data": os.environ["DATA_DIR"],
        }


def execute(user: str, machine: dict[str, Any], *, egress: bool = False) -> dict[str, Any]:
    """Run all attempts in a user's sandbox, with a secret in the worker's environment."""
    identity, python = (plain_user() if user == "plain" else None) or (None, sys.executable)
    environment = {**os.environ, "WORKER_SECRET": WORD}
    if identity:
        home = machine["secret"].rpartition("/")[0]
        environment |= {
            "PYTHONPATH": str(site_packages()),
            "HOME": home,
            "DATA_DIR": home,
            "PYTHONDONTWRITEBYTECODE": "1",
        }
    program = {"command": ["python3", "-I", "escapes.py"], "files": {"escapes.py": SCRIPT}, "egress": egress}
    result = subprocess.run(
        [python, "-m", "tests.integrations.sandboxed"],
        input=json.dumps({**program, "stdin": json.dumps(machine)}),
        env=environment,
        cwd=PROJECT_DIR,
        capture_output=True,
        text=True,
        check=False,
        **(identity.spawn_arguments() if identity else {}),
    )
    assert result.returncode == 0, result.stderr
    ending, code, reason, out, err = json.loads(result.stdout)
    assert (ending, code) == ("exited", 0), reason + err
    return dict(json.loads(out))


@pytest.fixture(scope="module", params=USERS)
def found(request: pytest.FixtureRequest, machine: dict[str, Any]) -> dict[str, Any]:
    return execute(request.param, machine)


@pytest.mark.parametrize("way", WAYS)
def test_leads_nowhere(found: dict[str, Any], way: str) -> None:
    assert found[way] is None


def test_leads_somewhere_without_a_sandbox(machine: dict[str, Any], tmp_path: Path) -> None:
    names = ", ".join(map(repr, sorted(OPEN_OUTSIDE)))
    script = SCRIPT.replace(
        ".items():\n        try:", f".items():\n        if name not in ({names}):\n            continue\n        try:"
    )
    assert script != SCRIPT
    result = subprocess.run(
        [sys.executable, "-I", "-c", script],
        input=json.dumps(machine),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert {name for name, reached in json.loads(result.stdout).items() if reached} == OPEN_OUTSIDE


def test_egress_opens_only_the_network(machine: dict[str, Any]) -> None:
    found = execute("ours", machine, egress=True)
    assert {name for name, reached in found.items() if reached} == EGRESS_REACHES
