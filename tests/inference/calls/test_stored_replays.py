"""How the answer for a repeated request is stored, and which keys decrypt it."""

import threading
from base64 import b64encode
from collections.abc import Callable
from io import StringIO
from random import Random
from typing import Any

import pytest
from cryptography.fernet import Fernet
from django.core.management import CommandError, call_command

from billing.models import StoredReplay
from billing.operations import replays
from billing.operations.ledger import Replay
from gateway.core.encryption import stored_bytes
from gateway.core.runtime import logs
from inference.metering import answers
from tests.support.stage import Caller, Stage, chat


@pytest.fixture
def alias(stage: Stage) -> str:
    return stage.model(max_output_tokens=100)


def stored(caller: Caller) -> StoredReplay:
    return StoredReplay.objects.get(call=caller.only_call)


def assert_replayed(caller: Caller, body: dict[str, Any], first: Any) -> None:
    answer = caller.post(body, key="one")
    assert (answer.status_code, answer.content) == (200, first.content)
    assert answer.headers["idempotent-replayed"] == "true"
    assert answer.headers["content-type"] == first.headers["content-type"]


@pytest.mark.parametrize("streams", [False, True])
def test_an_answer_is_stored_encrypted_and_replayed(stage: Stage, alias: str, streams: bool) -> None:
    caller, body = stage.caller(), chat(alias, stream=streams)
    first = caller.post(body, key="one")
    word = next(word for word in first.text.split() if len(word) > 6)
    assert word.encode() not in bytes(stored(caller).body)
    assert_replayed(caller, body, first)


def test_a_long_stream_is_compressed_before_encryption_and_replayed_whole(stage: Stage, settings: Any) -> None:
    alias = stage.model("small-1?tokens=100", max_output_tokens=100)
    caller, body = stage.caller(), chat(alias, stream=True)
    first = caller.post(body, key="one")
    row = stored(caller)
    assert len(first.content) > 20_000 > 10 * len(row.body)
    assert list(row.headers) == ["compressed"], "a process of an earlier version must not take the body for the answer"
    assert_replayed(caller, body, first)
    old, new = settings.FIELD_ENCRYPTION_KEYS, Fernet.generate_key().decode()
    settings.FIELD_ENCRYPTION_KEYS = [new, *old]
    replays.reencrypt()
    settings.FIELD_ENCRYPTION_KEYS = [new]
    try:
        assert_replayed(caller, body, first)
    finally:
        settings.FIELD_ENCRYPTION_KEYS = [*old, new]
        replays.reencrypt()


@pytest.mark.parametrize(
    "body", [b64encode(Random(7).randbytes(40_000)), b"x" * 4096, b""], ids=["image", "short", "empty"]
)
def test_a_short_or_incompressible_answer_is_not_compressed(body: bytes) -> None:
    replay = Replay(200, [["content-type", "application/json"]], body)
    stored = replays.encrypted(replay, "use_1")
    assert list(stored.headers) == ["encrypted"]
    assert replays.decrypted(stored) == replay._replace(usage_id="use_1")


def test_a_large_answer_is_converted_outside_the_event_loop(
    stage: Stage, alias: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: list[str] = []
    monkeypatch.setattr(answers, "LARGE_BODY_BYTES", 10)
    for name in ("encrypted", "decrypted"):
        monkeypatch.setattr(replays, name, noting(threads, getattr(replays, name)))
    caller = stage.caller()
    assert_replayed(caller, chat(alias), caller.post(chat(alias), key="one"))
    assert [name.partition("_")[0] for name in threads] == ["large-bodies"] * 2


def noting(threads: list[str], convert: Callable[..., Replay]) -> Callable[..., Replay]:
    def run(replay: Replay, **options: str) -> Replay:
        threads.append(threading.current_thread().name)
        return convert(replay, **options)

    return run


def test_an_answer_that_an_earlier_version_stored_is_replayed_unchanged(stage: Stage, alias: str) -> None:
    caller = stage.caller()
    first = caller.post(chat(alias), key="one")
    row = stored(caller)
    row.headers, row.body = row.headers["encrypted"], first.content
    row.save()
    assert_replayed(caller, chat(alias), first)


def assert_unreadable(caller: Caller, body: dict[str, Any]) -> None:
    """Check that a repeated request is told to come again with its key, and that nothing runs or is charged."""
    logs.forget()
    paid = caller.wallet
    answer = caller.post(body, key="one")
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")
    error = answer.json()["error"]
    assert (error["code"], error["details"]) == ("not_ready", {"usageId": caller.only_call.id})
    assert "with the same key" in error["message"]
    assert "idempotent-replayed" not in answer.headers
    assert (caller.wallet, len(caller.calls)) == (paid, 1)


def test_an_answer_that_no_key_decrypts_is_not_ready_and_the_call_is_not_made_again(
    stage: Stage, alias: str, settings: Any, caplog: pytest.LogCaptureFixture
) -> None:
    caller, keys = stage.caller(), settings.FIELD_ENCRYPTION_KEYS
    first = caller.post(chat(alias), key="one")
    settings.FIELD_ENCRYPTION_KEYS = [Fernet.generate_key().decode()]
    assert_unreadable(caller, chat(alias))
    assert "FIELD_ENCRYPTION_KEYS" in caplog.text
    other = caller.post(chat(alias, temperature=1), key="one")
    assert (other.status_code, other.json()["error"]["code"]) == (422, "idempotency_key_reused")
    settings.FIELD_ENCRYPTION_KEYS = keys
    assert_replayed(caller, chat(alias), first)
    assert len(stage.upstream.ledger) == 1


@pytest.mark.parametrize(
    ("headers", "body"),
    [
        ({"sealed": [["content-type", "application/json"]]}, None),
        ({}, None),
        (None, b"\x02 a later version's form"),
        (None, b""),
        ({"compressed": []}, None),
    ],
    ids=["another name", "no name", "another cipher", "cut", "not compressed"],
)
def test_an_answer_in_a_form_of_a_later_version_is_not_ready(
    stage: Stage, alias: str, headers: Any, body: bytes | None
) -> None:
    caller = stage.caller()
    caller.post(chat(alias), key="one")
    row = stored(caller)
    row.headers = row.headers if headers is None else headers
    row.body = row.body if body is None else body
    row.save()
    assert_unreadable(caller, chat(alias))
    assert len(stage.upstream.ledger) == 1


@pytest.mark.parametrize("streams", [False, True], ids=["encrypted", "compressed"])
def test_an_answer_copied_from_another_call_is_not_replayed(stage: Stage, streams: bool) -> None:
    """Write access to the database must not be enough to make the gateway decrypt other accounts' answers."""
    alias = stage.model("small-1?tokens=100", max_output_tokens=100)
    victim, thief, body = stage.caller(), stage.caller(), chat(alias, stream=streams)
    for caller in (victim, thief):
        caller.post(body, key="one")
    secret, own = stored(victim), stored(thief)
    own.headers, own.body = secret.headers, secret.body
    own.save()
    replays.reencrypt()
    assert_unreadable(thief, body)


def test_an_answer_that_cannot_be_encrypted_is_charged_and_not_stored(
    stage: Stage, alias: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(data: bytes, place: str) -> bytes:
        raise ValueError("no key")

    monkeypatch.setattr(stored_bytes, "encrypt", fail)
    caller = stage.caller()
    assert caller.post(chat(alias), key="one").status_code == 200
    assert caller.only_call.state == "settled"
    assert not StoredReplay.objects.filter(call=caller.only_call).exists()
    assert caller.post(chat(alias), key="one").status_code == 422


def test_keys_are_rotated_even_if_one_answer_cannot_be_decrypted(stage: Stage, alias: str, settings: Any) -> None:
    caller, lost, old = stage.caller(), stage.caller(), settings.FIELD_ENCRYPTION_KEYS
    first = caller.post(chat(alias), key="one")
    lost.post(chat(alias), key="one")
    row = stored(lost)
    row.body = Fernet(Fernet.generate_key()).encrypt(b"{}")
    row.save()
    new = Fernet.generate_key().decode()
    settings.FIELD_ENCRYPTION_KEYS = [new]
    with pytest.raises(CommandError, match="Nothing was changed"):
        call_command("reencrypt", stdout=StringIO())
    settings.FIELD_ENCRYPTION_KEYS = [new, *old]
    try:
        output = StringIO()
        call_command("reencrypt", stdout=output)
        assert "billing.StoredReplay.body:" in output.getvalue()
        settings.FIELD_ENCRYPTION_KEYS = [new]
        assert_replayed(caller, chat(alias), first)
        assert bytes(stored(lost).body) == row.body
    finally:
        settings.FIELD_ENCRYPTION_KEYS = [*old, new]
        call_command("reencrypt", stdout=StringIO())
