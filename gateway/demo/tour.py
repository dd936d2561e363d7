"""The tour: signs in, makes a call, shows the receipt, repeats the call, then calls each other model route once."""

import uuid
from typing import Any

from gateway.demo.audio import show_audio
from gateway.demo.call import stream_chat
from gateway.demo.client import Gateway, Receipt
from gateway.demo.images import show_images
from gateway.demo.judgement import show_judgement
from gateway.demo.messages import show_messages
from gateway.demo.money import dollars
from gateway.demo.paid import Write, show_receipt
from gateway.demo.realtime import show_realtime
from gateway.demo.representations import show_contextual, show_embeddings, show_late_interaction
from gateway.demo.rerank import show_rerank
from gateway.demo.responses import show_responses
from gateway.demo.sandbox import RIGHTS as SANDBOX_RIGHTS
from gateway.demo.sandbox import show_sandbox

MAX_COST_MICROUSD = 20_000
QUESTION = "What does a gateway that meters every call do for me?"
BODY: dict[str, Any] = {
    "model": "fast",
    "messages": [{"role": "user", "content": QUESTION}],
    "max_tokens": 400,
}
MODELS = ("fast", "embedding", "embedding-contextual", "late-interaction", "rerank", "image", "audio", "realtime")
RIGHTS = ("wallet:read", "usage:read", "responses:read", "responses:delete", "judgement:evaluate", "realtime:connect")
SCOPES = (*RIGHTS, *SANDBOX_RIGHTS, *(f"infer:{model}" for model in MODELS))
CONSENTS = ("realtime",)
"""The consents of the person, as stated by the product."""
STEPS = (
    show_responses,
    show_messages,
    show_embeddings,
    show_contextual,
    show_late_interaction,
    show_rerank,
    show_images,
    show_audio,
    show_judgement,
    show_realtime,
    show_sandbox,
)
"""The steps after the chat, each with its number."""


def tour(gateway: Gateway, write: Write) -> None:
    """Make paid calls and replay one, and print each step. Raises GatewayError if the gateway refuses."""
    key = str(uuid.uuid4())
    _sign_in(gateway, write)
    before = gateway.wallet()
    receipt = _ask(gateway, write, key)
    write(f"3. Receipt {receipt.usage_id}: the hold was set aside first; then only the charge was taken.\n")
    show_receipt(gateway, write, before, receipt, "what it cost")
    write("\n")
    _ask_again(gateway, write, key)
    for step, show in enumerate(STEPS, 5):
        show(gateway, write, step)


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


def _ask_again(gateway: Gateway, write: Write, key: str) -> None:
    before = gateway.wallet()
    write("4. Ask again with the same Idempotency-Key: you get the stored answer, and nothing is charged.\n   ")
    receipt = stream_chat(gateway, BODY, max_cost_microusd=MAX_COST_MICROUSD, key=key, say=write)
    after = gateway.wallet()["availableMicrousd"]
    paid = before["availableMicrousd"] - after
    write(f"\n   replayed: {'yes' if receipt.replayed else 'no'}, charged {dollars(paid)}, wallet {dollars(after)}\n")
