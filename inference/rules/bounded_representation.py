"""The common base of bounded requests for representations."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from billing.rules.prices import PriceList
from billing.rules.quantities import Quantities
from gateway.core.contract.values import value_class
from inference.interface.answer import Answer
from inference.rules.json_body import BoundedJson
from inference.rules.representation import Representation
from inference.rules.usage import read_total

INPUT_OVERHEAD_TOKENS = 32
"""The tokens that a model may add to one input: start and end marks, a sentence that distinguishes queries from
documents, the padding of a short query. Vendors use 2 to 32."""


@value_class(frozen=True)
class BoundedRepresentation(BoundedJson):
    """A request whose response has a manifest. `bound` is the maximum of its input."""

    representation: Representation
    input_type: str | None
    bound: Quantities
    prices: PriceList

    def usage(self, answer: Answer) -> Quantities:
        """Read `input_tokens`, as the endpoints name it; the gateway itself counts bytes and items."""
        usage = answer.usage or {}
        needed = self.prices.needs_token_usage
        tokens = read_total(usage, "input_tokens") if needed else usage.get("input_tokens")
        return replace(self.bound, input_tokens=tokens)

    def stored(self, answer: Answer) -> Mapping[str, Any]:
        """Return the response's facts about the representation if they are new, as members for
        `inference_close_representations`."""
        if self.representation.is_complete:
            return {}
        manifest = answer.body["manifest"]
        stated = {name: manifest[name] for name in ("revision", "dimensions", "normalized")}
        return {"configuration": self.representation.configuration, **stated}


def input_bound(size_bytes: int, inputs: int) -> int:
    """Bound the tokens of inputs by the size of their JSON: no tokenizer makes more tokens than bytes."""
    return size_bytes + inputs * INPUT_OVERHEAD_TOKENS
