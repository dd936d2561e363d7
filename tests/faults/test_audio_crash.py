"""`kill -9` while a file or audio is being transferred: the call ends like any other, and no file is left."""

import signal
from pathlib import Path
from typing import Any

import pytest

from billing.queries import audit
from tests.factories.audio import wav
from tests.faults.test_call_crash import BALANCE, assert_charged_once, recover_later, send_and_die
from tests.support.forms import form
from tests.support.processes import gateway_process
from tests.support.stage import Caller, Stage

PRICE = {"input_character": "15", "audio_second": "100"}
SPEECH, TRANSCRIPTIONS = "/v1/audio/speech", "/v1/audio/transcriptions"

# Moment, path, the state after recovery, the answer to a retry.
MOMENTS = [
    ("held", TRANSCRIPTIONS, "released", 200),
    ("about to send", TRANSCRIPTIONS, "released", 200),
    ("sending", TRANSCRIPTIONS, "review", 409),
    ("charged", TRANSCRIPTIONS, "settled", "replay"),
    ("sending", SPEECH, "review", 409),
    ("stream opened", SPEECH, "review", 409),
    ("stream done", SPEECH, "review", 409),
    ("stream charged", SPEECH, "settled", "replay"),
]


@pytest.fixture
def journals(tmp_path: Path, settings: Any) -> Path:
    settings.CALL_JOURNAL_DIR = tmp_path
    return tmp_path


class AudioCaller(Caller):
    """A caller of one audio route."""

    path = ""

    def post(self, body: Any, **options: Any) -> Any:
        """Send a request to the route."""
        return super().post(body, path=self.path, **options)


@pytest.mark.parametrize(("moment", "path", "state", "retry"), MOMENTS, ids=[f"{row[0]} {row[1]}" for row in MOMENTS])
def test_a_killed_call_leaves_neither_money_nor_a_file(
    stage: Stage,
    journals: Path,
    tmp_path_factory: Any,
    moment: str,
    path: str,
    state: str,
    retry: Any,
) -> None:
    uploads = tmp_path_factory.mktemp("uploads")
    alias = stage.model(price=PRICE, options={"routes": ["audio.speech", "audio.transcriptions"]})
    speech = {"model": alias, "input": "Hello.", "voice": "alloy"}
    body: Any = form(wav(1.5), [("model", alias)]) if path == TRANSCRIPTIONS else speech
    plain = stage.caller(balance=BALANCE)
    caller = AudioCaller(plain.did, plain.signer, plain.token, plain.origin, plain.client)
    caller.path, home = path, plain.origin
    with gateway_process(MOMENT=moment, CALL_JOURNAL_DIR=str(journals), UPLOADS_DIR=str(uploads)) as (origin, server):
        send_and_die(caller, body, origin)
        assert server.wait(timeout=60) == -signal.SIGKILL
    recover_later()
    assert list(uploads.iterdir()) == []
    assert audit.findings() == []
    caller.origin = home
    again, first = caller.post(body, key="one"), caller.calls[0]
    assert first.state == state
    if retry == "replay":
        assert again.headers["idempotent-replayed"] == "true"
        assert_charged_once(caller, first)
    elif retry == 409:
        assert (again.status_code, again.json()["error"]["code"]) == (409, "idempotency_in_progress")
        assert caller.wallet == {"balance": BALANCE, "held": first.hold_microusd, "debt": 0}
    else:
        assert again.status_code == retry
        assert caller.wallet["held"] == 0
