"""Requests to rerank, the models that serve them, and how a refusal looks."""

from typing import Any

from tests.support.stage import Caller, Stage

PATH = "/v1/rerank"
PRICE = {"input_kilobyte": "20"}
QUERY = "what do badgers eat"
DOCUMENTS = ["rain on tuesday", "badgers eat earthworms", "badgers sleep"]
TEXT_BYTES = sum(map(len, DOCUMENTS))


def rerank(model: str, **members: Any) -> dict[str, Any]:
    """Return a request's body; None leaves a member out."""
    body = {"model": model, "query": QUERY, "documents": DOCUMENTS, **members}
    return {name: value for name, value in body.items() if value is not None}


def row(stage: Stage, adapter: str) -> Any:
    """Return a row for the fake upstream, spoken to as the adapter speaks."""
    return stage.upstream_row(
        adapter=adapter, base_url=stage.upstream.origin if adapter == "cohere" else stage.upstream.base_url
    )


def model_at(stage: Stage, adapter: str = "voyage", **fields: Any) -> str:
    """Return the alias of a new model that reranks at the fake upstream."""
    fields = {"price": PRICE, "options": {"routes": ["rerank"]}, **fields}
    return stage.model("rerank-1", upstream=row(stage, adapter), **fields)


def ask(stage: Stage, adapter: str = "voyage", *, fields: Any = None, **members: Any) -> tuple[Caller, Any]:
    """Rerank with a new caller and a new model; return the caller and the answer."""
    alias, caller = model_at(stage, adapter, **(fields or {})), stage.caller()
    return caller, caller.post(rerank(alias, **members), path=PATH)
