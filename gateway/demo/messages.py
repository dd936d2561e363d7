"""Counts the tokens of a message, and creates it."""

from typing import Any

from gateway.demo.client import Gateway
from gateway.demo.paid import Write, call, show_receipt

MESSAGES = "/v1/messages"
MAX_COST_MICROUSD = 20_000
INPUT: dict[str, Any] = {"model": "fast", "messages": [{"role": "user", "content": "What do badgers dig?"}]}


def show_messages(gateway: Gateway, write: Write, step: int) -> None:
    """Create a message, and print its count and its cost. Raises GatewayError if the gateway refuses."""
    counted = gateway.request("POST", f"{MESSAGES}/count_tokens", json=INPUT).json()["input_tokens"]
    write(
        f"\n{step}. Write a message: its input, of at most {counted} tokens, is counted first, which costs nothing.\n"
    )
    before = gateway.wallet()
    message, receipt = call(gateway, MESSAGES, {**INPUT, "max_tokens": 200}, max_cost_microusd=MAX_COST_MICROUSD)
    write(f"   > {INPUT['messages'][0]['content']}\n   {message['content'][0]['text']}\n\n")
    show_receipt(gateway, write, before, receipt, f"for {message['usage']['input_tokens']} tokens in")
