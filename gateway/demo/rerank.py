"""Reranks three sentences by their relevance to a question."""

from typing import Any

from gateway.demo.client import Gateway
from gateway.demo.paid import Write, call, show_receipt

RERANK = "/v1/rerank"
MAX_COST_MICROUSD = 1_000
QUERY = "What do badgers eat?"
DOCUMENTS = ["Rain is expected on Tuesday.", "Most badgers eat earthworms.", "A gateway meters every call."]
BODY: dict[str, Any] = {"model": "rerank", "query": QUERY, "documents": DOCUMENTS, "return_documents": True}


def show_rerank(gateway: Gateway, write: Write, step: int) -> None:
    """Rerank them, and print the order and the cost. Raises GatewayError if the gateway refuses."""
    write(f"\n{step}. Rerank: sentences in the order of their relevance, paid for by the kilobyte.\n   > {QUERY}\n")
    before = gateway.wallet()
    answer, receipt = call(gateway, RERANK, BODY, max_cost_microusd=MAX_COST_MICROUSD)
    for result in answer["results"]:
        write(f"   {result['relevance_score']:.2f}  {result['document']['text']}\n")
    write("\n")
    show_receipt(gateway, write, before, receipt, f"for {answer['usage']['input_bytes']} bytes")
