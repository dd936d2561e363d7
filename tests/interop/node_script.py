"""Runs a script of `node/`, which may ask a person to approve something, and returns what it found out."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.interop.portal import approve

SCRIPTS = Path(__file__).parent / "node"


def run_script(name: str | Path, *arguments: str, answer: Callable[[Any], Any] = approve) -> dict[str, Any]:
    """Run a script of `node/`, or one with a path of its own, to its end; an error of its own fails the test.

    What it asks to be approved is given to `answer`.
    """
    command = ["node", str(SCRIPTS / name), *arguments]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdin is not None
    assert process.stdout is not None
    with process:
        for line in process.stdout:
            message = json.loads(line)
            if "done" in message:
                found: dict[str, Any] = message["done"]
                return found
            process.stdin.write(json.dumps(answer(message["approve"])) + "\n")
            process.stdin.flush()
        assert process.stderr is not None
        raise AssertionError(process.stderr.read())
