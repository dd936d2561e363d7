"""Makes one metered call without streaming, and shows its effect on the wallet."""

import uuid
from collections.abc import Callable
from typing import Any

import requests

from gateway.demo.client import Gateway, GatewayError, Receipt, call_headers
from gateway.demo.money import table

Write = Callable[[str], object]


def call(
    gateway: Gateway, path: str, body: dict[str, Any], *, max_cost_microusd: int
) -> tuple[dict[str, Any], Receipt]:
    """Make a call with a JSON response, and return the response and receipt. Raises GatewayError if the gateway
    refuses."""
    answer, receipt = send(gateway, path, max_cost_microusd=max_cost_microusd, json=body)
    return answer.json(), receipt


def send(gateway: Gateway, path: str, *, max_cost_microusd: int, **content: Any) -> tuple[requests.Response, Receipt]:
    """Make a call with the content that `requests` accepts. Raises GatewayError if the gateway refuses."""
    headers = call_headers(max_cost_microusd=max_cost_microusd, idempotency_key=str(uuid.uuid4()))
    answer = gateway.request("POST", path, headers=headers, **content)
    receipt = Receipt.from_headers(answer.headers)
    if answer.status_code != 200 or receipt is None:
        raise GatewayError.of(answer.status_code, answer.json())
    return answer, receipt


def show_receipt(gateway: Gateway, write: Write, before: dict[str, Any], receipt: Receipt, remark: str) -> None:
    """Print a call's hold and charge, between the wallet before and after. `remark` says what it was charged for."""
    rows = [
        ("wallet before", before["availableMicrousd"], ""),
        ("hold", receipt.hold_microusd or 0, "the most this request could cost"),
        ("charge", receipt.charge_microusd or 0, remark),
        ("wallet after", gateway.wallet()["availableMicrousd"], ""),
    ]
    write("".join(f"   {line}\n" for line in table(rows)))
