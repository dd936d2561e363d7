"""What programs do with the installed client: sign, exchange, call, stream, check a receipt, and call through a proxy.
Any supported Python runs it.

Imports every module that is installed, then prints JSON. Arguments: the gateway's address and the product's key.
"""

import asyncio
import json
import pkgutil
import sys
import time
from importlib import import_module
from pathlib import Path
from typing import Any

import httpx

import account_gateway_client
from account_gateway_client import Gateway, ProductKey, ProductServer, Receipt
from account_gateway_client.proxy.server import LocalProxy

SCOPES = ["wallet:read", "usage:read", "infer:fast"]
BODY = {"model": "fast", "messages": [{"role": "user", "content": "Hello"}]}
PACKAGE_OF_AN_SDK = "account_gateway_client.sdk_httpx2"


def main(url: str, key_file: str) -> None:
    """Make three paid calls and print what they were and cost."""
    names = [
        module.name for module in pkgutil.walk_packages(account_gateway_client.__path__, "account_gateway_client.")
    ]
    for name in names:
        if name != PACKAGE_OF_AN_SDK and not name.endswith(".__main__"):
            import_module(name)
    product = ProductServer(
        url, issuer="https://demo.studio.example", product="studio", key=ProductKey.load(key_file), timeout_seconds=60
    )
    gateway = Gateway(url, product.tokens_for("did:web:demo.studio.example:alice", SCOPES), timeout_seconds=60)
    receipts: list[Receipt] = []
    options: dict[str, Any] = {"max_cost_microusd": 20_000, "on_receipt": receipts.append}
    with gateway.http_client(**options) as http:
        answer = http.post(f"{gateway.api_url}/chat/completions", json=BODY).raise_for_status().json()
        text = answer["choices"][0]["message"]["content"]
        with http.stream("POST", f"{gateway.api_url}/chat/completions", json={**BODY, "stream": True}) as stream:
            events = [line for line in stream.iter_lines() if line.startswith("data: ")]
    asyncio.run(call_on_a_loop(gateway, options))
    proxied = cost_of_a_left_stream(gateway)
    claims = [gateway.verify_receipt(gateway.receipt(receipt.usage_id)) for receipt in receipts]
    done = {
        "python": sys.version_info[:2],
        "installed_in": str(Path(account_gateway_client.__file__).parents[1]),
        "modules": sorted(names),
        "text": text,
        "events": len(events),
        "charges": [receipt.charge_microusd for receipt in receipts],
        "proxied": proxied,
        "signed": [claim["charge_microusd"] for claim in claims],
    }
    sys.stdout.write(json.dumps(done))


async def call_on_a_loop(gateway: Gateway, options: dict[str, Any]) -> None:
    """Make one call asynchronously."""
    async with gateway.async_http_client(**options) as http:
        (await http.post(f"{gateway.api_url}/chat/completions", json=BODY)).raise_for_status()


def cost_of_a_left_stream(gateway: Gateway) -> int:
    """Leave a stream that a proxy signs for, and return what it cost, which the proxy looks up."""
    with LocalProxy(gateway, max_cost_microusd=20_000) as proxy:
        headers = {"Authorization": f"Bearer {proxy.secret}"}
        with httpx.stream(
            "POST", f"{proxy.base_url}/v1/chat/completions", json={**BODY, "stream": True}, headers=headers
        ) as stream:
            next(stream.iter_raw())
        while proxy.spending.reserved:
            time.sleep(0.05)
    return proxy.spending.spent


if __name__ == "__main__":
    main(*sys.argv[1:])
