"""`POST /v1/embeddings`, plain: the vendor's request, metered by its tokens."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from billing.rules.prices import PriceBook
from billing.rules.quantities import Quantities
from gateway.contract.aliases import Route
from gateway.contract.errors import InvalidRequest, ModelUnavailable
from gateway.contract.limits import MODEL_BODY_MAX_BYTES
from inference.rules.delivery import tokens_of_bytes
from inference.rules.demand import Demand
from inference.rules.members import read_count, refuse_members
from inference.rules.model import ServedModel
from inference.rules.usage import read_total

INPUTS_MAX = 2048
DIMENSIONS_MAX = 65_536
REPRESENTATION_MEMBERS = ("input_type", "manifest_id", "truncation")


class EmbeddingRules:
    """Metered by input tokens, by kilobytes of input, by item or by request, as the alias's price says."""

    route = Route.EMBEDDINGS
    body_max_bytes = MODEL_BODY_MAX_BYTES
    id_prefix = "emb"

    def read(self, body: Mapping[str, Any], size_bytes: int, model: ServedModel) -> Demand:
        """Validate an embedding request, or raise InvalidRequest naming the member at fault."""
        refuse_members(body)
        inputs = _inputs(body.get("input"))
        read_count(body, "dimensions", most=DIMENSIONS_MAX)
        if body.get("encoding_format") not in (None, "float", "base64"):
            raise InvalidRequest("encoding_format must be float or base64.", param="encoding_format")
        if any(body.get(name) is not None for name in REPRESENTATION_MEMBERS):
            raise ModelUnavailable("This model has no representation upstream.")
        input_bytes = sum(_bytes_of(item) for item in inputs)
        tokens = sum(len(item) if isinstance(item, list) else tokens_of_bytes(len(item.encode())) for item in inputs)
        bound = Quantities(input_tokens=size_bytes, input_bytes=input_bytes, items=len(inputs))
        return Demand(body=body, bound=bound, estimate=replace(bound, input_tokens=tokens))

    def read_usage(self, usage: Mapping[str, Any], demand: Demand, prices: PriceBook) -> Quantities:
        """Read `prompt_tokens`; bytes and items are our own count."""
        tokens = read_total(usage, "prompt_tokens") if prices.needs_token_usage else usage.get("prompt_tokens")
        return replace(demand.bound, input_tokens=tokens)

    def as_events(self, body: Mapping[str, Any], demand: Demand) -> bytes:
        """Refuse: embeddings do not stream."""
        raise NotImplementedError


def _inputs(sent: Any) -> list[Any]:
    """Read `input` as a list of texts or of token lists: one text, one token list, or several of either."""
    inputs = [sent] if isinstance(sent, str) or _is_tokens(sent) else sent
    if not isinstance(inputs, list) or not 1 <= len(inputs) <= INPUTS_MAX:
        raise InvalidRequest(f"input must be a text, or a list of 1 to {INPUTS_MAX} texts.", param="input")
    for index, item in enumerate(inputs):
        if not (isinstance(item, str) or _is_tokens(item)) or not item:
            raise InvalidRequest("An input must be a text or a list of tokens, and not empty.", param=f"input.{index}")
    return inputs


def _is_tokens(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(type(token) is int and token >= 0 for token in value)


def _bytes_of(item: Any) -> int:
    return len(item.encode()) if isinstance(item, str) else sum(len(str(token)) + 1 for token in item)
