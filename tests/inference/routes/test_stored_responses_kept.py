"""How stored responses rest: encrypted, within limits, deleted with their kept answers, and as a call that broke off left them."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
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
from billing.operations import closings, replays
from billing.operations.closings import OpenCall
from billing.operations.ledger import Replay
from gateway.core.encryption import fields, stored_bytes
from gateway.core.encryption.bound_text import Token
from gateway.core.runtime import logs
from gateway.management.commands import reencrypt
from inference.metering.journal import CLOSING_MAX_BYTES
from inference.models import StoredResponse
from inference.models.stored_response import place
from inference.routes.responses import record
from inference.routes.responses.route import CLOSE_AND_STORE
from tests.inference.calls.test_disconnects import settled
from tests.inference.routes.stored import listed, made, sent_while_held
from tests.inference.routes.test_responses import READ, respond
from tests.support.concurrency import eventually
from tests.support.stage import RESPONSES, Caller, Stage, ask


def test_nothing_of_a_conversation_rests_in_the_clear(caller: Caller, alias: str) -> None:
    response = made(caller, alias, input="xylophone secrets", metadata={"a": "zebra crossing"})
    with connection.cursor() as cursor:
        cursor.execute("SELECT s::text FROM inference_stored_response s WHERE id = %s", [response["id"]])
        [(row,)] = cursor.fetchall()
    assert response["id"] in row
    assert not [word for word in ("xylophone", "zebra", "badgers", "quick brown") if word in row]


def test_an_answer_whose_charge_is_in_review_is_stored_all_the_same(stage: Stage, caller: Caller) -> None:
    answer = respond(caller, ask(stage.model("usage-missing", max_output_tokens=20)))
    assert (answer.status_code, answer.json()["usage"]) == (200, None)
    assert caller.only_call.state == "review"
    assert caller.get(f"{RESPONSES}/{answer.json()['id']}").json() == answer.json()


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
    no_json = stored_bytes.encrypt_text(b"b" * 190_000, place("input_items", first["id"], ("account", caller.did)))
    StoredResponse.objects.filter(id=first["id"]).update(input_items=Token(no_json))  # reading it would fail
    settings.LARGE_BODIES_MAX_BYTES = 900_000
    with ThreadPoolExecutor() as threads, stage.upstream.holding():
        sent_while_held(stage, threads, caller, alias, input="a" * 400_000)
        refused = respond(caller, ask(alias, input="And?", previous_response_id=first["id"]))
        assert (refused.status_code, refused.json()["error"]["code"]) == (503, "not_ready")


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
    eventually(lambda: settled(caller))  # which writes the response, and is retried where the database is too slow
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
def test_a_response_that_cannot_be_stored_is_answered_as_not_stored(
    caller: Caller, alias: str, monkeypatch: pytest.MonkeyPatch, streams: bool
) -> None:
    def encrypt_text(data: bytes, place: str) -> str:
        if b'"object":"response"' in data:
            raise ValueError("no key")
        return stored_bytes.encrypt_text(data, place)

    monkeypatch.setattr(record, "encrypt_text", encrypt_text)
    answer = respond(caller, ask(alias, stream=streams))
    assert answer.status_code == 200
    response = orjson.loads(answer.content) if not streams else last_event(answer.text)["response"]
    assert (response["status"], response["store"]) == ("completed", False)
    assert caller.get(f"{RESPONSES}/{response['id']}").status_code == 404
    assert caller.only_call.state == "settled"


def last_event(text: str) -> Any:
    return orjson.loads([line for line in text.splitlines() if line.startswith("data: ")][-1][len("data: ") :])


def test_a_response_whose_key_is_lost_cannot_be_read_and_is_logged(
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
    rows = StoredReplay.objects.filter(call__actor_did=caller.did)
    stored = [Replay(row.status, row.headers, bytes(row.body), row.pk) for row in rows]
    assert not [replay for replay in stored if response["id"].encode() in replays.decrypted(replay).body]


def test_a_call_that_is_closed_from_the_journal_is_charged_without_its_words(caller: Caller, alias: str) -> None:
    response = made(caller, alias)
    row, call = StoredResponse.objects.get(pk=response["id"]), caller.only_call
    assert row.usage_id == call.id
    note = closings.settle(
        OpenCall(("account", caller.did), call.id, None),
        cost_microusd=1,
        basis="upstream",
        quantities={},
        stored={"id": "resp_other", "response": "x" * 5_000},
        replay=Replay(200, [("x-name", "x" * 5_000)], b"{}"),
        function=CLOSE_AND_STORE,
    ).note
    assert len(note) < CLOSING_MAX_BYTES
    assert b"kept" not in note
    assert b"x-name" not in note
    assert closings.from_note(note).run() == "already"
    assert StoredResponse.objects.filter(usage_id=call.id).count() == 1


def test_a_closing_that_is_tried_again_brings_nothing_back(caller: Caller, alias: str) -> None:
    response = made(caller, alias)
    row, call = StoredResponse.objects.get(pk=response["id"]), caller.only_call
    members = {name: row.__dict__[name] for name in ("id", "status", "response", "input_items")} | {"days": 30}
    closing = closings.settle(
        OpenCall(("account", caller.did), call.id, None), cost_microusd=1, basis="upstream", quantities={}
    )
    again = orjson.dumps([{**orjson.loads(closing.note), "kept": members}]).decode()
    assert caller.delete(f"{RESPONSES}/{response['id']}").status_code == 200
    with connection.cursor() as cursor:
        cursor.execute("SELECT answer FROM inference_close_responses(%s, ARRAY[NULL]::bytea[], true)", [again])
        assert cursor.fetchone()[0]["outcome"] == "already"
    assert caller.get(f"{RESPONSES}/{response['id']}").status_code == 404


@pytest.fixture
def thief(stage: Stage) -> Iterator[Caller]:
    """Return somebody who gets what cannot be read, which no later test has to rotate."""
    caller = stage.caller(scopes=READ)
    yield caller
    StoredResponse.objects.filter(owner_key=caller.did).delete()


def stored_with_fernet(response_id: str) -> None:
    """Store a response as the version before did."""
    row = StoredResponse.objects.get(pk=response_id)
    tokens = {name: Token(fields.encrypt(getattr(row, name))) for name in ("response", "input_items")}
    StoredResponse.objects.filter(pk=response_id).update(**tokens)


@pytest.mark.parametrize("moved", ["id", "owner_key"])
@pytest.mark.parametrize("column", ["response", "input_items"])
def test_what_is_copied_into_another_accounts_row_cannot_be_read_there(
    caller: Caller, thief: Caller, alias: str, column: str, moved: str
) -> None:
    victims, own = made(caller, alias, input="xylophone"), made(thief, alias)
    read = {"response": f"{RESPONSES}/{own['id']}", "input_items": f"{RESPONSES}/{own['id']}/input_items"}
    assert thief.get(read[column]).status_code == 200
    if moved == "id":
        copied = StoredResponse.objects.filter(pk=victims["id"]).values_list(column, flat=True).get()
        StoredResponse.objects.filter(pk=own["id"]).update(**{column: copied})
    else:
        StoredResponse.objects.filter(pk=victims["id"]).update(owner_key=thief.did)
        read = {name: path.replace(own["id"], victims["id"]) for name, path in read.items()}
    continued = own["id"] if moved == "id" else victims["id"]
    for answer in (thief.get(read[column]), respond(thief, ask(alias, previous_response_id=continued))):
        assert (answer.status_code, answer.json()["error"]["code"]) == (503, "not_ready")
        assert "xylophone" not in answer.text
    assert len(thief.calls) == 1


def test_what_the_version_before_stored_is_read_and_the_command_binds_it(
    caller: Caller, thief: Caller, alias: str
) -> None:
    first = made(caller, alias, input="xylophone")
    path, items = f"{RESPONSES}/{first['id']}", listed(caller, first["id"])
    stored_with_fernet(first["id"])
    for _ in range(2):
        assert caller.get(path).json() == first
        assert listed(caller, first["id"]) == items
        assert made(caller, alias, previous_response_id=first["id"])["status"] == "completed"
        call_command("reencrypt", stdout=StringIO())
    StoredResponse.objects.filter(pk=first["id"]).update(owner_key=thief.did)
    assert thief.get(path).status_code == 503


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
        settings.FIELD_ENCRYPTION_KEYS = [new]
        assert caller.get(f"{RESPONSES}/{response['id']}").json() == response
        assert listed(caller, response["id"])["data"]
    finally:
        settings.FIELD_ENCRYPTION_KEYS = [*old, new]
        call_command("reencrypt", stdout=StringIO())
