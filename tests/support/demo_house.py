"""A whole gateway as a newcomer starts it: the demo configuration, and the demo's product signed in."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from account_gateway_client import Gateway, ProductKey, ProductServer
from gateway.run.ports import free_port

ROOT = Path(__file__).resolve().parents[2]
START_SECONDS = 120
ISSUER = "https://demo.studio.example"
ALICE = "did:web:demo.studio.example:alice"


@dataclass
class DemoHouse:
    """A running gateway. What its processes say goes to a file, so that no full pipe can stop them."""

    folder: Path
    port: int
    process: subprocess.Popen[bytes] | None = None

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def data_dir(self) -> Path:
        return self.folder / "data"

    @property
    def log(self) -> str:
        return (self.folder / "log").read_text()

    @property
    def environment(self) -> dict[str, str]:
        kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
        return kept | {"PORT": str(self.port), "DATA_DIR": str(self.data_dir)}

    def start(self) -> None:
        with (self.folder / "log").open("wb") as log:
            command = [sys.executable, "-m", "gateway.run"]
            self.process = subprocess.Popen(command, cwd=ROOT, env=self.environment, stdout=log, stderr=log)
        deadline = time.monotonic() + START_SECONDS
        while f"ready: {self.base_url}" not in self.log:
            assert self.process.poll() is None, self.log
            assert time.monotonic() < deadline, self.log
            time.sleep(0.1)

    def stop(self) -> None:
        assert self.process is not None
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(timeout=60)

    def run(self, *command: str, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, *command],
            cwd=ROOT,
            env=self.environment | environment,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    def product(self) -> ProductServer:
        key = ProductKey.load(self.data_dir / "demo-product.pem")
        return ProductServer(self.base_url, issuer=ISSUER, product="studio", key=key)

    def sign_in(self, *capabilities: str, did: str = ALICE) -> Gateway:
        return Gateway(self.base_url, self.product().tokens_for(did, capabilities))


@pytest.fixture(scope="session")
def demo_house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DemoHouse]:
    """Start one for the session; its demo has run once, so the demo's product and credit exist."""
    folder = tmp_path_factory.mktemp("demo-house")
    folder.chmod(0o755)
    house = DemoHouse(folder, free_port())
    house.start()
    try:
        told = house.run("manage.py", "demo")
        assert told.returncode == 0, told.stdout + told.stderr + house.log
        yield house
    finally:
        house.stop()
