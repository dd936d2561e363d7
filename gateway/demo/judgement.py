"""Judges an answer, and shows the probabilities, the backend's identity and the receipt."""

from typing import Any

from gateway.demo.client import Gateway
from gateway.demo.paid import Write, show_receipt

MAX_COST_MICROUSD = 1_000
STATE = {"source": "The store opens at nine.", "answer": "The store opens at nine in the morning."}
QUESTIONS: dict[str, Any] = {
    "grounded": {"type": "noul", "instructions": "Does the source support the answer that the store opens at nine?"},
    "tone": {
        "type": "choice",
        "instructions": "What is the tone of the answer?",
        "criteria": {"factual": "It opens at nine", "rude": "Go away"},
    },
    "detail": {
        "type": "score",
        "instructions": "How much does it tell?",
        "criteria": {"1": "Nothing", "3": "When the store opens", "5": "When it opens and closes, and where it is"},
    },
}


def show_judgement(gateway: Gateway, write: Write, step: int) -> None:
    """Judge an answer, and print the results and the cost. Raises GatewayError if the gateway refuses."""
    before = gateway.wallet()
    judgement = gateway.judge(STATE, QUESTIONS, max_cost_microusd=MAX_COST_MICROUSD)
    write(
        f"\n{step}. Judge: {judgement.identity} answers typed questions about that text; its thresholds are its own.\n"
    )
    for name, answer in judgement.answers.items():
        shares = ", ".join(f"{label} {share:.2f}" for label, share in answer["probabilities"].items())
        write(f"   {name + ':':<10} {str(answer['answer']).lower():<8} ({shares})\n")
    receipt = judgement.receipt
    assert receipt is not None, "every metered answer names its usage record"
    write("\n")
    show_receipt(gateway, write, before, receipt, f"for {judgement.input_tokens} tokens in")
