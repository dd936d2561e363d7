"""The ends of events and their data, at any chunk boundaries."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inference.adapters.sse import EVENT_MAX_BYTES, EventSplitter, EventTooLargeError, data_of

DATA = st.text(alphabet="aé語🙂 :{}", min_size=1, max_size=12).filter(lambda text: text.strip(" "))


def events_of(*chunks: bytes) -> list[bytes]:
    splitter = EventSplitter()
    return [data for chunk in chunks for block in splitter.feed(chunk) if (data := data_of(block))]


@pytest.mark.parametrize(
    ("stream", "events"),
    [
        (b"data: one\n\ndata: two\n\n", [b"one", b"two"]),
        (b"data:one\n\n", [b"one"]),
        (b"data:  two spaces\n\n", [b" two spaces"]),
        (b"data: one\r\n\r\ndata: two\r\n\r\n", [b"one", b"two"]),
        (b"data: one\r\rdata: two\r\r", [b"one", b"two"]),
        (b"data: one\r\n\ndata: two\n\r\n", [b"one", b"two"]),
        (b"\xef\xbb\xbfdata: one\n\n", [b"one"]),
        (b": comment\n\ndata: one\n\n:\n\n", [b"one"]),
        (b"data: {\ndata: }\n\n", [b"{\n}"]),
        (b"data\ndata: x\n\n", [b"\nx"]),
        (b"event: chunk\nid: 7\nretry: 10\ndata: one\n\n", [b"one"]),
        (b"event: chunk\ndata: one\n\n", [b"one"]),
        (b"event: chunk\ndata:one\n\n", [b"one"]),
        (b"event: chunk\ndata: {\ndata: }\n\n", [b"{\n}"]),
        (b"event: chunk\n: data: no\ndata: one\n\n", [b"one"]),
        (b"event: data: no\n\ndata: one\n\n", [b"one"]),
        (b"event\ndata: one\n\n", [b"one"]),
        (b"event: chunk\n\n", []),
        (b"data: one\nevent: late\n\n", [b"one"]),
        (b"database: no\n\ndata: one\n\n", [b"one"]),
        (b"data\n\ndata:\n\n", []),
        (b"\n\n\n\ndata: one\n\n\n\ndata: two\n\n", [b"one", b"two"]),
        (b"data: unfinished\n", []),
        (b"data: unfinished", []),
    ],
)
def test_events_end_at_a_blank_line(stream: bytes, events: list[bytes]) -> None:
    assert events_of(stream) == events
    assert events_of(*(stream[at : at + 1] for at in range(len(stream)))) == events


@given(
    lines=st.lists(st.lists(DATA, min_size=1, max_size=3), min_size=1, max_size=6),
    ends=st.lists(st.sampled_from(["\n", "\r\n", "\r"]), min_size=1, max_size=5),
    noise=st.sampled_from(["", ": ping", "id: 1", "event: x"]),
    bom=st.booleans(),
    cuts=st.lists(st.integers(0, 400), max_size=30),
)
def test_chunk_boundaries_change_nothing(
    lines: list[list[str]], ends: list[str], noise: str, bom: bool, cuts: list[int]
) -> None:
    """Any kind of line end may follow any other, and a chunk may end inside a character, a CRLF or the BOM."""
    written = ["\ufeff" if bom else ""]
    turn = iter(ends * 100)
    for event in lines:
        # A lone CR before a lone LF would read as one line end, so an event uses one kind.
        end = next(turn)
        written += [f"{noise}{end}"] if noise else []
        written += [f"data: {line}{end}" for line in event] + [end]
        if end == "\r":
            written.append("x-next: 1\r")
    stream = "".join(written).encode()
    at = [0, *sorted(cut for cut in cuts if cut < len(stream)), len(stream)]
    pieces = [stream[start:end] for start, end in pairwise(at)]
    expected = ["\n".join(event).encode() for event in lines]
    assert events_of(stream) == expected
    assert events_of(*pieces) == expected


@given(st.binary(max_size=300), st.lists(st.integers(0, 300), max_size=20))
def test_any_bytes_give_the_same_events_in_any_pieces(stream: bytes, cuts: list[int]) -> None:
    at = [0, *sorted(cut for cut in cuts if cut < len(stream)), len(stream)]
    assert events_of(*(stream[start:end] for start, end in pairwise(at))) == events_of(stream)


def test_an_event_without_end_is_refused() -> None:
    splitter = EventSplitter()
    splitter.feed(b"data: " + b"x" * (EVENT_MAX_BYTES - 100))
    with pytest.raises(EventTooLargeError):
        splitter.feed(b"x" * 200)


def test_parsing_single_bytes_takes_linear_time() -> None:
    splitter = EventSplitter()
    for _ in range(300_000):
        assert splitter.feed(b"x") == []
    assert splitter.feed(b"\n\n") != []
