"""A gateway as a newcomer starts it, the example app on another origin beside it, and what both log."""

import subprocess
import sys
import time
from dataclasses import dataclass, field

from gateway.run.ports import free_port
from tests.support.demo_house import ROOT, START_SECONDS, DemoHouse
from tests.support.stripe import FakeStripe


@dataclass
class AppHouse(DemoHouse):
    """`make run` and `make demo-app`, with everything logged that can be, and a payment provider where one is given."""

    provider: FakeStripe | None = None
    app_port: int = field(default_factory=free_port)
    app_process: subprocess.Popen[bytes] | None = None

    @property
    def app_origin(self) -> str:
        return f"http://127.0.0.1:{self.app_port}"

    @property
    def app_url(self) -> str:
        return f"{self.app_origin}/example/"

    @property
    def portal_url(self) -> str:
        """Name the portal by a host that passkeys accept, as they accept no bare address."""
        return f"http://localhost:{self.port}"

    @property
    def environment(self) -> dict[str, str]:
        named = super().environment | {"DEMO_APP_PORT": str(self.app_port), "LOG_LEVEL": "DEBUG"}
        return named | (_payments(self.provider) if self.provider else {})

    @property
    def app_log(self) -> str:
        return (self.folder / "app-log").read_text()

    def start_app(self) -> None:
        with (self.folder / "app-log").open("wb") as log:
            command = [sys.executable, "manage.py", "demo_app"]
            self.app_process = subprocess.Popen(command, cwd=ROOT, env=self.environment, stdout=log, stderr=log)
        deadline = time.monotonic() + START_SECONDS
        while f"ready: {self.app_url}" not in self.app_log:
            assert self.app_process.poll() is None, self.app_log
            assert time.monotonic() < deadline, self.app_log
            time.sleep(0.1)

    def stop(self) -> None:
        if self.app_process is not None:
            self.app_process.terminate()
            self.app_process.wait(timeout=30)
        super().stop()


def _payments(provider: FakeStripe) -> dict[str, str]:
    return {
        "STRIPE_SECRET_KEY": provider.secret_key,
        "STRIPE_WEBHOOK_SECRET": provider.webhooks.secret,
        "STRIPE_API_BASE": provider.origin,
    }
