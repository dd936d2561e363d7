"""Recognizing events without parsing them never changes what the client gets or what is counted.

The tests read the same stream with every event parsed, and with events recognized where possible, one by one and together.
"""

from collections.abc import Sequence
from typing import Any

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from inference.adapters.templates import Run, Templates
from tests.inference.adapters.template_streams import (
    CHAT_END,
    OVER_CHAT,
    OVER_RESPONSES,
    Kind,
    Seen,
    begin_events,
    chat_choice,
    chat_event,
    delta_event,
    end_event,
    item_event,
    kind_of,
    seen,
)

PLAIN = 12
"""The number of plain events after which the next ones are recognized."""

KINDS = [*OVER_CHAT, *OVER_RESPONSES]

HOSTILE = [
    b"a",
    b"",
    b'"',
    b"\\",
    b"\\n",
    b"\\u00e9",
    b"\x01",
    b"\x02",
    b"\x03",
    b"\x00",
    b"\x1f",
    b"\x7f",
    b"\xc3",
    b"\xa9",
    b"\xff",
]
HOSTILE += [
    b"\xed\xa0\x80",
    b"\n",
    b"%b",
    b"%",
    b"}",
    b'"}',
    b'","delta":"x',
    b'","content":"x',
    b'"},"usage":{"a":1},"b":{"c":"',
]
NUMBERS = [
    b"8",
    b"0",
    b"00",
    b"01",
    b"-1",
    b"1.5",
    b"1e3",
    b"1" * 16,
    b"9" * 30,
    b'"8"',
    b"null",
    b"",
    b"true",
    b"[8]",
    b"8 ",
]

texts = st.one_of(
    st.lists(st.sampled_from(HOSTILE), max_size=4).map(b"".join),
    st.text().map(lambda text: orjson.dumps(text.encode("utf-8", "replace").decode())[1:-1]),
    st.sampled_from([b"word", b" word", "naïve".encode(), "🙂".encode()]),
)
paddings = st.one_of(st.none(), st.sampled_from([b"", b"x", b"aB3", *HOSTILE]))
chat_events = st.one_of(
    st.builds(chat_event, texts, padding=paddings),
    st.builds(chat_event, texts, index=st.sampled_from([b"0", b"1", b'"x"'])),
    st.builds(chat_event, texts, member=st.sampled_from([b"content", b"refusal", b"reasoning_content", b"tool_calls"])),
)
delta_events = st.one_of(
    st.builds(delta_event, texts, number=st.sampled_from(NUMBERS)),
    st.builds(delta_event, texts, padding=paddings),
    st.builds(delta_event, texts, kind=st.sampled_from([b"output_text", b"refusal", b"reasoning_summary_text"])),
    st.builds(item_event),
)


async def read_both_ways(kind: Kind, events: Sequence[bytes]) -> tuple[Seen, Seen]:
    parsed, together = await seen(kind, events, recognizes=False), await seen(kind, [b"".join(events)])
    assert await seen(kind, events) == parsed
    return parsed, together


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(chat_events, max_size=12))
@pytest.mark.parametrize("kind", OVER_CHAT)
async def test_chunks_are_the_same_whether_they_arrive_together_or_one_by_one(kind: Any, events: list[bytes]) -> None:
    plain = [chat_event(b" word", padding=b"x%d" % number) for number in range(PLAIN)]
    parsed, recognized = await read_both_ways(kind, [*plain, *events, CHAT_END])
    assert recognized == parsed


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(delta_events, max_size=12))
@pytest.mark.parametrize("kind", OVER_RESPONSES)
async def test_deltas_are_the_same_whether_they_arrive_together_or_one_by_one(kind: Any, events: list[bytes]) -> None:
    plain = [delta_event(b" word", number=b"%d" % number) for number in range(PLAIN)]
    parsed, recognized = await read_both_ways(kind, [*begin_events(), *plain, *events, end_event()])
    assert recognized == parsed


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("kind", KINDS)
async def test_a_hostile_text_is_refused_or_forwarded_as_if_parsed(kind: Any, text: bytes) -> None:
    made = chat_event if kind in OVER_CHAT else delta_event
    begin, end = ([], CHAT_END) if kind in OVER_CHAT else (begin_events(), end_event())
    events = [*begin, *[made(b"word")] * PLAIN, made(b"a" + text), made(text), *[made(b"b")] * 9, end]
    parsed, recognized = await read_both_ways(kind, events)
    assert recognized == parsed


@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("kind", OVER_RESPONSES)
async def test_a_hostile_number_is_refused_or_forwarded_as_if_parsed(kind: Any, number: bytes) -> None:
    plain = [delta_event(b"word")] * PLAIN
    parsed, recognized = await read_both_ways(
        kind, [*begin_events(), *plain, delta_event(b"a", number=number), *plain, end_event()]
    )
    assert recognized == parsed


async def test_a_separator_character_in_the_data_is_not_taken_for_a_separator() -> None:
    common = delta_event(b"word").partition(b'"sequence_number":7')[2].partition(b"word")[0]
    for mark in (b"\x01", b"\x02", b"\x03"):
        spoiled = delta_event(b"word").replace(common, mark)
        events = [*begin_events(), *[delta_event(b"word")] * PLAIN, spoiled, end_event()]
        parsed, recognized = await read_both_ways(OVER_RESPONSES[0], events)
        assert recognized == parsed
        assert recognized.broken == "malformed"


async def test_deltas_of_another_item_have_its_id() -> None:
    call = b'{"type":"function_call","id":"fc_up","call_id":"call_up","name":"look","arguments":""}'
    deltas = [delta_event(b"word")] * PLAIN
    events = [*begin_events(), *deltas, item_event(call), *deltas, end_event()]
    parsed, recognized = await read_both_ways(OVER_RESPONSES[0], events)
    assert recognized == parsed
    assert recognized.data.count(b'"item_id":"msg_') == PLAIN
    assert recognized.data.count(b'"item_id":"fc_') == PLAIN


@pytest.mark.parametrize(
    "between",
    [
        b'{"index":0,"delta":{"refusal":"no"}}',
        b'{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"look","arguments":""}}]}}',
    ],
)
async def test_a_text_after_another_part_is_not_added_to_the_previous_part(between: bytes) -> None:
    plain = [chat_event(b"word")] * PLAIN
    parsed, recognized = await read_both_ways(OVER_CHAT[1], [*plain, chat_choice(between), *plain, CHAT_END])
    assert recognized == parsed
    assert recognized.broken is None


@pytest.mark.parametrize("kind", OVER_CHAT)
async def test_a_text_in_a_member_that_no_reader_uses_is_not_the_text(kind: Any) -> None:
    """Of two members with the same name, the last one counts, even with another spelling."""
    twice = b'{"index":0,"delta":{"content":"dead%d","c\\u006fntent":"live"}}'
    parsed, recognized = await read_both_ways(kind, [*[chat_choice(twice % number) for number in range(30)], CHAT_END])
    assert recognized == parsed
    assert recognized.size_bytes == 30 * len("live")
    assert b"dead" not in recognized.data


@pytest.mark.parametrize("kind", OVER_CHAT)
async def test_repeated_log_probabilities_are_all_forwarded(kind: Any) -> None:
    logprobs = b'{"content":[{"token":"w","logprob":-0.5,"bytes":null,"top_logprobs":[]}]}'
    choice = b'{"index":0,"delta":{"content":"w%d"},"logprobs":%b}'
    events = [chat_choice(choice % (number, logprobs)) for number in range(30)]
    parsed, recognized = await read_both_ways(kind, [*events, CHAT_END])
    assert recognized == parsed
    assert recognized.data.count(b"-0.5") >= 30


@pytest.mark.parametrize("kind", KINDS)
async def test_most_of_a_stream_is_recognized(kind: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """If no event were recognized, the other tests would prove nothing."""
    runs: list[Run] = []
    find = Templates.run

    def noted(templates: Templates, blocks: Sequence[bytes]) -> Run | None:
        run = find(templates, blocks)
        runs.extend([run] if run else [])
        return run

    monkeypatch.setattr(Templates, "run", noted)
    made = chat_event if kind in OVER_CHAT else delta_event
    begin, end = ([], CHAT_END) if kind in OVER_CHAT else (begin_events(), end_event())
    events = [*begin, *[made(b"w%d" % number, padding=b"p%d" % number) for number in range(100)], end]
    recognized = await seen(kind, [b"".join(events)])
    assert sum(run.deltas for run in runs) > 80
    assert (recognized.deltas, recognized.broken) == (100, None)
    assert all(b'"w%d"' % number in recognized.data for number in range(100))


@pytest.mark.parametrize("kind", KINDS)
async def test_events_that_arrive_one_by_one_are_recognized_too(kind: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    made = chat_event if kind in OVER_CHAT else delta_event
    begin, end = ([], CHAT_END) if kind in OVER_CHAT else (begin_events(), end_event())
    events = [*begin, *[made(b"w%d" % number) for number in range(60)], end]
    translated: list[bytes] = []
    translate = kind_of(kind).translate

    def noted(stream: Any, data: bytes) -> Any:
        translated.append(data)
        return translate(stream, data)

    monkeypatch.setattr(kind_of(kind), "translate", noted)
    recognized = await seen(kind, events)
    assert (recognized.deltas, recognized.broken) == (60, None)
    assert len(translated) < 20


MIXED = [
    b'{"index":0,"delta":{"content":"w%d","tool_calls":[{"index":0,"function":{"arguments":"{}"}}]}}',
    b'{"index":0,"delta":{"content":"w%d","refusal":"no"}}',
    b'{"index":0,"delta":{"content":"w%d","audio":{"data":"AAAA","transcript":"word"}}}',
    b'{"index":0,"delta":{"content":"w%d","audio":{"data":"AAAA"}}}',
]


@pytest.mark.parametrize("choice", MIXED)
async def test_what_is_counted_beside_a_text_is_counted_every_time(choice: bytes) -> None:
    events = [*[chat_choice(choice % number) for number in range(30)], CHAT_END]
    parsed, recognized = await read_both_ways(OVER_CHAT[0], events)
    assert recognized == parsed


@pytest.mark.parametrize("kind", OVER_CHAT)
async def test_a_tier_that_is_reported_again_is_the_last_one(kind: Any) -> None:
    def events(tier: bytes) -> list[bytes]:
        return [chat_event(b"word").replace(b'"usage"', b'"service_tier":"%b","usage"' % tier)] * PLAIN

    parsed, recognized = await read_both_ways(
        kind, [*events(b"default"), *events(b"flex"), *events(b"default"), CHAT_END]
    )
    assert recognized == parsed
    assert recognized.tier == "default"


async def test_two_choices_that_alternate_are_both_recognized_and_counted() -> None:
    events = [chat_event(b"w%d" % number, index=b"%d" % (number % 2)) for number in range(60)]
    parsed, recognized = await read_both_ways(OVER_CHAT[0], [*events, CHAT_END])
    assert recognized == parsed
    assert recognized.deltas == 60
