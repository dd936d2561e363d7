"""Pages of the documentation, and a reader who follows one: saves its files and runs its commands as they stand.

A fence says its language, and where a reader saves the block, the file: ```` ```python title="app.py" ````.
"""

import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from gateway.run.children import signal_group
from gateway.run.options import PROJECT_DIR
from tests.support.concurrency import PATIENCE_SECONDS, eventually
from tests.support.gateways import OURS, GatewayProcess

FENCE = re.compile(r'^```(\w+)(?: title="([^"\n]+)")?\n(.*?)^```$', re.DOTALL | re.MULTILINE)
DOCUMENTED_GATEWAY = "http://localhost:8000"
PYTHON_CLIENT = PROJECT_DIR / "clients" / "python"


@dataclass(frozen=True)
class Block:
    """One code block. `title` is the name of its file, empty where it has none."""

    language: str
    title: str
    code: str


@dataclass(frozen=True)
class Page:
    """A page by its path in the repository, such as `docs/quickstarts/fastapi.md`."""

    path: str

    @property
    def text(self) -> str:
        """Return the whole page."""
        return (PROJECT_DIR / self.path).read_text()

    def blocks(self, language: str = "", *, after: str = "") -> list[Block]:
        """Return the blocks in order: those in a language, and those after a text of the page, which must be there."""
        assert after in self.text, f"{self.path} does not say {after!r}"
        rest = self.text[self.text.index(after) :]
        blocks = [Block(*match) for match in FENCE.findall(rest)]
        return [block for block in blocks if language in ("", block.language)]

    def code(self, language: str, *, after: str = "") -> str:
        """Return the first block in a language."""
        return self.blocks(language, after=after)[0].code


@dataclass
class Reader:
    """Follows a page in a folder of their own, beside a running gateway whose data directory is the folder's `.data`.

    The page's `http://localhost:8000` becomes the gateway's address, which is also in GATEWAY_URL; `replaced` names other texts
    that become something else, such as the port of the reader's own server.
    """

    page: Page
    folder: Path
    gateway: GatewayProcess
    replaced: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        (self.folder / ".data").symlink_to(self.gateway.data_dir)

    @property
    def environment(self) -> dict[str, str]:
        """Return the environment of the reader's shell: this interpreter's programs come first, the client is installed."""
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        ours = {
            "PATH": path,
            "PYTHONUNBUFFERED": "1",
            "PYTHONPATH": str(PYTHON_CLIENT),
            "GATEWAY_URL": self.gateway.base_url,
        }
        inherited = {name: value for name, value in os.environ.items() if name not in OURS}
        return {**inherited, **ours, **self.settings}

    def save_files(self) -> None:
        """Save every block that has a title under it."""
        titled = [block for block in self.page.blocks() if block.title]
        assert titled, f"{self.page.path} has no block with a title"
        for block in titled:
            file = self.folder / block.title
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(self.as_here(block.code))

    def as_here(self, code: str) -> str:
        """Return a block with the addresses of this machine."""
        for written, here in {DOCUMENTED_GATEWAY: self.gateway.base_url, **self.replaced}.items():
            code = code.replace(written, here)
        return code

    def run(self, code: str, **settings: str) -> str:
        """Run commands in the shell, which must succeed, and return what they print."""
        completed = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", self.as_here(code)],
            cwd=self.folder,
            env={**self.environment, **settings},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS,
        )
        assert completed.returncode == 0, completed.stdout + completed.stderr
        return completed.stdout

    @contextmanager
    def serving(self, code: str, port: int) -> Iterator[None]:
        """Run commands that start a server, until it listens; end it and its children afterwards."""
        with (self.folder / "server.log").open("wb") as out:
            process = subprocess.Popen(
                ["bash", "-euc", self.as_here(code)],
                cwd=self.folder,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                start_new_session=True,
            )
        try:
            eventually(lambda: _listens(port) or process.poll() is not None)
            assert process.poll() is None, self.log
            yield
        finally:
            signal_group(process.pid, signal.SIGKILL)
            process.wait()
            sys.stdout.write(self.log)  # pytest shows it if a test fails

    @property
    def log(self) -> str:
        """Return what the server has printed."""
        return (self.folder / "server.log").read_text()


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
