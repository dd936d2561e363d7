"""Creates a message, in the shape of another vendor's API, with the same model."""

from typing import Any

from gateway.demo.client import Gateway
from gateway.demo.paid import Write, call, show_receipt

MESSAGES = "/v1/messages"
MAX_COST_MICROUSD = 20_000
QUESTION = "Does the Anthropic SDK work here too?"
BODY: dict[str, Any] = {
    "model": "fast",
    "max_tokens": 200,
    "system": "Answer in one sentence.",
    "messages": [{"role": "user", "content": QUESTION}],
}


def show_messages(gateway: Gateway, write: Write, step: int) -> None:
    """Create a message, and print its text and cost. Raises GatewayError if the gateway refuses."""
    write(
        f"\n{step}. Message: the same model through the Messages API, as the Anthropic SDK calls it.\n   > {QUESTION}\n"
    )
    before = gateway.wallet()
    message, receipt = call(gateway, MESSAGES, BODY, max_cost_microusd=MAX_COST_MICROUSD)
    usage = message["usage"]
    write(f"   {message['content'][0]['text']}\n\n")
    remark = f"for {usage['input_tokens']} tokens in and {usage['output_tokens']} out"
    show_receipt(gateway, write, before, receipt, remark)
