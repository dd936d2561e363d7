"""Webhooks: events, signed and sent to an endpoint, in order and once, or as a test specifies.

The header is `t=<seconds>,v1=<hex HMAC-SHA256 of "<t>.<body>">`; in test mode it also has a meaningless `v0`.
"""

import hashlib
import hmac
import json
import time
from dataclasses import dataclass

import requests

from tests.support.stripe.store import Json

PATIENCE_SECONDS = 60


@dataclass(frozen=True, slots=True)
class Delivery:
    """One attempt; `status` is 0 if there was no response."""

    event_id: str
    type: str
    status: int


class Webhooks:
    """The platform's endpoint. Unsent events are in `waiting`, oldest first."""

    def __init__(self) -> None:
        self.url = ""
        self.secret = "whsec_standin"
        self.automatic = False
        self.waiting: list[Json] = []
        self.deliveries: list[Delivery] = []

    def send_to(self, url: str, secret: str | None = None) -> None:
        """Send every event from now on when it happens."""
        self.url, self.automatic = url, True
        self.secret = secret or self.secret
        self.waiting.clear()

    def hold(self) -> None:
        """Send events only on request, to simulate late or lost webhooks."""
        self.automatic = False

    def hear(self, event: Json) -> None:
        """Receive an event."""
        self.waiting.append(event)

    def flush(self) -> None:
        """Send the waiting events in order, if sending is automatic."""
        while self.automatic and self.waiting:
            self.deliver(self.waiting[0])

    def deliver(self, *events: Json, times: int = 1) -> list[int]:
        """Send events in this order, `times` times each, and return the response statuses."""
        return [self._send(event) for event in events for _ in range(times)]

    def signed(self, event: Json, *, secret: str | None = None, age_seconds: int = 0) -> tuple[bytes, dict[str, str]]:
        """Return an event's body and headers."""
        body = json.dumps(event, indent=2).encode()
        header = self.signature(body, secret=secret, age_seconds=age_seconds)
        return body, {"Content-Type": "application/json; charset=utf-8", "Stripe-Signature": header}

    def signature(self, body: bytes, *, secret: str | None = None, age_seconds: int = 0) -> str:
        """Sign a body as the vendor does."""
        at = int(time.time()) - age_seconds
        key = (self.secret if secret is None else secret).encode()
        mac = hmac.new(key, f"{at}.".encode() + body, hashlib.sha256).hexdigest()
        return f"t={at},v1={mac},v0={hashlib.sha256(mac.encode()).hexdigest()}"

    def clear(self) -> None:
        """Remove endpoint and events."""
        self.url, self.automatic = "", False
        self.waiting.clear()
        self.deliveries.clear()

    def _send(self, event: Json) -> int:
        if event in self.waiting:
            self.waiting.remove(event)
        body, headers = self.signed(event)
        headers["User-Agent"] = "Stripe/1.0 (+https://stripe.com/docs/webhooks)"
        try:
            with requests.post(self.url, data=body, headers=headers, timeout=PATIENCE_SECONDS) as answer:
                status = answer.status_code
        except requests.RequestException:
            status = 0
        self.deliveries.append(Delivery(event["id"], event["type"], status))
        return status
