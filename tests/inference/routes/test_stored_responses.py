"""Stored responses: continued, read, listed, deleted, expired, and never another owner's."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from inference.models import StoredResponse
from inference.operations import stored_responses
from tests.factories.proofs import mint_token
from tests.inference.calls.test_organizations import World
from tests.inference.routes.stored import HELLO, listed, made, sent_while_held
from tests.inference.routes.test_responses import READ, respond
from tests.support.stage import RESPONSES, Caller, Stage, ask
from tests.support.upstream.tokens import count_text


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
    answer = first["output"][0]["content"][0]["text"]
    assert [item["role"] for item in sent["input"]] == ["user", "assistant", "user"]
    assert [item["content"][0]["text"] for item in sent["input"]] == [HELLO, answer, "And otters?"]
    assert not any("id" in item for item in sent["input"])
    tokens = count_text(HELLO) + count_text(answer) + count_text("And otters?")
    assert second["usage"]["input_tokens"] == tokens
    held = [call.hold_microusd for call in caller.calls]
    assert held[1] > held[0] + len(answer) * 150_000 // 10**6


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
    response, remaining = made(caller, alias), made(caller, alias)
    row = StoredResponse.objects.get(pk=response["id"])
    assert row.expires_at - row.created_at == timedelta(days=30)
    now = timezone.now()
    StoredResponse.objects.filter(pk=row.pk).update(expires_at=now - timedelta(seconds=1))
    assert caller.get(f"{RESPONSES}/{row.pk}").status_code == 404
    assert respond(caller, ask(alias, previous_response_id=row.pk)).status_code == 404
    assert stored_responses.purge(now=now) == 1
    assert not StoredResponse.objects.filter(pk=row.pk).exists()
    assert StoredResponse.objects.filter(pk=remaining["id"]).exists()


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


@pytest.mark.parametrize(
    "query", ["limit=0", "limit=101", "limit=x", "order=up", "after=msg_nobody", "after=a&after=b"]
)
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
    messages = [{"role": "user", "content": text, "id": "msg_same"} for text in ("One", "Two", "Three")]
    response, found, query = made(caller, alias, input=messages), list[str](), "?order=asc&limit=1"
    for _ in messages:
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
