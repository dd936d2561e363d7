"""Creates two responses, the second of which continues the first by its id."""

from typing import Any

from gateway.demo.client import Gateway
from gateway.demo.paid import Write, call, show_receipt

RESPONSES = "/v1/responses"
MAX_COST_MICROUSD = 20_000
FIRST: dict[str, Any] = {"model": "fast", "input": "Remember the word badger.", "max_output_tokens": 200}
NEXT: dict[str, Any] = {"model": "fast", "input": "Which word did I ask you to remember?", "max_output_tokens": 200}


def show_responses(gateway: Gateway, write: Write, step: int) -> None:
    """Create both, and print the cost of the second and what is stored with it. Raises GatewayError if the gateway
    refuses."""
    first, _ = call(gateway, RESPONSES, FIRST, max_cost_microusd=MAX_COST_MICROUSD)
    write(
        f"\n{step}. Respond: {first['id']} is stored; the next request continues it, and is charged for its context.\n"
    )
    before = gateway.wallet()
    following = {**NEXT, "previous_response_id": first["id"]}
    second, receipt = call(gateway, RESPONSES, following, max_cost_microusd=MAX_COST_MICROUSD)
    write(f"   > {NEXT['input']}\n   {second['output'][0]['content'][0]['text']}\n\n")
    show_receipt(gateway, write, before, receipt, f"for {second['usage']['input_tokens']} tokens in")
    _forget(gateway, write, second["id"], first["id"])


def _forget(gateway: Gateway, write: Write, *response_ids: str) -> None:
    """Read back the stored input of the newest response, then delete them all."""
    items = gateway.request("GET", f"{RESPONSES}/{response_ids[0]}/input_items").json()["data"]
    write(f"\n   stored with it: {len(items)} items of input, encrypted; deleted now\n")
    for response_id in response_ids:
        gateway.request("DELETE", f"{RESPONSES}/{response_id}")
