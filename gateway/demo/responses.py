"""Two responses, the second of which goes on from the first by its id."""

import uuid
from collections.abc import Callable
from typing import Any

from gateway.demo.client import Gateway, GatewayError, Receipt, call_headers
from gateway.demo.money import table

RESPONSES = "/v1/responses"
MAX_COST_MICROUSD = 20_000
FIRST: dict[str, Any] = {"model": "fast", "input": "Remember the word badger.", "max_output_tokens": 200}
NEXT: dict[str, Any] = {"model": "fast", "input": "Which word was it?", "max_output_tokens": 200}


def show_responses(gateway: Gateway, write: Callable[[str], object]) -> None:
    """Make both, and tell what the second cost and what of it is stored. Raises GatewayError where the gateway refuses."""
    first, _ = _respond(gateway, FIRST)
    write(f"5. Respond: {first['id']} is stored; the next request goes on from it, and pays for its words.\n")
    before = gateway.wallet()
    second, receipt = _respond(gateway, {**NEXT, "previous_response_id": first["id"]})
    write(f"   > {NEXT['input']}\n   {second['output'][0]['content'][0]['text']}\n\n")
    rows = [
        ("wallet before", before["availableMicrousd"], ""),
        ("hold", receipt.hold_microusd or 0, "the most this request could cost"),
        ("charge", receipt.charge_microusd or 0, f"for {second['usage']['input_tokens']} tokens in"),
        ("wallet after", gateway.wallet()["availableMicrousd"], ""),
    ]
    write("".join(f"   {line}\n" for line in table(rows)))
    _forget(gateway, write, second["id"], first["id"])


def _respond(gateway: Gateway, body: dict[str, Any]) -> tuple[dict[str, Any], Receipt]:
    headers = call_headers(max_cost_microusd=MAX_COST_MICROUSD, idempotency_key=str(uuid.uuid4()))
    answer = gateway.request("POST", RESPONSES, json=body, headers=headers)
    receipt = Receipt.from_headers(answer.headers)
    if answer.status_code != 200 or receipt is None:
        raise GatewayError.of(answer.status_code, answer.json())
    return answer.json(), receipt


def _forget(gateway: Gateway, write: Callable[[str], object], *response_ids: str) -> None:
    """Read back what the newest response answered, then delete them all."""
    items = gateway.request("GET", f"{RESPONSES}/{response_ids[0]}/input_items").json()["data"]
    write(f"\n   stored with it: {len(items)} items of input, encrypted; deleted now\n")
    for response_id in response_ids:
        gateway.request("DELETE", f"{RESPONSES}/{response_id}")
