"""Stored responses: continued, read, listed, deleted, expired, and never another owner's."""

from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from io import StringIO
from typing import Any

import orjson
import pytest
from cryptography.fernet import Fernet
from django.core.management import call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import Account
from billing.models import StoredReplay
from billing.operations import closings
from billing.operations.closings import OpenCall
from gateway.core import fields
from gateway.core.api import logs
from gateway.management.commands import reencrypt
from inference.metering.journal import CLOSING_MAX_BYTES
from inference.models import StoredResponse
from inference.operations import stored_responses
from inference.routes.responses import record
from inference.routes.responses.route import CLOSE_AND_STORE
from tests.factories.proofs import mint_token
from tests.inference.calls.test_disconnects import settled
from tests.inference.calls.test_organizations import World
from tests.inference.routes.test_responses import READ, respond
from tests.support.concurrency import eventually
from tests.support.stage import RESPONSES, Caller, Stage, ask
from tests.support.upstream.tokens import count_text

HELLO = "Say something about badgers."


@pytest.fixture
def alias(stage: Stage) -> str:
    return stage.model(max_output_tokens=100)


@pytest.fixture
def caller(stage: Stage) -> Caller:
    return stage.caller(scopes=READ)


def made(caller: Caller, alias: str, **members: Any) -> dict[str, Any]:
    """Make a response."""
    answer = respond(caller, ask(alias, **members))
    assert answer.status_code == 200, answer.text
    response: dict[str, Any] = answer.json()
    return response


def listed(caller: Caller, response_id: str, query: str = "") -> Any:
    """List a response's input."""
    return caller.get(f"{RESPONSES}/{response_id}/input_items{query}").json()


def test_a_response_is_read_as_its_caller_got_it(caller: Caller, alias: str) -> None:
    response = made(caller, alias, metadata={"topic": "badgers"})
    read = caller.get(f"{RESPONSES}/{response['id']}")
    assert (read.status_code, read.json()) == (200, response)
    assert response["metadata"] == {"topic": "badgers"}


def test_what_is_not_to_be_stored_is_not(caller: Caller, alias: str) -> None:
    response = made(caller, alias, store=False)
    assert response["store"] is False
    assert caller.get(f"{RESPONSES}/{response['id']}").status_code == 404
    assert not StoredResponse.objects.filter(pk=response["id"]).exists()


def test_a_response_is_continued_from_our_record_and_its_words_are_paid_for(
    stage: Stage, caller: Caller, alias: str
) -> None:
    first = made(caller, alias, instructions="Be brief.")
    second = made(caller, alias, input="And otters?", previous_response_id=first["id"])
    assert second["previous_response_id"] == first["id"]
    sent = stage.upstream.ledger.entries[-1].body
    assert "previous_response_id" not in sent
    assert "instructions" not in sent
    assert sent["store"] is False
    said = first["output"][0]["content"][0]["text"]
    assert [item["role"] for item in sent["input"]] == ["user", "assistant", "user"]
    assert [item["content"][0]["text"] for item in sent["input"]] == [HELLO, said, "And otters?"]
    assert not any("id" in item for item in sent["input"])
    tokens = count_text(HELLO) + count_text(said) + count_text("And otters?")
    assert second["usage"]["input_tokens"] == tokens
    held = [call.hold_microusd for call in caller.calls]
    assert held[1] > held[0] + len(said) * 150_000 // 10**6


def test_a_conversation_goes_on_when_its_beginning_is_deleted(stage: Stage, caller: Caller, alias: str) -> None:
    first = made(caller, alias)
    second = made(caller, alias, input="Two", previous_response_id=first["id"])
    assert caller.delete(f"{RESPONSES}/{first['id']}").status_code == 200
    third = made(caller, alias, input="Three", previous_response_id=second["id"])
    assert [item["role"] for item in stage.upstream.ledger.entries[-1].body["input"]] == [
        "user", "assistant", "user", "assistant", "user"
    ]  # fmt: skip
    assert listed(caller, third["id"])["data"][0]["content"] == [{"type": "input_text", "text": "Three"}]


def test_delete_says_so_and_is_for_good(caller: Caller, alias: str) -> None:
    response = made(caller, alias)
    gone = caller.delete(f"{RESPONSES}/{response['id']}")
    assert (gone.status_code, gone.json()) == (200, {"id": response["id"], "object": "response", "deleted": True})
    for answer in (
        caller.delete(f"{RESPONSES}/{response['id']}"),
        caller.get(f"{RESPONSES}/{response['id']}"),
        caller.get(f"{RESPONSES}/{response['id']}/input_items"),
        respond(caller, ask(alias, previous_response_id=response["id"])),
    ):
        assert (answer.status_code, answer.json()["error"]["code"]) == (404, "not_found")


def test_a_response_of_somebody_else_is_not_there(stage: Stage, caller: Caller, alias: str) -> None:
    response, other = made(caller, alias), stage.caller(scopes=READ)
    sent = len(stage.upstream.ledger)
    for answer in (
        other.get(f"{RESPONSES}/{response['id']}"),
        other.get(f"{RESPONSES}/{response['id']}/input_items"),
        other.delete(f"{RESPONSES}/{response['id']}"),
    ):
        assert (answer.status_code, answer.json()["error"]["code"]) == (404, "not_found")
    refused = respond(other, ask(alias, previous_response_id=response["id"]))
    assert (refused.status_code, refused.json()["error"]["param"]) == (404, "previous_response_id")
    assert (other.calls, len(stage.upstream.ledger)) == ([], sent)
    assert caller.get(f"{RESPONSES}/{response['id']}").status_code == 200


def test_an_expired_response_is_gone_at_once_and_purged_by_the_job(caller: Caller, alias: str) -> None:
    response, kept = made(caller, alias), made(caller, alias)
    row = StoredResponse.objects.get(pk=response["id"])
    assert row.expires_at - row.created_at == timedelta(days=30)
    now = timezone.now()
    StoredResponse.objects.filter(pk=row.pk).update(expires_at=now - timedelta(seconds=1))
    assert caller.get(f"{RESPONSES}/{row.pk}").status_code == 404
    assert respond(caller, ask(alias, previous_response_id=row.pk)).status_code == 404
    assert stored_responses.purge(now=now) == 1
    assert not StoredResponse.objects.filter(pk=row.pk).exists()
    assert StoredResponse.objects.filter(pk=kept["id"]).exists()


def test_nothing_of_a_conversation_rests_in_the_clear(caller: Caller, alias: str) -> None:
    response = made(caller, alias, input="xylophone secrets", metadata={"a": "zebra crossing"})
    with connection.cursor() as cursor:
        cursor.execute("SELECT s::text FROM inference_stored_response s WHERE id = %s", [response["id"]])
        [(row,)] = cursor.fetchall()
    assert response["id"] in row
    assert not [word for word in ("xylophone", "zebra", "badgers", "quick brown") if word in row]


def test_input_items_are_listed_in_pages(caller: Caller, alias: str) -> None:
    items = [{"role": "user", "content": f"Word {number}"} for number in range(5)]
    response = made(caller, alias, input=items)
    page = listed(caller, response["id"], "?limit=2&order=asc")
    texts = [item["content"][0]["text"] for item in page["data"]]
    assert (page["object"], texts, page["has_more"]) == ("list", ["Word 0", "Word 1"], True)
    assert (page["first_id"], page["last_id"]) == (page["data"][0]["id"], page["data"][1]["id"])
    rest = listed(caller, response["id"], f"?order=asc&after={page['last_id']}")
    assert [item["content"][0]["text"] for item in rest["data"]] == ["Word 2", "Word 3", "Word 4"]
    assert rest["has_more"] is False
    newest = listed(caller, response["id"])
    assert [item["content"][0]["text"] for item in newest["data"]][:2] == ["Word 4", "Word 3"]
    assert {item["type"] for item in newest["data"]} == {"message"}


@pytest.mark.parametrize("query", ["limit=0", "limit=101", "limit=x", "order=up", "after=msg_nobody"])
def test_a_page_that_cannot_be_is_refused(caller: Caller, alias: str, query: str) -> None:
    response = made(caller, alias)
    refused = caller.get(f"{RESPONSES}/{response['id']}/input_items?{query}")
    assert (refused.status_code, refused.json()["error"]["param"]) == (400, query.partition("=")[0])


@pytest.mark.parametrize("wanted", ["resp_nobody", "", "\x00", "x" * 5000, "ä", 7, {"id": "x"}])
def test_an_id_that_cannot_be_is_refused_before_anything_is_held(stage: Stage, caller: Caller, wanted: Any) -> None:
    alias = stage.model(max_output_tokens=100)
    refused = respond(caller, ask(alias, previous_response_id=wanted))
    assert refused.status_code == (404 if isinstance(wanted, str) else 400)
    assert refused.json()["error"]["param"] == "previous_response_id"
    assert (caller.calls, len(stage.upstream.ledger)) == ([], 0)


def test_items_with_the_same_id_are_listed_once_each(caller: Caller, alias: str) -> None:
    said = [{"role": "user", "content": text, "id": "msg_same"} for text in ("One", "Two", "Three")]
    response, found, query = made(caller, alias, input=said), list[str](), "?order=asc&limit=1"
    for _ in said:
        page = listed(caller, response["id"], query)
        found.append(page["data"][0]["content"][0]["text"])
        query = f"?order=asc&limit=1&after={page['last_id']}"
    assert (found, page["has_more"]) == (["One", "Two", "Three"], False)


def test_each_scope_is_needed(stage: Stage, caller: Caller, alias: str) -> None:
    response = made(caller, alias)
    bare = stage.caller()
    for answer in (bare.get(f"{RESPONSES}/{response['id']}"), bare.delete(f"{RESPONSES}/{response['id']}")):
        assert (answer.status_code, answer.json()["error"]["code"]) == (403, "insufficient_scope")


def test_a_repeated_request_is_stored_once(caller: Caller, alias: str) -> None:
    first, again = (respond(caller, ask(alias), key="same") for _ in range(2))
    assert again.content == first.content
    assert StoredResponse.objects.filter(owner_key=caller.did).count() == 1


def test_a_repeated_continuation_gets_its_answer_although_its_beginning_is_gone(caller: Caller, alias: str) -> None:
    body = ask(alias, previous_response_id=made(caller, alias)["id"])
    first = respond(caller, body, key="same")
    caller.delete(f"{RESPONSES}/{body['previous_response_id']}")
    again = respond(caller, body, key="same")
    assert (again.status_code, again.content) == (200, first.content)


def test_a_call_that_was_refused_stores_nothing(stage: Stage, caller: Caller) -> None:
    respond(caller, ask(stage.model("reject-parameter", max_output_tokens=9)))
    assert not StoredResponse.objects.filter(owner_key=caller.did).exists()


def test_an_answer_whose_charge_is_in_review_is_stored_all_the_same(stage: Stage, caller: Caller) -> None:
    answer = respond(caller, ask(stage.model("usage-missing", max_output_tokens=20)))
    assert (answer.status_code, answer.json()["usage"]) == (200, None)
    assert caller.only_call.state == "review"
    assert caller.get(f"{RESPONSES}/{answer.json()['id']}").json() == answer.json()


def sent_while_held(stage: Stage, threads: ThreadPoolExecutor, *call: Any, **members: Any) -> "Future[dict[str, Any]]":
    """Begin to make a response, and return when the upstream has the request."""
    calls = len(stage.upstream.ledger)
    pending = threads.submit(made, *call, **members)
    eventually(lambda: len(stage.upstream.ledger) > calls)
    return pending


def test_a_continuation_goes_on_although_its_beginning_is_deleted_meanwhile(
    stage: Stage, caller: Caller, alias: str
) -> None:
    first = made(caller, alias)
    with ThreadPoolExecutor() as threads:
        with stage.upstream.holding():
            pending = sent_while_held(stage, threads, caller, alias, input="Two", previous_response_id=first["id"])
            assert caller.delete(f"{RESPONSES}/{first['id']}").status_code == 200
        second = pending.result()
    texts = [item["content"][0]["text"] for item in listed(caller, second["id"], "?order=asc")["data"]]
    assert texts == [HELLO, first["output"][0]["content"][0]["text"], "Two"]


def test_the_memory_of_conversations_is_counted(stage: Stage, caller: Caller, alias: str, settings: Any) -> None:
    first = made(caller, alias, input="a" * 190_000)
    settings.LARGE_BODIES_MAX_BYTES = 900_000
    goes_on = {"input": "And?", "previous_response_id": first["id"]}
    with ThreadPoolExecutor() as threads:
        with stage.upstream.holding():
            pending = sent_while_held(stage, threads, caller, alias, **goes_on)
            refused = respond(caller, ask(alias, **goes_on))
            assert (refused.status_code, refused.json()["error"]["code"]) == (503, "not_ready")
            assert len(caller.calls) == 2
        assert pending.result()["status"] == "completed"
    assert made(caller, alias, **goes_on)["status"] == "completed"


def test_a_conversation_is_counted_before_it_is_read(stage: Stage, caller: Caller, alias: str, settings: Any) -> None:
    first = made(caller, alias, input="a" * 190_000)
    StoredResponse.objects.filter(id=first["id"]).update(input_items="b" * 190_000)  # reading it would fail
    settings.LARGE_BODIES_MAX_BYTES = 900_000
    with ThreadPoolExecutor() as threads, stage.upstream.holding():
        sent_while_held(stage, threads, caller, alias, input="a" * 400_000)
        refused = respond(caller, ask(alias, input="And?", previous_response_id=first["id"]))
        assert (refused.status_code, refused.json()["error"]["code"]) == (503, "not_ready")


def test_under_an_organizations_token_a_response_is_the_organizations(stage: Stage) -> None:
    world, alias = World(stage), stage.model(max_output_tokens=30)
    own = stage.caller(scopes=READ)
    world.assign(world.join(own))
    at_work, stranger = world.context(own), stage.caller(scopes=READ)
    for maker, others in ((at_work, (own, stranger)), (own, (at_work, stranger))):
        response = made(maker, alias)
        assert maker.get(f"{RESPONSES}/{response['id']}").json() == response
        for other in others:
            assert other.get(f"{RESPONSES}/{response['id']}").status_code == 404
            assert other.delete(f"{RESPONSES}/{response['id']}").status_code == 404
            assert respond(other, ask(alias, previous_response_id=response["id"])).status_code == 404
    colleague = stage.caller(scopes=READ)
    world.assign(world.join(colleague))
    shared = made(at_work, alias)
    assert world.context(colleague).get(f"{RESPONSES}/{shared['id']}").json() == shared
    assert {row.owner_kind for row in StoredResponse.objects.filter(owner_key=world.team.id)} == {"organization"}


def test_whose_access_has_ended_reads_nothing_of_the_organization(stage: Stage) -> None:
    world, alias = World(stage), stage.model(max_output_tokens=30)
    own = replace(world.own, token=mint_token(world.own.did, READ, world.own.signer))
    at_work = world.context(own)
    response = made(at_work, alias)
    world.end("no_seat")
    for answer in (
        at_work.get(f"{RESPONSES}/{response['id']}"),
        at_work.delete(f"{RESPONSES}/{response['id']}"),
        respond(at_work, ask(alias, previous_response_id=response["id"])),
    ):
        assert (answer.status_code, answer.json()["error"]["code"]) == (403, "no_seat")
    assert StoredResponse.objects.filter(pk=response["id"]).exists()


def test_a_stream_whose_access_ends_fails_and_is_stored_so(stage: Stage, settings: Any) -> None:
    settings.STREAM_CHECKPOINT_SECONDS = 0.2
    caller = stage.caller(scopes=READ)
    alias = stage.model("small-1?tokens=400&token_delay_ms=20", max_output_tokens=500)
    with caller.stream(ask(alias), path=RESPONSES) as answer:
        lines = answer.iter_lines()
        next(lines)
        Account.objects.filter(did=caller.did).update(suspended_at=timezone.now())
        events = [orjson.loads(line.removeprefix("data: ")) for line in lines if line.startswith("data: ")]
    error, last = events[-2:]
    assert (error["code"], last["type"]) == ("invalid_token", "response.failed")
    call = caller.only_call
    assert (call.state, call.usage_record.basis) == ("settled", "delivered")
    [row] = StoredResponse.objects.filter(owner_key=caller.did)
    assert (row.status, orjson.loads(row.response)) == ("failed", last["response"])


def test_a_stream_whose_client_leaves_is_stored_as_failed_with_what_had_come(stage: Stage, caller: Caller) -> None:
    alias = stage.model("small-1?tokens=400&token_delay_ms=20", max_output_tokens=500)
    with caller.stream(ask(alias), path=RESPONSES) as answer:
        for line in answer.iter_lines():
            if '"response.output_text.delta"' in line:
                break
    eventually(lambda: settled(caller))
    [row] = StoredResponse.objects.filter(owner_key=caller.did)
    response = caller.get(f"{RESPONSES}/{row.pk}").json()
    assert (response["status"], response["output"][0]["status"]) == ("failed", "incomplete")
    assert response["output"][0]["content"][0]["text"].startswith("the")


def test_a_conversation_may_grow_to_the_size_of_a_body(stage: Stage, caller: Caller, alias: str) -> None:
    wide = stage.model(max_output_tokens=20, context_tokens=1_000, price={"request": "5"})
    first = made(caller, wide, input="a" * 9_000_000)
    refused = respond(caller, ask(wide, input="b" * 8_000_000, previous_response_id=first["id"]))
    assert (refused.status_code, refused.json()["error"]["code"]) == (413, "input_too_large")
    assert refused.json()["error"]["param"] == "previous_response_id"
    assert len(caller.calls) == 1
    assert made(caller, wide, input="b" * 1_000_000, previous_response_id=first["id"])["status"] == "completed"


def test_a_response_that_is_too_long_is_answered_and_not_stored(
    caller: Caller, alias: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(record, "RESPONSE_MAX_BYTES", 300)
    response = made(caller, alias)
    assert (response["status"], response["store"]) == ("completed", False)
    assert caller.get(f"{RESPONSES}/{response['id']}").status_code == 404


@pytest.mark.parametrize("streams", [False, True])
def test_a_response_that_cannot_be_kept_is_answered_and_does_not_say_that_it_was(
    caller: Caller, alias: str, monkeypatch: pytest.MonkeyPatch, streams: bool
) -> None:
    def encrypt_bytes(data: bytes) -> bytes:
        if b'"object":"response"' in data:
            raise ValueError("no key")
        return fields.encrypt_bytes(data)

    monkeypatch.setattr(record, "encrypt_bytes", encrypt_bytes)
    told = respond(caller, ask(alias, stream=streams))
    assert told.status_code == 200
    response = orjson.loads(told.content) if not streams else last_event(told.text)["response"]
    assert (response["status"], response["store"]) == ("completed", False)
    assert caller.get(f"{RESPONSES}/{response['id']}").status_code == 404
    assert caller.only_call.state == "settled"


def last_event(text: str) -> Any:
    return orjson.loads([line for line in text.splitlines() if line.startswith("data: ")][-1][len("data: ") :])


def test_a_response_whose_key_is_lost_cannot_be_read_and_the_operator_is_told(
    caller: Caller, alias: str, settings: Any, caplog: pytest.LogCaptureFixture
) -> None:
    response, keys = made(caller, alias), settings.FIELD_ENCRYPTION_KEYS
    paths = f"{RESPONSES}/{response['id']}", f"{RESPONSES}/{response['id']}/input_items"
    logs.forget()
    settings.FIELD_ENCRYPTION_KEYS = [Fernet.generate_key().decode()]
    goes_on = ask(alias, previous_response_id=response["id"])
    for answer, param in (
        (caller.get(paths[0]), None),
        (caller.get(paths[1]), None),
        (respond(caller, goes_on), "previous_response_id"),
    ):
        error = answer.json()["error"]
        assert (answer.status_code, error["code"], error["param"]) == (503, "not_ready", param)
    [line] = [entry for entry in caplog.records if entry.name == "inference.stored_responses"]
    assert "FIELD_ENCRYPTION_KEYS" in line.getMessage()
    assert len(caller.calls) == 1
    assert caller.delete(paths[0]).status_code == 200
    settings.FIELD_ENCRYPTION_KEYS = keys
    assert caller.get(paths[0]).status_code == 404


def test_the_answer_of_a_repeated_request_is_deleted_with_its_response(
    stage: Stage, caller: Caller, alias: str
) -> None:
    response = respond(caller, ask(alias), key="one").json()
    other = respond(caller, ask(alias), key="other").json()
    assert caller.delete(f"{RESPONSES}/{response['id']}").status_code == 200
    paid, sent = caller.wallet, len(stage.upstream.ledger)
    again = respond(caller, ask(alias), key="one")
    assert (again.status_code, again.json()["error"]["code"]) == (422, "idempotency_key_reused")
    assert "was not stored" in again.json()["error"]["message"]
    assert respond(caller, ask(alias), key="other").json() == other
    assert (caller.wallet, len(stage.upstream.ledger)) == (paid, sent)
    replays = StoredReplay.objects.filter(reservation__actor_did=caller.did)
    assert not [replay for replay in replays if response["id"] in bytes(replay.body).decode()]


def test_a_call_that_is_closed_from_the_journal_is_charged_without_its_words(caller: Caller, alias: str) -> None:
    response = made(caller, alias)
    row, call = StoredResponse.objects.get(pk=response["id"]), caller.only_call
    assert row.usage_id == call.id
    note = closings.settle(
        OpenCall(("account", caller.did), call.id, None),
        cost_microusd=1,
        basis="upstream",
        quantities={},
        kept={"id": "resp_other", "response": "x" * 5_000},
        function=CLOSE_AND_STORE,
    ).note
    assert len(note) < CLOSING_MAX_BYTES
    assert b"kept" not in note
    assert closings.again(note).run() == "already"
    assert StoredResponse.objects.filter(usage_id=call.id).count() == 1


def test_a_closing_that_is_tried_again_brings_nothing_back(caller: Caller, alias: str) -> None:
    response = made(caller, alias)
    row, call = StoredResponse.objects.get(pk=response["id"]), caller.only_call
    kept = {name: getattr(row, name) for name in ("id", "status", "response", "input_items")} | {"days": 30}
    closing = closings.settle(
        OpenCall(("account", caller.did), call.id, None), cost_microusd=1, basis="upstream", quantities={}
    )
    again = orjson.dumps([{**orjson.loads(closing.note), "kept": kept}]).decode()
    assert caller.delete(f"{RESPONSES}/{response['id']}").status_code == 200
    with connection.cursor() as cursor:
        cursor.execute("SELECT answer FROM inference_close_responses(%s, ARRAY[NULL]::bytea[], true)", [again])
        assert cursor.fetchone()[0]["outcome"] == "already"
    assert caller.get(f"{RESPONSES}/{response['id']}").status_code == 404


def test_keys_are_rotated_a_few_rows_at_a_time(caller: Caller, alias: str, settings: Any) -> None:
    response = made(caller, alias)
    for _ in range(2 * reencrypt.BATCH):
        made(caller, alias)
    old, new = settings.FIELD_ENCRYPTION_KEYS, Fernet.generate_key().decode()
    settings.FIELD_ENCRYPTION_KEYS = [new, *old]
    try:
        out = StringIO()
        with CaptureQueriesContext(connection) as queries:
            call_command("reencrypt", stdout=out)
        reads = [query["sql"] for query in queries if 'SELECT "inference_stored_response"' in query["sql"]]
        assert len(reads) > 2 * 2
        assert all(f"LIMIT {reencrypt.BATCH}" in read for read in reads)
        assert "inference.StoredResponse.response:" in out.getvalue()
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT response, input_items FROM inference_stored_response WHERE id = %s", [response["id"]]
            )
            [(first, second)] = cursor.fetchall()
        assert orjson.loads(Fernet(new).decrypt(first.encode())) == response
        assert Fernet(new).decrypt(second.encode())
    finally:
        settings.FIELD_ENCRYPTION_KEYS = [*old, new]
        call_command("reencrypt", stdout=StringIO())
