"""Records in the forms in which this version stores them: `python -m tests.gateway.stored_forms` prints them.

Each release keeps its own as `stored_forms_before.json`, with which the next one is tested.
"""

import io
import sys
import tempfile
from base64 import b64decode, b64encode
from pathlib import Path
from typing import Any

import orjson

KEY = b64encode(bytes(range(32))).decode()
BODIES = (
    b'{"model": "fast", "messages": [{"role": "user", "content": "Gr\\u00fc\\u00dfe"}], "n": 1e0, "a": null}',
    b"{}",
)
FORM = (
    b'--b\r\nContent-Disposition: form-data; name="model"\r\n\r\nscribe\r\n'
    b'--b\r\nContent-Disposition: form-data; name="file"; filename="a.mp3"\r\n\r\nID3\r\n'
    b'--b\r\nContent-Disposition: form-data; name="language"\r\n\r\nde\r\n--b--\r\n'
)
ANSWERS = (b'{"id": "chatcmpl_1"}', b"data: {}\n\n" * 1000)
TEXT = '{"id": "resp_1"}'
PLACE = "inference_stored_response:response:resp_1:account:did:web:studio.example:alice"
HEADERS = [["content-type", "application/json"]]
STAGES = ("held", "sent", "closing")


def answer(body: bytes) -> dict[str, Any]:
    """Return a stored answer, as it is in its row."""
    from billing.operations import replays
    from billing.operations.ledger import Replay

    stored = replays.encrypted(Replay(200, HEADERS, body), "use_1")
    return {"headers": stored.headers, "body": b64encode(stored.body).decode()}


def form_of(stored: dict[str, Any]) -> tuple[str, str]:
    """Return what tells the forms of stored answers apart: the name of the headers, and the first byte of the body."""
    [name] = stored["headers"]
    return name, b64decode(stored["body"])[:1].hex()


def text() -> str:
    """Return a text that is bound to its row."""
    from gateway.core.encryption.stored_bytes import encrypt_text

    return encrypt_text(TEXT.encode(), PLACE)


def digest(body: bytes) -> str:
    """Return what identifies a repeated request."""
    from inference.metering.bodies import _parse

    return _parse(body, False).digest.hex()


def form_digest() -> str:
    """Return what identifies a repeated request with a file."""
    from gateway.core.http.multipart import FormReader

    reader = FormReader(b"b", io.BytesIO())  # type: ignore[arg-type] # it is only written to
    reader.feed(FORM)
    return reader.finish().digest.hex()


def slots() -> list[str]:
    """Return the slots of a journal, one in each stage."""
    from inference.metering.journal import _SEGMENT_BYTES, _SLOT_BYTES, Journal

    with tempfile.TemporaryDirectory() as folder:
        made = Journal(Path(folder))
        for name in STAGES:
            entry = made.begin(f"use_{name}")
            if name != "held":
                entry.sent()
            if name == "closing":
                entry.note_closing(b'{"action":"release"}')
        data = made.path.read_bytes()[_SEGMENT_BYTES:]
        made.close()
    found = (data[at : at + _SLOT_BYTES].rstrip(b"\0") for at in range(0, len(data), _SLOT_BYTES))
    return sorted(slot.hex() for slot in found if slot)


def notes() -> list[str]:
    """Return the closings of a call as a journal has them: charged, released, left to review."""
    from billing.operations import closings
    from billing.operations.closings import OpenCall

    call = OpenCall(("account", "alice"), "use_1", "dep_1")
    used = {"input_tokens": 200, "output_tokens": 0}
    closing = (
        closings.settle(call, cost_microusd=30, basis="upstream", quantities=used),
        closings.release(call, resolution="rejected"),
        closings.review(call, reason="lost", evidence={**used, "charge_microusd": 30}),
    )
    return [each.note.decode() for each in closing]


def records() -> dict[str, Any]:
    """Return everything, encrypted with `KEY`."""
    return {
        "answers": [answer(body) for body in ANSWERS],
        "texts": [text()],
        "digests": [digest(body) for body in BODIES],
        "form_digest": form_digest(),
        "slots": slots(),
        "notes": notes(),
    }


if __name__ == "__main__":
    from gateway.core.runtime.startup import load_settings

    load_settings()
    import django
    from django.test import override_settings

    django.setup()
    with override_settings(FIELD_ENCRYPTION_KEYS=[KEY]):
        sys.stdout.write(orjson.dumps(records(), option=orjson.OPT_INDENT_2).decode() + "\n")
