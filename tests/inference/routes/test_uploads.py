"""Forms that are broken, endless, slow or too large: a clear error, nothing held, nothing sent, nothing left on disk."""

import asyncio
import contextlib
import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from gateway.core.http.lean.uploads import _finished
from tests.factories.audio import wav
from tests.inference.routes.test_transcriptions import PRICE, ROUTES, TRANSCRIPTIONS
from tests.support.concurrency import PATIENCE_SECONDS, eventually
from tests.support.forms import BOUNDARY, Form, field, file_part, form, part, whole
from tests.support.spooled import open_uploads
from tests.support.stage import Caller, Stage

MIB = 1024 * 1024
WAV = wav(1)


@pytest.fixture(autouse=True)
def uploads(settings: Any, tmp_path: Any) -> Iterator[Any]:
    settings.UPLOADS_DIR = str(tmp_path)
    yield tmp_path
    assert list(tmp_path.iterdir()) == []
    eventually(lambda: open_uploads() == [])


@pytest.fixture
def alias(stage: Stage) -> str:
    return stage.model(price=PRICE, options=ROUTES)


def assert_nothing_happened(stage: Stage, caller: Caller) -> None:
    assert caller.calls == []
    assert len(stage.upstream.ledger) == 0
    assert caller.wallet == {"balance": 1_000_000, "held": 0, "debt": 0}


def model_part(name: str) -> bytes:
    return field("model", name)


BROKEN: dict[str, tuple[Any, int, str | None]] = {
    "no file": (whole, 400, "file"),
    "two files": (lambda model: whole(model, file_part(WAV), file_part(WAV)), 400, "file"),
    "two files of two names": (lambda model: whole(model, file_part(WAV), file_part(WAV, "other")), 400, "other"),
    "a file of another name": (lambda model: whole(model, file_part(WAV, "audio")), 400, "audio"),
    "no model": (lambda model: whole(file_part(WAV)), 400, "model"),
    "two models": (lambda model: whole(model, model, file_part(WAV)), 400, "model"),
    "nothing": (lambda model: Form(b""), 400, None),
    "no last boundary": (lambda model: Form(whole(model, file_part(WAV)).content[:-6]), 400, None),
    "cut in the file": (lambda model: Form(whole(model, file_part(WAV)).content[:2000]), 400, None),
    "another boundary": (lambda model: Form(form(WAV, [("model", "x")], boundary="other-one").content), 400, None),
    "a boundary without its dashes": (
        lambda model: Form(whole(model, file_part(WAV)).content.replace(b"--f0rm", b"f0rm")), 400, None
    ),
    "a part without a name": (lambda model: whole(model, part(b"x", "form-data")), 400, None),
    "a part that is no form data": (lambda model: whole(model, part(b"x", 'attachment; name="a"')), 400, None),
    "a name that is none": (lambda model: whole(model, part(b"x", 'form-data; name="a\\"b"')), 400, None),
    "a long name": (lambda model: whole(model, field("a" * 101, "x")), 400, None),
    "a coded part": (
        lambda model: whole(model, part(b"eA==", 'form-data; name="a"', "Content-Transfer-Encoding: base64")), 400, "a"
    ),
    "a header twice": (
        lambda model: whole(part(b"x", 'form-data; name="a"', 'Content-Disposition: form-data; name="b"')), 400, None
    ),
    "many headers": (
        lambda model: whole(model, part(b"x", 'form-data; name="a"', *(f"X-{n}: 1" for n in range(9)))), 400, None
    ),
    "a long header": (lambda model: whole(model, part(b"x", 'form-data; name="a"', "X: " + "x" * 5000)), 400, None),
    "a header without an end": (
        lambda model: Form(f"--{BOUNDARY}\r\nX: ".encode() + b"x" * 100_000), 400, None
    ),
    "a broken header": (lambda model: whole(model, part(b"x", 'form-data; name="a"', "no colon")), 400, None),
    "many parts": (lambda model: whole(model, *(field(f"a{n}", "") for n in range(64))), 400, None),
    "a large field": (lambda model: whole(model, field("prompt", "x" * 65_537)), 400, "prompt"),
    "many large fields": (
        lambda model: whole(model, *(field(f"a{n}", "x" * 65_000) for n in range(5))), 400, "a4"
    ),
    "a field that is not text": (lambda model: whole(model, part(b"\xff", 'form-data; name="a"')), 400, "a"),
    "a field with a NUL": (lambda model: whole(model, field("a", "x\0y")), 400, "a"),
    "JSON": (lambda model: Form(b"{}", "application/json"), 415, None),
    "no boundary": (lambda model: Form(WAV, "multipart/form-data"), 400, None),
    "an empty boundary": (lambda model: Form(WAV, 'multipart/form-data; boundary=""'), 400, None),
    "a long boundary": (lambda model: Form(WAV, "multipart/form-data; boundary=" + "b" * 71), 400, None),
    "a boundary of other characters": (lambda model: Form(WAV, 'multipart/form-data; boundary="a;b"'), 400, None),
    "mixed": (lambda model: Form(WAV, "multipart/mixed; boundary=a"), 415, None),
    "26 MiB": (lambda model: form(bytes(26 * MIB), [("model", "x")]), 413, None),
}  # fmt: skip


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_form_is_refused(stage: Stage, alias: str, case: str) -> None:
    make, status, param = BROKEN[case]
    caller = stage.caller()
    answer = caller.post(make(model_part(alias)), path=TRANSCRIPTIONS)
    assert (answer.status_code, answer.json()["error"]["param"]) == (status, param), answer.text
    assert_nothing_happened(stage, caller)


def test_26_mib_in_chunks_are_refused_as_well(stage: Stage, alias: str) -> None:
    caller = stage.caller()
    sent = form(bytes(26 * MIB), [("model", alias)])
    pieces: Any = (sent.content[at : at + MIB] for at in range(0, len(sent.content), MIB))
    answer = caller.post(None, path=TRANSCRIPTIONS, content=pieces, headers={"Content-Type": sent.content_type})
    assert (answer.status_code, answer.json()["error"]["code"]) == (413, "request_too_large")
    assert_nothing_happened(stage, caller)


def test_all_but_25_mib_go_through(stage: Stage, alias: str) -> None:
    data = wav((25 * MIB - 2000) / 32_000)
    caller = stage.caller()
    answer = caller.post(form(data, [("model", alias)]), path=TRANSCRIPTIONS)
    assert answer.status_code == 200
    assert stage.upstream.ledger.entries[0].body["file"]["size"] == len(data)
    assert caller.only_call.charge_microusd == -(-820 * 1005 // 10)


def test_a_boundary_inside_the_file_is_no_boundary_without_its_line_ends(stage: Stage, alias: str) -> None:
    data = WAV + f"--{BOUNDARY}--".encode() + f"\r\n--{BOUNDARY}x".encode() + f"\r\n--{BOUNDARY[:-1]}".encode()
    answer = stage.caller().post(form(data, [("model", alias)]), path=TRANSCRIPTIONS)
    assert answer.status_code == 200
    assert stage.upstream.ledger.entries[0].body["file"]["size"] == len(data)


@pytest.mark.parametrize("filename", ["../../etc/passwd", 'a\\"; name=\\"model', "x" * 3000, "ä.wav", "a.html"])
def test_a_files_name_goes_nowhere(stage: Stage, alias: str, filename: str) -> None:
    answer = stage.caller().post(whole(model_part(alias), file_part(WAV, filename=filename)), path=TRANSCRIPTIONS)
    assert answer.status_code == 200
    [entry] = stage.upstream.ledger
    assert (entry.body["file"]["name"], entry.body["model"]) == ("audio.wav", "small-1")


class Raw:
    """A request that is sent by hand, a piece at a time."""

    def __init__(self, caller: Caller, sent: Form, length: int) -> None:
        head = {
            **caller.headers(TRANSCRIPTIONS),
            "Host": "gateway",
            "Connection": "close",
            "Content-Type": sent.content_type,
            "Content-Length": str(length),
            "Idempotency-Key": "raw",
            "x-service-max-cost-microusd": "100000",
        }
        lines = [f"POST {TRANSCRIPTIONS} HTTP/1.1", *(f"{name}: {value}" for name, value in head.items()), "", ""]
        self.socket = socket.create_connection(("127.0.0.1", int(caller.origin.rpartition(":")[2])), timeout=60)
        self.socket.sendall("\r\n".join(lines).encode())

    def answer(self) -> bytes:
        """Read to the end."""
        with self.socket:
            return b"".join(iter(lambda: self.socket.recv(65536), b""))


def test_an_upload_that_stops_is_answered_and_forgotten(stage: Stage, alias: str, settings: Any) -> None:
    settings.BODY_IDLE_SECONDS = 1.0
    caller, sent = stage.caller(), form(WAV, [("model", alias)])
    raw = Raw(caller, sent, len(sent.content))
    raw.socket.sendall(sent.content[:-100])
    answer = raw.answer()
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert b"did not arrive in time" in answer
    assert_nothing_happened(stage, caller)


def test_an_upload_of_a_byte_now_and_then_ends_too(stage: Stage, alias: str, settings: Any) -> None:
    settings.BODY_SECONDS = 0.5
    caller, sent = stage.caller(), form(WAV, [("model", alias)])
    raw = Raw(caller, sent, len(sent.content))
    raw.socket.settimeout(0.01)
    answer = b""
    for byte in sent.content:
        try:
            answer = raw.socket.recv(65536)
            break
        except TimeoutError:
            with contextlib.suppress(ConnectionError):  # it may have hung up meanwhile; its answer is still to be read
                raw.socket.sendall(bytes([byte]))
    raw.socket.close()
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert_nothing_happened(stage, caller)


def test_a_client_that_leaves_in_the_middle_leaves_nothing(stage: Stage, alias: str) -> None:
    caller, sent = stage.caller(), form(WAV, [("model", alias)])
    raw = Raw(caller, sent, len(sent.content))
    raw.socket.sendall(sent.content[:-100])
    eventually(lambda: len(open_uploads()) == 1)
    raw.socket.close()
    eventually(lambda: open_uploads() == [])
    assert_nothing_happened(stage, caller)


def test_a_length_that_is_too_small_ends_the_form_early(stage: Stage, alias: str) -> None:
    caller, sent = stage.caller(), form(WAV, [("model", alias)])
    raw = Raw(caller, sent, 1000)
    raw.socket.sendall(sent.content[:1000])
    assert b"ends before its last boundary" in raw.answer()
    assert_nothing_happened(stage, caller)


def test_uploads_share_the_disk_and_wait_for_it(stage: Stage, alias: str, settings: Any) -> None:
    settings.UPLOADS_MAX_BYTES, settings.LARGE_BODY_WAIT_SECONDS = 50_000, 0.05
    caller, sent = stage.caller(), form(WAV, [("model", alias)])
    raw = Raw(stage.caller(), sent, len(sent.content))
    raw.socket.sendall(sent.content[:-100])
    eventually(lambda: len(open_uploads()) == 1)
    refused = caller.post(sent, path=TRANSCRIPTIONS)
    assert (refused.status_code, refused.json()["error"]["code"]) == (503, "not_ready")
    assert refused.headers["retry-after"]
    raw.socket.close()
    eventually(lambda: open_uploads() == [])
    assert caller.post(sent, path=TRANSCRIPTIONS).status_code == 200


@pytest.mark.parametrize(
    ("model", "fields"),
    [
        ("small-1", []),
        ("small-1", [("stream", "true")]),
        ("cut-mid-stream", [("stream", "true")]),
        ("swapped", [("stream", "true")]),
        ("bad-gateway", []),
        ("bad-gateway", [("stream", "true")]),
        ("cut-before-headers", []),
        ("small-1", [("response_format", "pdf")]),
    ],
)
def test_the_disk_is_given_back_however_a_call_ends(stage: Stage, settings: Any, model: str, fields: Any) -> None:
    settings.UPLOADS_MAX_BYTES, settings.LARGE_BODY_WAIT_SECONDS = 50_000, 20.0
    caller = stage.caller()
    sent = form(WAV, [("model", stage.model(model, price=PRICE, options=ROUTES)), *fields])
    answers = [caller.post(sent, path=TRANSCRIPTIONS, key=key) for key in ("one", "one", "two", "three")]
    assert [answer.json()["error"]["code"] for answer in answers if answer.status_code == 503] == []


def test_a_folder_that_cannot_be_written_is_not_ready(stage: Stage, alias: str, settings: Any, tmp_path: Any) -> None:
    settings.UPLOADS_DIR = str(tmp_path / "missing")
    caller = stage.caller()
    refused = caller.post(form(WAV, [("model", alias)]), path=TRANSCRIPTIONS)
    assert (refused.status_code, refused.json()["error"]["code"]) == (503, "not_ready")
    assert_nothing_happened(stage, caller)


def test_a_client_that_leaves_once_it_is_sent_finds_its_answer_later(stage: Stage, alias: str) -> None:
    caller, sent = stage.caller(), form(WAV, [("model", alias)])
    with stage.upstream.holding():
        raw = Raw(caller, sent, len(sent.content))
        raw.socket.sendall(sent.content)
        eventually(lambda: len(stage.upstream.ledger) == 1)
        raw.socket.close()
    eventually(lambda: caller.only_call.state == "settled")
    again = caller.post(sent, path=TRANSCRIPTIONS, key="raw")
    assert (again.status_code, again.headers["idempotent-replayed"]) == (200, "true")
    assert caller.only_call.charge_microusd == 101


def test_a_refused_request_reads_no_file(stage: Stage, alias: str) -> None:
    caller = stage.caller()
    refused = caller.post(form(WAV, [("model", alias)]), path=TRANSCRIPTIONS, headers={"DPoP": None})
    assert refused.status_code == 401
    assert_nothing_happened(stage, caller)


def test_little_of_an_upload_is_in_memory_at_any_time(stage: Stage) -> None:
    from gateway.core.http.lean import BodyReader
    from gateway.core.http.lean.uploads import Uploads

    body = form(bytes(8 * MIB), [("model", "x")])
    pieces = [body.content[at : at + 65_536] for at in range(0, len(body.content), 65_536)]
    handed_out = 0

    async def receive() -> dict[str, Any]:
        nonlocal handed_out
        reader_holds = sum(map(len, reader._pieces))
        assert reader_holds == 0
        handed_out += 1
        return {"type": "http.request", "body": pieces[handed_out - 1], "more_body": handed_out < len(pieces)}

    reader = BodyReader(receive, [])
    read = asyncio.run(Uploads().receive(reader, BOUNDARY.encode(), 25 * MIB))
    assert read.file.size_bytes == 8 * MIB
    read.file.release()


async def test_what_a_thread_still_writes_is_waited_for_however_often_the_request_is_cancelled() -> None:
    """By its client's end, and by the server's: the file must not be closed under the thread."""
    may_end = threading.Event()
    work = asyncio.get_running_loop().run_in_executor(None, may_end.wait, PATIENCE_SECONDS)
    waiting = asyncio.create_task(_finished(work))  # type: ignore[arg-type]
    for _ in range(3):
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.sleep(0)
        assert not waiting.done()
    may_end.set()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert work.done()
