"""Frames in both directions: as they are, within bounds, and no faster than the slower side reads."""

import json
import socket
import struct
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.frames import Opcode

from tests.inference.realtime.test_sessions import HELLO, cost
from tests.support.concurrency import eventually
from tests.support.sessions import PATH, Session, headers_of, live_model, opened, settled, talker
from tests.support.stage import Caller, Stage


def test_binary_frames_pass_both_ways(stage: Stage) -> None:
    caller, alias = talker(stage), live_model(stage)
    stage.upstream.realtime.manners.first = [b"\x00\xff as it is"]
    with opened(caller, alias) as session:
        assert session.socket.recv(timeout=60) == b"\x00\xff as it is"
        session.socket.send(json.dumps({"type": "input_audio_buffer.clear", "event_id": "binary"}).encode())
        session.until("input_audio_buffer.cleared")
    [sent] = stage.upstream.realtime.sessions
    [frame] = sent.binary
    assert json.loads(frame)["event_id"] == "binary"


def test_a_binary_frame_that_is_no_event_is_refused(stage: Stage) -> None:
    caller, alias = talker(stage), live_model(stage)
    smuggled = '{"type": "response.create"}'.encode("utf-16")
    with opened(caller, alias) as session:
        session.socket.send(smuggled)
        assert session.until("error")["error"]["code"] == "invalid_json"
        session.say(HELLO)
    assert stage.upstream.realtime.sessions[0].binary == []
    assert settled(caller).charge_microusd == cost(4, 0, 8)


@pytest.mark.parametrize(
    "frame",
    [
        "",
        "no json",
        "[]",
        '{"type": "input_audio_buffer.clear", "type": "response.create"}',
        '{"type": "input_audio_buffer.append", "audio": "\\ud800"}',
        '{"type": NaN}',
        '{"type": ' + "[" * 100 + "]" * 100 + "}",
    ],
)
def test_what_two_readers_could_read_differently_goes_nowhere(stage: Stage, frame: str) -> None:
    caller, alias = talker(stage), live_model(stage)
    with opened(caller, alias) as session:
        session.socket.send(frame)
        assert session.until("error")["error"]["code"] == "invalid_json"
        session.say(HELLO)
    kinds = {event["type"] for event in stage.upstream.realtime.sessions[0].events}
    assert kinds == {"session.update", "conversation.item.create", "response.create"}


def test_a_message_in_many_fragments_is_one(stage: Stage) -> None:
    caller, alias = talker(stage), live_model(stage)
    event = json.dumps({"type": "input_audio_buffer.clear"})
    with opened(caller, alias) as session:
        session.socket.send(iter(event))
        session.until("input_audio_buffer.cleared")


def frame(opcode: int, payload: bytes, *, final: bool) -> bytes:
    """Make a client's frame with a mask of zeros."""
    return struct.pack("!BB", (0x80 if final else 0) | opcode, 0x80 | len(payload)) + bytes(4) + payload


def test_empty_fragments_without_end_are_too_big(stage: Stage) -> None:
    caller, alias = talker(stage), live_model(stage)
    with opened(caller, alias) as session:
        begin, more = frame(Opcode.TEXT, b"x", final=False), frame(Opcode.CONT, b"", final=False)
        session.socket.socket.sendall(begin + more * 2000)
        code, _ = session.ending()
    assert code == 1009
    assert settled(caller).charge_microusd == 0


def send_forever(connection: socket.socket, data: bytes) -> None:
    """Send the same again and again. Raises OSError."""
    while True:
        connection.sendall(data)


def flood(session: Session) -> None:
    """Send 120 MB of sound, if the other side takes it."""
    for _ in range(2000):
        session.send("input_audio_buffer.append", audio="A" * 60_000)


def test_pings_are_answered(stage: Stage) -> None:
    caller, alias = talker(stage), live_model(stage)
    with opened(caller, alias) as session:
        assert session.socket.ping().wait(timeout=60)
        session.say(HELLO)


class Raw:
    """A socket whose client has shaken hands and reads nothing any more."""

    def __init__(self, caller: Caller, alias: str) -> None:
        host, port = caller.origin.removeprefix("http://").split(":")
        self.socket = socket.socket()
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        self.socket.connect((host, int(port)))
        headers = headers_of(caller) | UPGRADE | {"Host": host}
        lines = [f"GET {PATH}?model={alias} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items())]
        self.socket.sendall("\r\n".join([*lines, "", ""]).encode())
        assert self.socket.recv(12) == b"HTTP/1.1 101"

    def send(self, kind: str, **members: Any) -> None:
        """Send an event of up to 64 KiB."""
        payload = json.dumps({"type": kind, **members}).encode()
        self.socket.sendall(struct.pack("!BBH", 0x81, 0x80 | 126, len(payload)) + bytes(4) + payload)


def test_a_client_that_pings_and_never_reads_is_hung_up_on(stage: Stage) -> None:
    caller, alias = talker(stage), live_model(stage)
    raw = Raw(caller, alias)
    pings = frame(Opcode.PING, b"p" * 120, final=True) * 1000
    with pytest.raises(OSError):
        send_forever(raw.socket, pings)
    raw.socket.close()
    assert settled(caller).charge_microusd == 0


def test_a_client_that_never_reads_its_answer_is_hung_up_on(stage: Stage, settings: Any) -> None:
    settings.WRITE_SECONDS = 1.0
    caller, alias = talker(stage, balance=20_000_000), live_model(stage, max_output_tokens=4000)
    stage.upstream.realtime.manners.tokens = 4000
    raw = Raw(caller, alias)
    raw.send("response.create", response={"output_modalities": ["audio"]})  # 13 MB
    eventually(lambda: caller.only_call.state != "dispatched")
    raw.socket.close()
    assert caller.only_call.state in ("settled", "review")
    assert (caller.only_call.charge_microusd or caller.only_call.evidence["charge_microusd"]) > 0


def test_an_upstream_that_never_reads_slows_its_client_down(stage: Stage, settings: Any) -> None:
    settings.WRITE_SECONDS = 1.0
    caller, alias = talker(stage, balance=20_000_000), live_model(stage)
    stage.upstream.realtime.manners.reads = False
    with opened(caller, alias, max_cost=10_000_000) as session:
        with pytest.raises(ConnectionClosed):
            flood(session)
        code, _ = session.ending()
    assert code == 1011
    eventually(lambda: caller.only_call.state != "dispatched")


def test_what_follows_a_handshake_in_its_own_packet_is_no_request(stage: Stage) -> None:
    caller, alias = talker(stage), live_model(stage)
    host, port = caller.origin.removeprefix("http://").split(":")
    smuggled = f"GET /healthz HTTP/1.1\r\nHost: {host}\r\n\r\n"
    headers = {**UPGRADE, "Host": host}
    lines = [f"GET {PATH}?model={alias} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items())]
    with socket.create_connection((host, int(port))) as raw:
        raw.sendall("\r\n".join([*lines, "", smuggled]).encode())
        answer = b""
        while piece := raw.recv(65536):
            answer += piece
    assert answer.startswith(b"HTTP/1.1 401")
    assert answer.count(b"HTTP/1.1") == 1


def test_a_client_that_floods_before_the_answer_is_hung_up_on(stage: Stage) -> None:
    caller = talker(stage)
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(16)
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
        alias = live_model(stage, upstream=stage.upstream_row(adapter="realtime", base_url=url))
        host, port = caller.origin.removeprefix("http://").split(":")
        headers = headers_of(caller) | UPGRADE | {"Host": host}
        lines = [f"GET {PATH}?model={alias} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items())]
        with socket.create_connection((host, int(port))) as raw:
            raw.sendall("\r\n".join([*lines, "", ""]).encode())
            with pytest.raises(OSError):
                send_forever(raw, bytes(65536))


UPGRADE = {
    "Connection": "Upgrade",
    "Upgrade": "websocket",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
}
