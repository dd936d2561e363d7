"""A gateway as a newcomer starts it, the example app on another origin beside it, and what both log."""

import signal
import sys
from dataclasses import dataclass, field

from gateway.run.ports import free_port
from tests.support.gateways import ForkedGateway
from tests.support.stripe import FakeStripe


@dataclass
class AppGateway(ForkedGateway):
    """`make run` and `make demo-app`, with everything logged that can be, and a payment provider where one is given."""

    provider: FakeStripe | None = None
    app_port: int = field(default_factory=free_port)
    app: "DemoApp | None" = None
    reader_port: int = field(default_factory=free_port)
    """Where a reader of the browser quickstart serves the page."""

    @property
    def app_origin(self) -> str:
        return f"http://127.0.0.1:{self.app_port}"

    @property
    def app_url(self) -> str:
        return f"{self.app_origin}/example/"

    @property
    def environment(self) -> dict[str, str]:
        origin = f"http://127.0.0.1:{self.reader_port}"
        ours = {"DEMO_APP_PORT": str(self.app_port), "CORS_ALLOWED_ORIGINS": origin, "LOG_LEVEL": "DEBUG"}
        named = super().environment | ours
        return named | (_payments(self.provider) if self.provider else {})

    @property
    def app_log(self) -> str:
        return self.app.log if self.app else ""

    def start_app(self) -> None:
        command = (sys.executable, "manage.py", "demo_app")
        self.app = DemoApp(self.data_dir.parent / "app", self.app_port, self.environment, command)
        self.app.start().wait_until_ready()

    def stop(self, how: signal.Signals = signal.SIGTERM) -> int:
        if self.app is not None:
            self.app.stop()
        return super().stop(how)


class DemoApp(ForkedGateway):
    """The example app."""

    def is_ready(self) -> bool:
        return f"ready: http://127.0.0.1:{self.port}/example/" in self.stdout


def _payments(provider: FakeStripe) -> dict[str, str]:
    return {
        "STRIPE_SECRET_KEY": provider.secret_key,
        "STRIPE_WEBHOOK_SECRET": provider.webhooks.secret,
        "STRIPE_API_BASE": provider.origin,
        "SEAT_COLLECTION_FROM": "2020-01",
    }
