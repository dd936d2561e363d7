"""Responses that are stored, and their input."""

from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest

from tests.inference.routes.test_responses import READ, respond
from tests.support.concurrency import eventually
from tests.support.stage import RESPONSES, Caller, Stage, ask

HELLO = "Say something about badgers."


@pytest.fixture
def alias(stage: Stage) -> str:
    """Return a model with a small output limit."""
    return stage.model(max_output_tokens=100)


@pytest.fixture
def caller(stage: Stage) -> Caller:
    """Return a caller who may read and delete responses."""
    return stage.caller(scopes=READ)


def made(caller: Caller, alias: str, **members: Any) -> dict[str, Any]:
    """Make a response and return it."""
    answer = respond(caller, ask(alias, **members))
    assert answer.status_code == 200, answer.text
    response: dict[str, Any] = answer.json()
    return response


def listed(caller: Caller, response_id: str, query: str = "") -> Any:
    """Return a list of a response's input items."""
    return caller.get(f"{RESPONSES}/{response_id}/input_items{query}").json()


def sent_while_held(stage: Stage, threads: ThreadPoolExecutor, *call: Any, **members: Any) -> "Future[dict[str, Any]]":
    """Begin to make a response, and return when the upstream has the request."""
    calls = len(stage.upstream.ledger)
    pending = threads.submit(made, *call, **members)
    eventually(lambda: len(stage.upstream.ledger) > calls)
    return pending
