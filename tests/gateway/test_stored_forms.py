"""What the version before stored is read, and what this one stores the version before can read.

`stored_forms_before.json` has the records that the version before writes and reads (`tests/gateway/stored_forms.py`). If a
test of what is written fails, write the form of that version for one more release, and read the new one as well:
CONTRIBUTING, "Stored forms".
"""

from base64 import b64decode
from pathlib import Path
from typing import Any

import orjson
import pytest

from billing.models import Call
from billing.operations import closings, replays
from billing.operations.ledger import Replay
from gateway.core.encryption.stored_bytes import decrypt_text
from inference.metering.journal import _SEGMENT_BYTES, _SLOT_BYTES, Leftover, Stage, leftovers
from tests.factories.billing import Purse, state
from tests.gateway import stored_forms
from tests.gateway.stored_forms import ANSWERS, BODIES, HEADERS, KEY, PLACE, TEXT

BEFORE = orjson.loads(Path(__file__).with_name("stored_forms_before.json").read_bytes())


@pytest.fixture(autouse=True)
def _key(settings: Any) -> None:
    settings.FIELD_ENCRYPTION_KEYS = [KEY]


@pytest.mark.parametrize("number", range(len(ANSWERS)))
def test_an_answer_of_the_version_before_is_read(number: int) -> None:
    stored = BEFORE["answers"][number]
    found = replays.decrypted(Replay(200, stored["headers"], b64decode(stored["body"]), "use_1"))
    assert found == Replay(200, HEADERS, ANSWERS[number], "use_1")


def test_the_version_before_reads_the_answers_that_are_written() -> None:
    written = {stored_forms.form_of(stored_forms.answer(body)) for body in ANSWERS}
    assert written <= {stored_forms.form_of(stored) for stored in BEFORE["answers"]}


def test_a_text_of_the_version_before_is_read_and_it_reads_what_is_written() -> None:
    [before], written = BEFORE["texts"], stored_forms.text()
    assert decrypt_text(before, PLACE).decode() == TEXT
    assert b64decode(written)[:1] == b64decode(before)[:1]


def test_both_take_a_repeated_request_for_the_same() -> None:
    """Another digest answers 422 to a repeated request, and its client pays twice with a new key."""
    assert [stored_forms.digest(body) for body in BODIES] == BEFORE["digests"]
    assert stored_forms.form_digest() == BEFORE["form_digest"]


def test_both_read_each_other_s_journals() -> None:
    assert stored_forms.slots() == BEFORE["slots"]
    slots = (bytes.fromhex(slot).ljust(_SLOT_BYTES, b"\0") for slot in BEFORE["slots"])
    found = leftovers(bytes(_SEGMENT_BYTES) + b"".join(slots))
    assert sorted(found, key=lambda left: left.stage) == [
        Leftover(Stage.HELD, "use_held", b""),
        Leftover(Stage.SENT, "use_sent", b""),
        Leftover(Stage.CLOSING, "use_closing", b'{"action":"release"}'),
    ]


@pytest.mark.django_db
@pytest.mark.parametrize(("number", "after"), enumerate(["settled", "released", "review"]))
def test_a_closing_in_a_journal_of_the_version_before_is_done(number: int, after: str) -> None:
    Purse().pay(100).call(50, usage_id="use_1")
    closings.from_note(BEFORE["notes"][number].encode()).run()
    assert state("use_1") == after
    call = Call.objects.get(pk="use_1")
    assert (call.charge_microusd, call.resolution, call.review_reason) == (
        30 if after == "settled" else None,
        "rejected" if after == "released" else None,
        "lost" if after == "review" else None,
    )


def test_a_note_names_what_the_version_before_named() -> None:
    """Its functions ignore new members, but need those that they know."""
    for note, before in zip(stored_forms.notes(), BEFORE["notes"], strict=True):
        assert orjson.loads(before).items() <= orjson.loads(note).items()
