"""The tour: sign in, ask, show the receipt, ask the same again, go on from a stored response, judge an answer. Each step is
told in one line."""

import uuid
from collections.abc import Callable
from typing import Any

from gateway.demo.call import stream_chat
from gateway.demo.client import Gateway, Receipt
from gateway.demo.judgement import show_judgement
from gateway.demo.money import dollars, table
from gateway.demo.responses import show_responses

MAX_COST_MICROUSD = 20_000
QUESTION = "What does a gateway that meters every call do for me?"
BODY: dict[str, Any] = {
    "model": "fast",
    "messages": [{"role": "user", "content": QUESTION}],
    "max_tokens": 400,
}
SCOPES = ("wallet:read", "usage:read", "infer:fast", "responses:read", "responses:delete", "judgement:evaluate")

Write = Callable[[str], object]


def tour(gateway: Gateway, write: Write) -> None:
    """Make paid calls and a replay of one, and tell each step. Raises GatewayError where the gateway refuses."""
    key = str(uuid.uuid4())
    _sign_in(gateway, write)
    before = gateway.wallet()
    receipt = _ask(gateway, write, key)
    after = gateway.wallet()
    _show_receipt(write, before, receipt, after)
    _ask_again(gateway, write, key, after)
    write("\n")
    show_responses(gateway, write)
    write("\n")
    show_judgement(gateway, write)


def _sign_in(gateway: Gateway, write: Write) -> None:
    account = gateway.account()
    write("1. Sign in: the demo product vouches for an account, and the gateway issues a token bound to our key.\n")
    write(f"   {account['did']}, may {', '.join(account['scopes'])}\n\n")


def _ask(gateway: Gateway, write: Write, key: str) -> Receipt:
    limit = dollars(MAX_COST_MICROUSD)
    write(
        f"2. Ask: one streamed chat request that may cost at most {limit}. The gateway checks that before it sends the request.\n"
    )
    write(f"   > {QUESTION}\n   ")
    receipt = stream_chat(gateway, BODY, max_cost_microusd=MAX_COST_MICROUSD, key=key, say=write)
    write("\n\n")
    return receipt


def _show_receipt(write: Write, before: dict[str, Any], receipt: Receipt, after: dict[str, Any]) -> None:
    write(f"3. Receipt {receipt.usage_id}: the hold was set aside first; then only the charge was taken.\n")
    rows = [
        ("wallet before", before["availableMicrousd"], ""),
        ("hold", receipt.hold_microusd or 0, "the most this request could cost"),
        ("charge", receipt.charge_microusd or 0, "what it cost"),
        ("wallet after", after["availableMicrousd"], ""),
    ]
    for line in table(rows):
        write(f"   {line}\n")
    write("\n")


def _ask_again(gateway: Gateway, write: Write, key: str, before: dict[str, Any]) -> None:
    write("4. Ask again with the same Idempotency-Key: you get the stored answer, and nothing is charged.\n   ")
    receipt = stream_chat(gateway, BODY, max_cost_microusd=MAX_COST_MICROUSD, key=key, say=write)
    after = gateway.wallet()["availableMicrousd"]
    paid = before["availableMicrousd"] - after
    write(f"\n   replayed: {'yes' if receipt.replayed else 'no'}, charged {dollars(paid)}, wallet {dollars(after)}\n")
