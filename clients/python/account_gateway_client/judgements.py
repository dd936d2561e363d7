"""Judgements: typed answers about a state, each with its probabilities, from one version of one backend."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import requests

from account_gateway_client.answers import json_of
from account_gateway_client.receipts import IDEMPOTENCY_KEY, MAX_COST, Receipt, limit_of

if TYPE_CHECKING:
    from typing_extensions import Self  # typing has it from Python 3.11 on

PATH = "/v1/judgement"


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a backend answered. `identity` is its alias and version: thresholds belong to it, and to no other.

    `answers` maps the name of each question to its `type`, `answer` and `probabilities`. `fallback` says who was overloaded
    where another backend has answered, else None. `input_tokens` is None where the backend did not count.
    """

    id: str
    identity: str
    answers: Mapping[str, Mapping[str, Any]]
    fallback: Mapping[str, str] | None
    input_tokens: int | None
    receipt: Receipt | None

    @classmethod
    def of(cls, response: requests.Response) -> "Self":
        """Read an answer. May raise GatewayError."""
        body = json_of(response)
        return cls(
            id=body["id"],
            identity=body["model"],
            answers=body["answers"],
            fallback=body["fallback"],
            input_tokens=body["usage"]["input_tokens"],
            receipt=Receipt.from_headers(response.headers),
        )

    def probability(self, question: str, label: str = "true") -> float:
        """Return the probability of one label; of a noul, that it is true."""
        return float(self.answers[question]["probabilities"][label])


def request_of(
    state: str | Mapping[str, str],
    questions: Mapping[str, Mapping[str, Any]],
    *,
    max_cost_microusd: int,
    model: str | None,
    images: Sequence[str],
    allow_fallback: bool,
    idempotency_key: str | None,
) -> dict[str, Any]:
    """Return the body and headers of a judgement, as `requests` takes them."""
    body: dict[str, Any] = {"state": state, "questions": questions}
    body |= {"model": model} if model else {}
    body |= {"images": list(images)} if images else {}
    body |= {"allow_fallback": True} if allow_fallback else {}
    headers = {MAX_COST: limit_of(max_cost_microusd)}
    return {"json": body, "headers": headers | ({IDEMPOTENCY_KEY: idempotency_key} if idempotency_key else {})}
