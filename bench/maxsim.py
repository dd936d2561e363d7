"""Compares MaxSim with the bare matrix product of the same arrays: `python -m bench.maxsim`.

One query of 32 tokens, 100 documents of 300 tokens, 128 dimensions. The times are the best of many runs that take turns, so
that whatever else the machine does meets both.
"""

import sys
import time
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np

from inference.routes.late_interaction.maxsim import match_documents

QUERY_TOKENS, DOCUMENTS, DOCUMENT_TOKENS, DIMENSIONS = 32, 100, 300, 128
RUNS = 200


def main() -> None:
    """Measure both and print their ratio, and what MaxSim takes in memory beside the matrices."""
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
    """Return the most memory that a call takes at one time."""
    tracemalloc.start()
    try:
        function()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


if __name__ == "__main__":
    main()
