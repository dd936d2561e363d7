"""`agw`, run in this process, with a folder of its own."""

import io
import json
import os
import threading
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

import httpx

from account_gateway_client.cli import browser, main
from account_gateway_client.cli.sessions import Sessions
from tests.interop.portal import approve

NO_KEYRING = "keyring.backends.fail.Keyring"


@dataclass(frozen=True)
class Completed:
    """How a command ended."""

    status: int
    body: bytes
    err: str

    @property
    def out(self) -> str:
        return self.body.decode()

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def complaint(self) -> str:
        """Return the one line that says what went wrong."""
        lines = self.err.splitlines()
        assert [line.startswith("agw: ") for line in lines] == [False] * (len(lines) - 1) + [True], self.err
        return lines[-1].removeprefix("agw: ")


@dataclass
class CommandLine:
    """A person's shell. `environment` is what commands see beside this process's."""

    gateway: str
    folder: Path
    environment: dict[str, str] = field(default_factory=dict)

    @property
    def sessions(self) -> Sessions:
        return Sessions(self.folder)

    def run(self, *arguments: str, stdin: bytes = b"") -> Completed:
        """Run a command to its end."""
        out, err = _Stream(), _Stream()
        files = mock.patch.multiple("sys", stdin=_Stream(stdin))
        with self._environment(), files, redirect_stdout(out), redirect_stderr(err):
            status = main.run(list(arguments))
        return Completed(status, out.written(), err.written().decode())

    def log_in(self, *scopes: str, visit: Callable[[str], Any] | None = None) -> Completed:
        """Sign in as a new person, who allows everything; or let `visit` do what the person does with the address."""
        asked = [argument for scope in scopes for argument in ("--scope", scope)]
        visits: list[threading.Thread] = []

        def open_page(url: str) -> bool:
            visits.append(threading.Thread(target=visit or allow, args=(url,)))
            visits[-1].start()
            return True

        with mock.patch.object(browser, "open_page", open_page):
            completed = self.run("login", "--gateway", self.gateway, *asked)
        for thread in visits:
            thread.join()
        return completed

    def _environment(self) -> Any:
        given = {"AGW_CONFIG_DIR": str(self.folder), "PYTHON_KEYRING_BACKEND": NO_KEYRING, "NO_COLOR": "1"}
        return mock.patch.dict(os.environ, given | self.environment)


def allow(url: str) -> None:
    """Sign up, allow everything, and come back."""
    assert httpx.get(approve(url), timeout=60).status_code == 200


class _Stream(io.TextIOWrapper):
    def __init__(self, content: bytes = b"") -> None:
        super().__init__(io.BytesIO(content), encoding="utf-8")

    def written(self) -> bytes:
        self.flush()
        written: bytes = self.buffer.getvalue()  # type: ignore[attr-defined]
        return written
