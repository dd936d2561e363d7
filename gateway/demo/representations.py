"""Embeds texts, alone and in the context of their documents, and shows the words that matched a query."""

from typing import Any

from gateway.demo.client import Gateway
from gateway.demo.paid import Write, call, show_receipt

EMBEDDINGS = "/v1/embeddings"
CONTEXTUAL = "/v1/embeddings/contextual"
LATE_INTERACTION = "/v1/late-interaction/score"
MAX_COST_MICROUSD = 1_000
QUERY = "a pet that barks"
TEXTS = ["The dog barked all night.", "Interest rates went up again."]
DOCUMENTS = [{"id": str(index), "text": text} for index, text in enumerate(TEXTS)]


def show_embeddings(gateway: Gateway, write: Write, step: int) -> None:
    """Compare a query with two texts by their vectors. Raises GatewayError if the gateway refuses."""
    write(f"\n{step}. Embed: vectors of texts, with the manifest that says which others they may be compared with.\n")
    write(f"   > {QUERY}\n")
    before = gateway.wallet()
    body = {"model": "embedding", "input": [QUERY, *TEXTS], "input_type": "document"}
    answer, receipt = call(gateway, EMBEDDINGS, body, max_cost_microusd=MAX_COST_MICROUSD)
    query, *vectors = (item["embedding"] for item in answer["data"])
    for text, vector in zip(TEXTS, vectors, strict=True):
        write(f"   {_cosine(query, vector):5.2f}  {text}\n")
    manifest = answer["manifest"]
    write(
        f"   {manifest['dimensions']} dimensions of {manifest['revision']}, manifest {answer['manifest_id'][:12]}...\n\n"
    )
    show_receipt(gateway, write, before, receipt, f"for {answer['usage']['prompt_tokens']} tokens")


def show_contextual(gateway: Gateway, write: Write, step: int) -> None:
    """Embed a document's sentences in their context. Raises GatewayError if the gateway refuses."""
    write(f"\n{step}. Embed in context: each sentence's vector knows of the document around it.\n")
    before = gateway.wallet()
    body: dict[str, Any] = {"model": "embedding-contextual", "input_type": "document", "documents": [TEXTS]}
    body |= {"dimensions": 1024, "quantization": "int8"}
    answer, receipt = call(gateway, CONTEXTUAL, body, max_cost_microusd=MAX_COST_MICROUSD)
    [document] = answer["data"]
    write(f"   1 document, {len(document['data'])} vectors of {answer['manifest']['dimensions']} 8-bit numbers\n\n")
    show_receipt(gateway, write, before, receipt, f"for {answer['usage']['prompt_tokens']} tokens")


def show_late_interaction(gateway: Gateway, write: Write, step: int) -> None:
    """Score two texts and show the words that matched. Raises GatewayError if the gateway refuses."""
    write(f"\n{step}. Score by late interaction: documents with the words that answered the query.\n   > {QUERY}\n")
    before = gateway.wallet()
    body = {"model": "late-interaction", "query": QUERY, "documents": DOCUMENTS, "top_spans": 2}
    answer, receipt = call(gateway, LATE_INTERACTION, body, max_cost_microusd=MAX_COST_MICROUSD)
    for found in answer["data"]:
        text = TEXTS[int(found["id"])]
        words = ", ".join(_of_span(text, span) for span in found["spans"])
        write(f"   {found['score']:5.2f}  {text}  ({words})\n")
    write("\n")
    show_receipt(gateway, write, before, receipt, f"for {answer['usage']['prompt_tokens']} tokens")


def _cosine(one: list[float], other: list[float]) -> float:
    """Return the cosine of two vectors of length 1."""
    return sum(a * b for a, b in zip(one, other, strict=True))


def _of_span(text: str, span: dict[str, Any]) -> str:
    """Return the text in a span; its offsets are UTF-16 code units."""
    return text.encode("utf-16-le")[2 * span["start"] : 2 * span["end"]].decode("utf-16-le")
