"""Runs the local model in its own thread, one bounded batch at a time, with a bounded queue."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from django.conf import settings

from gateway.core.contract.errors import InputTooLarge, InvalidRequest, UpstreamOverloaded

if TYPE_CHECKING:
    from inference.vendors.demo.local_model.bert import Array
    from inference.vendors.demo.local_model.model import Tokens

NAME = "all-MiniLM-L6-v2"
DIMENSIONS = 384
TOKENS_MAX = 512
CALL_TOKENS_MAX = 8192
"""The most tokens of one call, which take two ordinary cores a few seconds."""
BATCH_TOKENS_MAX = 1024
"""The most tokens of one batch. Other calls get their turn between batches."""
WAITING_MAX = 16

Result = TypeVar("Result")

_thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="local-model")
_waiting: set[object] = set()


@dataclass(frozen=True, slots=True)
class Similarities:
    """The cosine similarity of each document to a query, -1 to 1, and the tokens of the query and of each document."""

    cosines: list[float]
    tokens: list[int]


def is_enabled() -> bool:
    """Return whether the demo is served by the local model."""
    return bool(settings.LOCAL_MODEL)


async def tokens_of(texts: Sequence[str], param: str | None = None) -> "list[Tokens]":
    """Split texts into tokens. Raises InvalidRequest naming `param` if one is longer than the model accepts, InputTooLarge
    if there are too many in all, or UpstreamOverloaded."""
    found = await _run(lambda: _model().tokens(texts))
    for index, tokens in enumerate(found):
        _check_length(tokens, f"Input {index}", param)
    _check_total(found)
    return found


async def vectors_of(texts: "Sequence[Tokens]") -> "list[Array]":
    """Return a vector of length 1 for each text, in order. Raises UpstreamOverloaded."""
    return await _in_batches(texts, lambda batch: list(_model().vectors(batch)))


async def token_vectors_of(texts: "Sequence[Tokens]") -> "list[Array]":
    """Return a matrix for each text, with a row of length 1 for each of its tokens. Raises UpstreamOverloaded."""
    return await _in_batches(texts, lambda batch: _model().token_vectors(batch))


async def similarities(query: str, documents: Sequence[str], *, truncation: bool = False) -> Similarities:
    """Compare each document's vector with the query's. With `truncation`, texts that are too long are truncated; without it,
    they raise InvalidRequest naming the text. Also raises InputTooLarge or UpstreamOverloaded."""
    texts = [query, *documents]
    found = await _run(lambda: _model().tokens(texts))
    if truncation:
        found = [tokens.first(TOKENS_MAX) for tokens in found]
    for index, tokens in enumerate(found):
        _check_length(
            tokens, "The query" if not index else "A document", f"documents.{index - 1}" if index else "query"
        )
    _check_total(found)
    [first, *vectors] = await vectors_of(found)
    return Similarities([float(vector @ first) for vector in vectors], [len(tokens.numbers) for tokens in found])


def _check_length(tokens: "Tokens", named: str, param: str | None) -> None:
    if len(tokens.numbers) > TOKENS_MAX:
        message = f"{named} is longer than the {TOKENS_MAX} tokens that the local model accepts."
        raise InvalidRequest(message, param=param, details={"code": "context_length_exceeded"})


def _check_total(found: "Sequence[Tokens]") -> None:
    if sum(len(tokens.numbers) for tokens in found) > CALL_TOKENS_MAX:
        raise InputTooLarge(f"The local model accepts at most {CALL_TOKENS_MAX} tokens in one request.")


async def _in_batches(texts: "Sequence[Tokens]", compute: "Callable[[Sequence[Tokens]], list[Array]]") -> "list[Array]":
    """Batch texts of similar length, to minimize padding, and return the results in the texts' order."""
    order = sorted(range(len(texts)), key=lambda index: len(texts[index].numbers))
    results: dict[int, Any] = {}
    for indices in _batches(order, texts):
        found = await _run(compute, [texts[index] for index in indices])
        results |= zip(indices, found, strict=True)
    return [results[index] for index in range(len(texts))]


def _batches(order: Sequence[int], texts: "Sequence[Tokens]") -> Iterator[list[int]]:
    """Split ascending lengths into batches of at most `BATCH_TOKENS_MAX` tokens, including padding."""
    batch: list[int] = []
    for index in order:
        if batch and (len(batch) + 1) * len(texts[index].numbers) > BATCH_TOKENS_MAX:
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch


async def _run(work: Callable[..., Result], *args: Any) -> Result:
    """Run work in the model's thread. Raises UpstreamOverloaded if its queue is full."""
    if len(_waiting) >= WAITING_MAX:
        raise UpstreamOverloaded("The local model is busy.", headers={"Retry-After": "1"})
    _waiting.add(place := object())
    try:
        return await asyncio.get_running_loop().run_in_executor(_thread, work, *args)
    finally:
        _waiting.discard(place)


def _model() -> Any:
    from inference.vendors.demo.local_model.model import load  # its libraries are optional

    return load()
