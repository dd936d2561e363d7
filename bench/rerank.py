"""Measures the processor time of a request to rerank 1,000 documents: `python -m bench.rerank`.

It covers everything between the body's last byte and the hold's statement: parsing, the digest, every check of the
route, the count of bytes, and the hold.
"""

import asyncio
import os
import time
from datetime import UTC, datetime
from typing import NoReturn

import orjson

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "gateway.settings.development")

from bench.figures import median, percentile
from billing.rules.prices import PriceList
from billing.rules.worst_case import WorstCase
from inference.interface.model import DeploymentTarget, PriceVersion, ServedModel, UpstreamTarget
from inference.metering.bodies import read_json
from inference.routes.rerank.bound import bound_rerank
from inference.routes.rerank.request import read_request
from inference.vendors.voyage.rerank import VoyageRerank

DOCUMENTS = 1_000
ROUNDS = 200
DEPLOYMENT = DeploymentTarget("1", UpstreamTarget("voyage", "voyage", "http://voyage", "key"), "rerank")
LIMITS = {"voyage": VoyageRerank.limits}
WORD = "Badgers dig long setts under hedges and eat earthworms. "


def body(document_bytes: int) -> bytes:
    """Build a request with 1,000 documents of this size."""
    documents = [f"{index} {WORD * 20}"[:document_bytes] for index in range(DOCUMENTS)]
    return orjson.dumps({"model": "rerank", "query": "What do badgers eat?", "documents": documents, "top_n": 10})


class Arrived:
    """A request whose body has arrived."""

    method, raw_path, request_id = "POST", b"/v1/rerank", "req_bench"
    raw_headers = [(b"content-type", b"application/json")]

    def __init__(self, sent: bytes) -> None:
        self._sent = sent

    async def read_body(self, limit_bytes: int) -> bytes:
        return self._sent

    async def read_form(self, limit_bytes: int) -> NoReturn:
        """Refuse: the body is not a form."""
        raise NotImplementedError

    def take_memory(self, size_bytes: int) -> None:
        """Count nothing."""


def price() -> PriceVersion:
    """Return a price per kilobyte."""
    prices = PriceList.parse({"input_kilobyte": "0.02"})
    return PriceVersion(1, datetime.now(UTC), prices, WorstCase.of(prices), {})


async def milliseconds(sent: bytes) -> float:
    """Return the processor time of one request, in milliseconds."""
    model, prices = ServedModel("rerank", deployments=(DEPLOYMENT,)), price()
    before = time.process_time()
    request = read_request(await read_json(Arrived(sent)), model, by_adapter=LIMITS)
    bound_rerank(request, model, prices, 10**9)
    return (time.process_time() - before) * 1000


async def main() -> None:
    """Measure requests of small and of large documents."""
    for document_bytes in (100, 500):
        sent = body(document_bytes)
        taken = sorted([await milliseconds(sent) for _ in range(ROUNDS)])
        case = f"{DOCUMENTS} documents of {document_bytes} bytes"
        print(f"{case}: median {median(taken):.2f} ms, 99th percentile {percentile(taken, 99):.2f} ms")


if __name__ == "__main__":
    asyncio.run(main())
