"""What the proxies of `deploy/proxies` say about a client, and that the client says nothing about itself."""

import json
from pathlib import Path
from typing import Any

import pytest

from gateway.core.http.server.proxies import trust_proxies
from tests.support.concurrency import eventually
from tests.support.fronts import HOST, KINDS, front
from tests.support.serving import RunningGateway

LIES = {
    "X-Forwarded-For": "198.51.100.7",
    "X-Forwarded-Proto": "http",
    "X-Forwarded-Host": "evil.example",
    "Forwarded": "for=198.51.100.7;proto=http",
    "X-Real-IP": "198.51.100.7",
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_client_says_nothing_about_its_address_and_scheme(kind: str, tmp_path: Path) -> None:
    with (
        RunningGateway(trust_proxies(["127.0.0.1"], echo)) as server,
        front(kind, tmp_path / kind, [server.origin]) as through,
        through.client(local_address="127.0.0.9") as client,
    ):
        eventually(lambda: client.get(f"https://{HOST}/").status_code == 200)
        for lies in ({}, LIES):
            seen = client.get(f"https://{HOST}/v1/models?a=%2F", headers=lies).json()
            assert seen == {"address": "127.0.0.9", "scheme": "https", "host": HOST, "path": "/v1/models?a=%2F"}


async def echo(scope: Any, receive: Any, send: Any) -> None:
    """Answer with what the gateway would know of a request."""
    if scope["type"] != "http":
        return
    seen = {
        "address": scope["client"][0],
        "scheme": scope["scheme"],
        "host": dict(scope["headers"]).get(b"host", b"none, as in a check of HAProxy").decode(),
        "path": f"{scope['raw_path'].decode()}?{scope['query_string'].decode()}",
    }
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"application/json")]})
    await send({"type": "http.response.body", "body": json.dumps(seen).encode()})
