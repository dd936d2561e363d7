"""Events before the published library for Node.js. Python's is in tests/events."""

import json
import time

import pytest

from gateway.core.events.rules.secrets import new_secret, signature
from tests.interop.node_script import run_script

pytestmark = pytest.mark.usefixtures("npm_packages")


def test_standard_webhooks() -> None:
    old, new, other = new_secret(), new_secret(), new_secret()
    body = json.dumps({"id": "evt_1", "data": {"text": "ä\u2028\U0001f600"}}, ensure_ascii=False)
    at = int(time.time())
    headers = {
        "webhook-id": "evt_1",
        "webhook-timestamp": str(at),
        "webhook-signature": signature([new, old], "evt_1", at, body.encode()),
    }
    for secret in (old, new):
        found = run_script("events.js", secret, other, body, json.dumps(headers))
        assert found["event"] == json.loads(body)
        assert set(found["refusals"].values()) == {"WebhookVerificationError"}
