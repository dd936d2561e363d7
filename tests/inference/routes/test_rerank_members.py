"""Every member that a provider documents for reranking is in our table, and the page has its limits."""

import inspect
from pathlib import Path

import cohere
import voyageai

from gateway.core.contract.aliases import Route
from inference.endpoints import stated
from inference.routes.rerank.limits import Limits
from inference.routes.rerank.members import RERANK_MEMBERS

PAGE = Path(__file__).resolve().parents[3] / "docs" / "rerank.md"


def test_every_member_of_the_providers_is_in_the_table() -> None:
    clients = (cohere.Client.rerank, cohere.ClientV2.rerank, voyageai.Client.rerank)
    documented = {name for client in clients for name in inspect.signature(client).parameters}
    assert documented - {"self", "request_options"} <= set(RERANK_MEMBERS)


def test_the_page_has_the_limits() -> None:
    text = PAGE.read_text()
    for limits in stated(Route.RERANK, "limits", Limits).values():
        for limit in (limits.documents, limits.query_tokens, limits.pair_tokens, limits.total_tokens):
            assert limit is None or f"{limit:,}" in text
