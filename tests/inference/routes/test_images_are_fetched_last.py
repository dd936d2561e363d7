"""An image that a request names by URL is fetched once the ledger has nothing against the call, and never before."""

import http.client
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import orjson
import pytest
from django.utils import timezone

from accounts.models import Account
from billing.operations import budgets
from billing.rules.budgets import Subject
from tests.factories.images import PNG
from tests.factories.payments import refund
from tests.inference.calls.test_organizations import World
from tests.support.concurrency import PATIENCE_SECONDS, eventually
from tests.support.image_host import ImageHost, answer
from tests.support.serving import RunningGateway
from tests.support.stage import CHAT, MESSAGE, RESPONSES, Caller, Stage, ask, chat, message

CONTEXT = 3000
BODIES = {CHAT: chat, MESSAGE: message, RESPONSES: ask}


@pytest.fixture(params=[CHAT, MESSAGE, RESPONSES])
def path(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def body(stage: Stage, host: ImageHost, path: str) -> dict[str, Any]:
    """A request that names two images."""
    host.pages["/a"] = answer(PNG)
    alias, url = stage.model(max_output_tokens=20, context_tokens=CONTEXT), host.url("/a")
    parts: dict[str, dict[str, Any]] = {
        CHAT: {"type": "image_url", "image_url": {"url": url}},
        MESSAGE: {"type": "image", "source": {"type": "url", "url": url}},
        RESPONSES: {"type": "input_image", "image_url": url},
    }
    said: list[Any] = [{"role": "user", "content": [parts[path]] * 2}]
    return ask(alias, input=said) if path == RESPONSES else BODIES[path](alias, messages=said)


def refused(response: Any, status: int, code: str) -> None:
    assert (response.status_code, response.json()["error"]["code"]) == (status, code), response.text


def test_not_for_an_empty_wallet(stage: Stage, host: ImageHost, path: str, body: Any) -> None:
    caller = stage.caller(balance=0)
    response = caller.post(body, path=path)
    refused(response, 402, "insufficient_funds")
    needed = response.json()["error"]["details"]["requiredMicrousd"]
    refused(stage.caller(balance=needed - 1).post(body, path=path), 402, "insufficient_funds")
    assert (host.requests, caller.calls) == ([], [])
    exactly = stage.caller(balance=needed)
    assert exactly.post(body, path=path).status_code == 200
    assert exactly.only_call.hold_microusd == needed


def test_not_beyond_a_budget_and_not_without_access(stage: Stage, host: ImageHost, path: str, body: Any) -> None:
    world = World(stage)
    bob = world.context()
    budget = budgets.put(Subject(("organization", world.team.id)), limit_microusd=1, now=timezone.now())
    response = bob.post(body, path=path)
    refused(response, 402, "budget_exceeded")
    assert response.json()["error"]["details"] == {"budgetId": budget.id}
    world.end("no_seat")
    refused(bob.post(body, path=path), 403, "no_seat")
    assert host.requests == []


def test_not_for_a_proof_that_was_taken(stage: Stage, host: ImageHost, path: str, body: Any) -> None:
    caller = stage.caller()
    proof = caller.headers(path)
    assert caller.post(body, path=path, headers=proof).status_code == 200
    assert len(host.requests) == 2
    refused(caller.post(body, path=path, headers=proof), 401, "invalid_dpop_proof")
    refused(caller.post(body, path=path, headers=proof, key="other"), 401, "invalid_dpop_proof")
    assert len(host.requests) == 2
    assert len(caller.calls) == 1


def test_the_proof_is_taken_although_the_image_is_refused(stage: Stage, host: ImageHost, path: str, body: Any) -> None:
    host.pages["/a"] = answer(b"<html>")
    caller = stage.caller()
    proof = caller.headers(path)
    refused(caller.post(body, path=path, key="one", headers=proof), 400, "image_rejected")
    before = len(host.requests)
    refused(caller.post(body, path=path, key="one", headers=proof), 401, "invalid_dpop_proof")
    assert (len(host.requests), caller.calls) == (before, [])
    host.pages["/a"] = answer(PNG)
    assert caller.post(body, path=path, key="one").status_code == 200  # the key is free


def test_not_for_a_suspended_account(stage: Stage, host: ImageHost, path: str, body: Any) -> None:
    caller = stage.caller()
    Account.objects.filter(did=caller.did).update(suspended_at=timezone.now())
    refused(caller.post(body, path=path), 401, "invalid_token")
    assert host.requests == []


def test_not_again_for_a_repeated_request(stage: Stage, host: ImageHost, path: str, body: Any) -> None:
    caller = stage.caller()
    first = caller.post(body, path=path, key="one")
    again = caller.post(body, path=path, key="one")
    assert (again.status_code, again.content) == (200, first.content)
    assert again.headers["idempotent-replayed"] == "true"
    refused(caller.post({**body, "temperature": 0.5}, path=path, key="one"), 422, "idempotency_key_reused")
    assert len(host.requests) == 2
    assert len(stage.upstream.ledger) == 1


def test_not_while_the_first_request_is_in_review(stage: Stage, host: ImageHost, path: str, body: Any) -> None:
    caller = stage.caller()
    lost = {**body, "model": stage.model("usage-missing", max_output_tokens=20, context_tokens=CONTEXT)}
    assert caller.post(lost, path=path, key="one").status_code == 200
    assert caller.only_call.state == "review"
    refused(caller.post(lost, path=path, key="one"), 409, "idempotency_in_progress")
    assert len(host.requests) == 2


@pytest.fixture
def slow(host: ImageHost) -> threading.Event:
    """The first image comes when this is set, the others at once."""
    shown = threading.Event()

    def page(connection: Any) -> None:
        assert shown.wait(PATIENCE_SECONDS)
        connection.sendall(answer(PNG))
        connection.unwrap()

    host.pages["/a"] = page
    return shown


def test_once_for_two_identical_requests_at_once(
    stage: Stage, host: ImageHost, path: str, body: Any, slow: threading.Event
) -> None:
    caller = stage.caller()
    with ThreadPoolExecutor() as threads:
        first = threads.submit(caller.post, body, path=path, key="one")
        eventually(lambda: len(host.requests) == 2)
        second = caller.post(body, path=path, key="one")
        other = caller.post({**body, "temperature": 0.5}, path=path, key="one")
        slow.set()
        assert first.result().status_code == 200
    refused(second, 409, "idempotency_in_progress")
    assert second.json()["error"]["details"] == {"usageId": caller.only_call.id}
    refused(other, 422, "idempotency_key_reused")
    assert len(host.requests) == 2
    assert len(stage.upstream.ledger) == 1


def test_what_ends_meanwhile_is_seen_by_the_hold(
    stage: Stage, host: ImageHost, path: str, body: Any, slow: threading.Event
) -> None:
    def suspend(caller: Caller) -> None:
        Account.objects.filter(did=caller.did).update(suspended_at=timezone.now())

    def spend(caller: Caller) -> None:
        refund(("account", caller.did), 1_000_000)

    for happens, status, code in ((suspend, 401, "invalid_token"), (spend, 402, "insufficient_funds")):
        host.requests.clear()
        slow.clear()
        caller = stage.caller()
        with ThreadPoolExecutor() as threads:
            pending = threads.submit(caller.post, body, path=path)
            eventually(lambda: len(host.requests) == 2)
            happens(caller)
            slow.set()
            refused(pending.result(), status, code)
        assert caller.calls == []
    assert len(stage.upstream.ledger) == 0


def test_a_key_taken_by_another_process_meanwhile_is_seen_by_the_hold(
    stage: Stage, host: ImageHost, path: str, body: Any, slow: threading.Event
) -> None:
    caller, plain = stage.caller(), stage.model(max_output_tokens=20, context_tokens=CONTEXT)
    with RunningGateway() as another, ThreadPoolExecutor() as threads:
        pending = threads.submit(caller.post, body, path=path, key="one")
        eventually(lambda: len(host.requests) == 2)
        home, caller.origin = caller.origin, another.origin
        assert caller.post(BODIES[path](plain), path=path, key="one").status_code == 200
        caller.origin = home
        slow.set()
        refused(pending.result(), 422, "idempotency_key_reused")
    assert len(caller.calls) == 1


def test_several_requests_with_money_for_three_are_three_calls(
    stage: Stage, host: ImageHost, path: str, body: Any
) -> None:
    rich = stage.caller()
    assert rich.post(body, path=path).status_code == 200
    hold = rich.only_call.hold_microusd
    caller = stage.caller(balance=3 * hold)
    slowly = {**body, "model": stage.model("small-1", max_output_tokens=20, context_tokens=CONTEXT)}
    with stage.upstream.holding(), ThreadPoolExecutor(8) as threads:
        pending = [threads.submit(caller.post, slowly, path=path) for _ in range(8)]
        eventually(lambda: sum(one.done() for one in pending) >= 5)
        assert caller.wallet == {"balance": 3 * hold, "held": 3 * hold, "debt": 0}
        stage.upstream.release()
        responses = [one.result() for one in pending]
    assert sorted(one.status_code for one in responses) == [200] * 3 + [402] * 5
    spent = sum(int(one.headers["x-service-charge-microusd"]) for one in responses if one.status_code == 200)
    assert caller.wallet == {"balance": 3 * hold - spent, "held": 0, "debt": 0}


def test_a_client_that_leaves_meanwhile_leaves_nothing_and_its_key_is_free(
    stage: Stage, host: ImageHost, path: str, body: Any, slow: threading.Event
) -> None:
    caller, sent = stage.caller(), orjson.dumps(body)
    headers = {**caller.headers(path), "Idempotency-Key": "one", "x-service-max-cost-microusd": "100000"}
    connection = http.client.HTTPConnection(caller.origin.removeprefix("http://"))
    connection.request("POST", path, sent, {**headers, "Content-Type": "application/json"})
    eventually(lambda: len(host.requests) == 2)
    connection.close()
    slow.set()
    eventually(lambda: caller.post(body, path=path, key="one").status_code == 200)
    assert len(caller.calls) == 1
    assert len(stage.upstream.ledger) == 1
