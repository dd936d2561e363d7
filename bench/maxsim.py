"""Compares MaxSim with the plain matrix product of the same arrays: `python -m bench.maxsim`.

One query of 32 tokens, 100 documents of 300 tokens, 128 dimensions. The times are the best of many interleaved runs, so
that other load on the machine affects both. Then streams are requested from a server that scores the same documents
continuously off its event loop, as the route does, and their times to the first byte are compared with those of an idle
server.
"""

import asyncio
import sys
import time
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np

from bench.figures import median, percentile
from bench.first_byte import first_byte_seconds
from gateway.core.runtime.offload import offload
from inference.routes.late_interaction.maxsim import Floats, match_documents
from inference.routes.late_interaction.request import Document
from inference.routes.late_interaction.scoring import Tokens, score

QUERY_TOKENS, DOCUMENTS, DOCUMENT_TOKENS, DIMENSIONS = 32, 100, 300, 128
RUNS = 200
TOP_SPANS = 3
WORD = "badger "


def main() -> None:
    """Measure both and print their ratio, MaxSim's memory beside the matrices, and its effect on streams."""
    rng = np.random.default_rng(0)
    query = rng.standard_normal((QUERY_TOKENS, DIMENSIONS)).astype(np.float32)
    tokens = rng.standard_normal((DOCUMENTS * DOCUMENT_TOKENS, DIMENSIONS)).astype(np.float32)
    counts = [DOCUMENT_TOKENS] * DOCUMENTS
    product, maxsim = lambda: tokens @ query.T, lambda: match_documents(query, tokens, counts)
    product_seconds, maxsim_seconds = _best(product, maxsim)
    share = _peak_bytes(maxsim) / (tokens.nbytes + query.nbytes)
    sys.stdout.write(
        f"matrix product {product_seconds * 1e3:6.2f} ms\n"
        f"MaxSim         {maxsim_seconds * 1e3:6.2f} ms, {maxsim_seconds / product_seconds:.2f} times the product\n"
        f"memory         {1 + share:6.2f} times the matrices\n"
    )
    asyncio.run(_compare_first_bytes(query, tokens))


async def _compare_first_bytes(query: Floats, tokens: Floats) -> None:
    offsets = [(at * len(WORD), at * len(WORD) + len(WORD) - 1) for at in range(DOCUMENT_TOKENS)]
    documents = [Document(str(number), WORD * DOCUMENT_TOKENS) for number in range(DOCUMENTS)]
    read = Tokens(tokens, [offsets] * DOCUMENTS)
    idle = await first_byte_seconds()
    busy = await first_byte_seconds(lambda: offload(score, query, documents, read, TOP_SPANS))
    for name, seconds in (("idle", idle), ("beside MaxSim", busy)):
        latencies = f"median {median(seconds) * 1e3:.2f} ms, 99th percentile {percentile(seconds, 99) * 1e3:.2f} ms"
        sys.stdout.write(f"first byte of a stream, {name}: {latencies}\n")


def _best(*functions: Callable[[], Any]) -> list[float]:
    """Return the shortest time of each function, in seconds."""
    best = [float("inf")] * len(functions)
    for _ in range(RUNS):
        for index, function in enumerate(functions):
            begun = time.perf_counter()
            function()
            best[index] = min(best[index], time.perf_counter() - begun)
    return best


def _peak_bytes(function: Callable[[], list[Any]]) -> int:
    """Return the peak memory of a call."""
    tracemalloc.start()
    try:
        function()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


if __name__ == "__main__":
    main()
