"""What is said of long streams: chunks a second, the ratios that are wanted, and who is asked what."""

import pytest

from bench.lanes import CHAT_PATH, RESPONSES_PATH, Question
from bench.load import Run
from bench.measure import Results, Shape
from bench.processes import SERVER
from bench.text import (
    AT_ONCE,
    BARE_CHATS,
    BARE_RESPONSES,
    CHATS,
    JSON_AT_ONCE,
    JSON_CHATS,
    JSON_RESPONSES,
    OVER_CHAT,
    OVER_RESPONSES,
    RESPONSES,
    chunks_table,
    ratios_table,
)

RATES = {BARE_CHATS: 10, BARE_RESPONSES: 20, CHATS: 7, RESPONSES: 5, OVER_CHAT: 1, OVER_RESPONSES: 1}
CPU = {CHATS: 4.0, OVER_RESPONSES: 5.0, RESPONSES: 5.0, OVER_CHAT: 6.0}


def results() -> Results:
    measured = Results()
    for shape in (Shape(True, at_once) for at_once in AT_ONCE):
        for lane, rate in RATES.items():
            measured.of(lane, shape).runs.append(Run(1, elapsed_seconds=1.0, seconds=[0.1] * rate))
            measured.of(lane, shape).cpu_milliseconds = {SERVER: [CPU.get(lane, 1.0)]}
    for lane, rate in ((JSON_CHATS, 10), (JSON_RESPONSES, 9)):
        measured.of(lane, Shape(False, JSON_AT_ONCE)).runs.append(Run(1, elapsed_seconds=1.0, seconds=[0.1] * rate))
    return measured


def cells(table: str, row: str) -> list[str]:
    [line] = [line for line in table.splitlines() if line.startswith(f"| {row} ")]
    return [cell.strip() for cell in line.split("|")[2:-1]]


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ("chunks/s, chats / pass-through", ["0.70", "0.70"]),
        ("chunks/s, responses / pass-through", ["0.25", "0.25"]),
        ("server CPU, chats over responses / chats", ["1.25", "1.25"]),
        ("server CPU, responses over chats / responses", ["1.20", "1.20"]),
        ("requests/s, stored responses / chats", ["0.90", "-"]),
    ],
)
def test_lanes_are_divided_by_what_they_are_compared_with(row: str, expected: list[str]) -> None:
    assert cells(ratios_table(results()), row)[:2] == expected


def test_a_stream_counts_its_chunks() -> None:
    table = chunks_table(results())
    [line] = [line for line in table.splitlines() if line.startswith("| chats  ") and "| 16 " in line]
    assert [cell.strip() for cell in line.split("|")][3:-1] == ["2,800", "4.00", "10.00", "-", "0"]
    assert "JSON" not in table


def test_a_question_has_its_routes_form() -> None:
    chat, response = (Question("m", path).body(stream=True) for path in (CHAT_PATH, RESPONSES_PATH))
    assert b'"messages"' in chat
    assert b'"max_tokens":64' in chat
    assert b'"input"' in response
    assert b'"max_output_tokens":64' in response
    assert b'"stream":true' in response
