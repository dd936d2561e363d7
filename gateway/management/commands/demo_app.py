"""`make demo-app`: serves the browser client's example page, on its own origin, beside the running gateway."""

import signal
import sys
from types import FrameType
from typing import Any

import requests
from django.conf import settings
from django.core.management.base import BaseCommand

from gateway.demo.app_server import HOME, AppServer

ANSWER_SECONDS = 5.0


class Command(BaseCommand):
    """Serves the example page until it is stopped."""

    help = "Serve the browser client's example app, which signs people in and streams an answer. DEMO_APP_PORT sets its port."
    requires_system_checks: list[str] = []

    def handle(self, *args: Any, **options: Any) -> None:
        """Serve. If the page cannot work, print the reason in one line and exit with code 1."""
        if not settings.DEMO_ADAPTER:
            self._give_up("The example app grants welcome credits, so it does not run in production.")
        try:
            server = AppServer(settings.DEMO_APP_HOST, settings.DEMO_APP_PORT, page_settings())
        except OSError as error:
            self._give_up(f"Cannot listen on port {settings.DEMO_APP_PORT} ({error.strerror}); set DEMO_APP_PORT.")
        origin = f"http://{settings.DEMO_APP_HOST}:{server.server_port}"
        if problem := _problem(settings.GATEWAY_BASE_URL, origin):
            self._give_up(problem)
        self.stdout.write(f"ready: {origin}{HOME}")
        self.stdout.flush()
        _serve(server)

    def _give_up(self, message: str) -> None:
        self.stderr.write(message)
        sys.exit(1)


def page_settings() -> dict[str, Any]:
    """Return the page's settings."""
    return {"gatewayUrl": settings.GATEWAY_BASE_URL, "portalUrl": settings.PORTAL_URL, "welcomeCredit": True}


def _problem(base_url: str, origin: str) -> str | None:
    """Return why a page of this origin cannot call the gateway, or None if it can."""
    preflight = {"Origin": origin, "Access-Control-Request-Method": "GET", "Access-Control-Request-Headers": "dpop"}
    try:
        response = requests.options(f"{base_url}/v1/account", headers=preflight, timeout=ANSWER_SECONDS)
    except requests.RequestException:
        return f"No gateway answers at {base_url}; start one with `make run` first."
    if response.headers.get("Access-Control-Allow-Origin") != origin:
        return f"The gateway at {base_url} does not allow {origin} to call it; start it with the same DEMO_APP_PORT."
    return None


def _serve(server: AppServer) -> None:
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        server.server_close()


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt
