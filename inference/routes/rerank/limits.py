"""The limits of a provider for one request, and the check of a request's bytes against them.

No tokenizer makes more tokens of a text than it has bytes, so a request that fits by its bytes fits by its tokens. The
provider reads the query once with every document (a pair), and counts it each time.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gateway.core.contract.errors import InputTooLarge, ModelUnavailable
from inference.interface.model import ServedModel

RESERVED_TOKENS = 4
"""The tokens that a model adds to a pair: the marks before, between and after its texts."""


@dataclass(frozen=True, slots=True)
class Limits:
    """A provider's limits in tokens, which its endpoint states for its current models. `truncates`: it supports truncating a query or document that is too long.

    `total_tokens` is None if the provider limits only pairs.
    """

    documents: int
    query_tokens: int
    pair_tokens: int
    total_tokens: int | None
    truncates: bool


def limits_of(model: ServedModel, by_adapter: Mapping[str, Limits]) -> Limits:
    """Return the lowest limits of the providers that serve a model, so that the result does not depend on which is
    chosen.

    The alias's `context_tokens`, if set, replaces the limit of a pair. Adapters without limits do not serve this route.
    Raises ModelUnavailable if no other is left.
    """
    found = [by_adapter[at.upstream.adapter] for at in model.deployments if at.upstream.adapter in by_adapter]
    if not found:
        raise ModelUnavailable("No upstream of this model serves reranking.")
    totals = [each.total_tokens for each in found if each.total_tokens is not None]
    pair_tokens = model.context_tokens or min(each.pair_tokens for each in found)
    return Limits(
        documents=min(each.documents for each in found),
        query_tokens=min(pair_tokens, *(each.query_tokens for each in found)),
        pair_tokens=pair_tokens,
        total_tokens=min(totals, default=None),
        truncates=all(each.truncates for each in found),
    )


def bound_tokens(limits: Limits, query_bytes: int, document_bytes: Sequence[int], *, truncation: bool) -> int:
    """Return the maximum tokens of a request. Raises InputTooLarge naming the member at fault.

    `query_bytes` include the instruction. With `truncation` the provider truncates each text to its limit.
    """
    if len(document_bytes) > limits.documents:
        raise InputTooLarge(f"At most {limits.documents} documents can be reranked at once.", param="documents")
    query = min(query_bytes, limits.query_tokens) if truncation else query_bytes
    longest = limits.pair_tokens - RESERVED_TOKENS - query
    if truncation:
        document_bytes = [min(size, max(longest, 0)) for size in document_bytes]
    else:
        _check_pairs(limits, query, longest, document_bytes)
    total = (query + RESERVED_TOKENS) * len(document_bytes) + sum(document_bytes)
    if limits.total_tokens is not None and total > limits.total_tokens:
        message = f"All documents, with the query once for each, may have {limits.total_tokens} bytes together."
        raise InputTooLarge(message, param="documents")
    return total


def _check_pairs(limits: Limits, query: int, longest: int, document_bytes: Sequence[int]) -> None:
    if query > limits.query_tokens:
        message = f"The query and the instruction may have {limits.query_tokens} bytes together."
        raise InputTooLarge(message, param="query")
    for index, size in enumerate(document_bytes):
        if size > longest:
            message = f"A document may have {max(longest, 0)} bytes with this query and instruction."
            raise InputTooLarge(message, param=f"documents.{index}")
