"""`make demo`: makes paid calls through the running gateway, with a line for each step."""

import sys
from typing import Any

import requests
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.core.management.base import BaseCommand
from django.db import DatabaseError
from django.utils import timezone

from gateway.config.demo_integration import ensure_demo_integration
from gateway.config.problems import ConfigError
from gateway.demo.client import ClientError, Gateway, ProductKey, ProductServer
from gateway.demo.tour import CONSENTS, SCOPES, tour

ANSWER_SECONDS = 5.0


class Command(BaseCommand):
    """Signs in as the demo product's account, makes metered requests and shows their receipts."""

    help = "Make paid calls through the running gateway and show their receipts."
    requires_system_checks: list[str] = []

    def handle(self, *args: Any, **options: Any) -> None:
        """Run the tour. If it cannot run, print the reason in one line and exit with code 1."""
        base_url = settings.GATEWAY_BASE_URL
        if not _answers(base_url):
            self._give_up(f"No gateway answers at {base_url}; start one with `make run` first.")
        try:
            self._say(f"Account Gateway at {base_url}\n\n")
            tour(_signed_in(base_url), self._say)
        except (ClientError, ConfigError, ImproperlyConfigured) as error:
            self._give_up(f"The demo stopped: {error}")
        except (DatabaseError, OSError) as error:
            self._give_up(f"The demo could not sign in ({type(error).__name__}). Check that DATA_DIR is the gateway's.")

    def _say(self, text: str) -> None:
        self.stdout.write(text, ending="")
        self.stdout.flush()

    def _give_up(self, message: str) -> None:
        self.stderr.write(message)
        sys.exit(1)


def _answers(base_url: str) -> bool:
    try:
        return requests.get(f"{base_url}/healthz", timeout=ANSWER_SECONDS).ok
    except requests.RequestException:
        return False


def _signed_in(base_url: str) -> Gateway:
    """Create what the demo product needs to sign in, and sign in."""
    demo = ensure_demo_integration(now=timezone.now())
    server = ProductServer(
        base_url,
        issuer=demo.issuer,
        audience=demo.audience,
        product=demo.product,
        key=ProductKey.load(demo.key_file),
        kid=demo.kid,
    )
    return Gateway(base_url, server.tokens_for(demo.account, SCOPES, consents=CONSENTS))
