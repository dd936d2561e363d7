"""The answer that a repeated request gets: what rests of it, and whose key reads it."""

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
from gateway.core import stored_bytes
from gateway.core.api import logs
from inference.metering import answers
from tests.support.stage import Caller, Stage, chat


@pytest.fixture
def alias(stage: Stage) -> str:
    return stage.model(max_output_tokens=100)


def stored(caller: Caller) -> StoredReplay:
    return StoredReplay.objects.get(reservation=caller.only_call)


def again(caller: Caller, body: dict[str, Any], first: Any) -> None:
    told = caller.post(body, key="one")
    assert (told.status_code, told.content) == (200, first.content)
    assert told.headers["idempotent-replayed"] == "true"
    assert told.headers["content-type"] == first.headers["content-type"]


@pytest.mark.parametrize("streams", [False, True])
def test_its_words_rest_encrypted_and_are_given_again(stage: Stage, alias: str, streams: bool) -> None:
    caller, body = stage.caller(), chat(alias, stream=streams)
    first = caller.post(body, key="one")
    word = next(word for word in first.text.split() if len(word) > 6)
    assert word.encode() not in bytes(stored(caller).body)
    again(caller, body, first)


def test_a_long_stream_is_compressed_before_it_is_encrypted_and_given_again_whole(stage: Stage, settings: Any) -> None:
    alias = stage.model("small-1?tokens=100", max_output_tokens=100)
    caller, body = stage.caller(), chat(alias, stream=True)
    first = caller.post(body, key="one")
    row = stored(caller)
    assert len(first.content) > 20_000 > 10 * len(row.body)
    assert list(row.headers) == ["compressed"], "a process of an earlier version must not take the body for the answer"
    again(caller, body, first)
    old, new = settings.FIELD_ENCRYPTION_KEYS, Fernet.generate_key().decode()
    settings.FIELD_ENCRYPTION_KEYS = [new, *old]
    replays.reencrypt()
    settings.FIELD_ENCRYPTION_KEYS = [new]
    try:
        again(caller, body, first)
    finally:
        settings.FIELD_ENCRYPTION_KEYS = [*old, new]
        replays.reencrypt()


@pytest.mark.parametrize(
    "body", [b64encode(Random(7).randbytes(40_000)), b"x" * 4096, b""], ids=["image", "short", "empty"]
)
def test_one_that_does_not_repeat_itself_or_is_short_is_not_compressed(body: bytes) -> None:
    replay = Replay(200, [["content-type", "application/json"]], body)
    kept = replays.encrypted(replay, "use_1")
    assert list(kept.headers) == ["encrypted"]
    assert replays.decrypted(kept) == replay._replace(usage_id="use_1")


def test_a_large_one_is_converted_beside_the_event_loop(
    stage: Stage, alias: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: list[str] = []
    monkeypatch.setattr(answers, "LARGE_BODY_BYTES", 10)
    for name in ("encrypted", "decrypted"):
        monkeypatch.setattr(replays, name, noting(threads, getattr(replays, name)))
    caller = stage.caller()
    again(caller, chat(alias), caller.post(chat(alias), key="one"))
    assert [name.partition("_")[0] for name in threads] == ["large-bodies"] * 2


def noting(threads: list[str], convert: Callable[..., Replay]) -> Callable[..., Replay]:
    def run(replay: Replay, **options: str) -> Replay:
        threads.append(threading.current_thread().name)
        return convert(replay, **options)

    return run


def test_one_that_an_earlier_version_encrypted_with_fernet_is_given_again(
    stage: Stage, alias: str, settings: Any
) -> None:
    caller = stage.caller()
    first = caller.post(chat(alias), key="one")
    row = stored(caller)
    row.body = Fernet(settings.FIELD_ENCRYPTION_KEYS[0]).encrypt(first.content)
    row.save()
    again(caller, chat(alias), first)


def test_one_that_an_earlier_version_stored_is_given_as_it_is(stage: Stage, alias: str) -> None:
    caller = stage.caller()
    first = caller.post(chat(alias), key="one")
    row = stored(caller)
    row.headers, row.body = row.headers["encrypted"], first.content
    row.save()
    again(caller, chat(alias), first)


def test_one_that_no_key_reads_is_gone_and_nothing_runs_again(
    stage: Stage, alias: str, settings: Any, caplog: pytest.LogCaptureFixture
) -> None:
    caller = stage.caller()
    caller.post(chat(alias), key="one")
    paid = caller.wallet
    logs.forget()
    settings.FIELD_ENCRYPTION_KEYS = [Fernet.generate_key().decode()]
    told = caller.post(chat(alias), key="one")
    assert (told.status_code, told.json()["error"]["code"]) == (422, "idempotency_key_reused")
    assert "was not stored" in told.json()["error"]["message"]
    assert (caller.wallet, len(stage.upstream.ledger), len(caller.calls)) == (paid, 1, 1)
    assert "FIELD_ENCRYPTION_KEYS" in caplog.text


@pytest.mark.parametrize("streams", [False, True], ids=["encrypted", "compressed"])
def test_one_that_was_copied_from_another_call_is_given_to_nobody(stage: Stage, streams: bool) -> None:
    """Whoever can write to the database must not have the gateway decrypt what others were told."""
    alias = stage.model("small-1?tokens=100", max_output_tokens=100)
    victim, thief, body = stage.caller(), stage.caller(), chat(alias, stream=streams)
    for caller in (victim, thief):
        caller.post(body, key="one")
    secret, own = stored(victim), stored(thief)
    own.headers, own.body = secret.headers, secret.body
    own.save()
    replays.reencrypt()
    told = thief.post(body, key="one")
    assert (told.status_code, told.json()["error"]["code"]) == (422, "idempotency_key_reused")


def test_an_answer_that_cannot_be_encrypted_is_charged_and_given_once(
    stage: Stage, alias: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(data: bytes, place: str) -> bytes:
        raise ValueError("no key")

    monkeypatch.setattr(stored_bytes, "encrypt", fail)
    caller = stage.caller()
    assert caller.post(chat(alias), key="one").status_code == 200
    assert caller.only_call.state == "settled"
    assert not StoredReplay.objects.filter(reservation=caller.only_call).exists()
    assert caller.post(chat(alias), key="one").status_code == 422


def test_keys_are_rotated_and_a_lost_one_stops_nothing(stage: Stage, alias: str, settings: Any) -> None:
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
        told = StringIO()
        call_command("reencrypt", stdout=told)
        assert "billing.StoredReplay.body:" in told.getvalue()
        settings.FIELD_ENCRYPTION_KEYS = [new]
        again(caller, chat(alias), first)
        assert bytes(stored(lost).body) == row.body
    finally:
        settings.FIELD_ENCRYPTION_KEYS = [*old, new]
        call_command("reencrypt", stdout=StringIO())
