"""One signed request: its body as it comes, its receipt, its exit status, at no more than it may cost."""

import json
import re
from decimal import Decimal
from pathlib import Path

import pytest

from tests.clients.agw.command_line import CommandLine

CHAT = "/v1/chat/completions"
HELLO = {"model": "fast", "max_tokens": 20, "messages": [{"role": "user", "content": "Hello"}]}
BODY = json.dumps(HELLO)
STREAMED = json.dumps(HELLO | {"stream": True})
COST = re.compile(r"agw: (use_[0-9a-z]{26}) cost \$([0-9.]+) of \$([0-9.]+) held\.\n")


def left_of(person: CommandLine) -> int:
    available: int = person.run("wallet", "--json").json["availableMicrousd"]
    return available


@pytest.mark.parametrize("body", [BODY, STREAMED])
def test_a_call_costs_what_the_receipt_says(person: CommandLine, body: str) -> None:
    before = left_of(person)
    completed = person.run("request", "POST", CHAT, "-d", body, "--max-cost", "0.02")
    assert completed.status == 0, completed.err
    found = COST.fullmatch(completed.err)
    assert found, completed.err
    assert before - left_of(person) == Decimal(found[2]) * 10**6
    assert Decimal(found[2]) <= Decimal(found[3]) <= Decimal("0.02")
    assert (b"data: [DONE]" in completed.body) is (body == STREAMED)


def test_the_body_comes_from_a_file_or_from_standard_input(person: CommandLine, tmp_path: Path) -> None:
    file = tmp_path / "body.json"
    file.write_text(BODY)
    key = "body-from-a-file"
    first = person.run("request", "post", CHAT, "-d", f"@{file}", "--max-cost", "$.02", "--idempotency-key", key)
    again = person.run(
        "request", "POST", CHAT, "-d", "@-", "--max-cost", "0.02", "--idempotency-key", key, stdin=BODY.encode()
    )
    assert (first.status, again.status) == (0, 0)
    assert first.body == again.body
    assert re.fullmatch(r"agw: use_[0-9a-z]{26} was answered before: nothing was charged again\.\n", again.err)


REFUSALS: dict[str, tuple[list[str], int, str]] = {
    "no maximum": (["POST", CHAT, "-d", BODY], 1, "max_cost_required.*--max-cost 0.05"),
    "too small a maximum": (["POST", CHAT, "-d", BODY, "--max-cost", "0.000001"], 7, r"max_cost_exceeded.* It takes --max-cost 0\.[0-9]+"),
    "no such model": (["POST", CHAT, "-d", BODY.replace("fast", "nothing"), "--max-cost", "1"], 4, "model_not_found"),
    "a scope that is not there": (["POST", "/v1/organizations", "-d", '{"name": "A"}'], 3, "insufficient_scope.*`agw login --scope"),
    "no such path": (["GET", "/v1/nothing"], 4, "not_found"),
    "no such method": (["DELETE", "/v1/wallet"], 1, "method_not_allowed"),
    "another body with the same key": (["POST", CHAT, "-d", STREAMED, "--max-cost", "1", "--idempotency-key", "taken"], 1, "idempotency_key_reused"),
}  # fmt: skip


@pytest.mark.parametrize(("arguments", "status", "words"), REFUSALS.values(), ids=REFUSALS.keys())
def test_a_refusal_has_its_body_one_line_and_its_exit_status(
    person: CommandLine, arguments: list[str], status: int, words: str
) -> None:
    if "taken" in arguments:
        person.run("request", "POST", CHAT, "-d", BODY, "--max-cost", "1", "--idempotency-key", "taken")
    completed = person.run("request", *arguments)
    assert completed.status == status
    assert re.search(words, completed.complaint), completed.complaint
    assert completed.json["error"]["request_id"] in completed.complaint


def test_repeats_with_one_key_are_paid_once(person: CommandLine) -> None:
    call = ["request", "POST", CHAT, "-d", STREAMED, "--max-cost", "0.02", "--idempotency-key", "together"]
    before = left_of(person)
    assert [person.run(*call).status for _ in range(3)] == [0, 0, 0]
    spent = before - left_of(person)
    assert 0 < spent < 20_000
    assert [each["idempotencyKey"] for each in person.run("usage", "--json").json].count("together") == 1


WRONG_USE: dict[str, list[str]] = {
    "no slash": ["GET", "v1/wallet"],
    "another host": ["GET", "@evil.example/"],
    "a name that continues the host's": ["GET", ".evil.example/"],
    "an address": ["GET", "https://evil.example/v1/wallet"],
    "a space": ["GET", "/v1/wal let"],
    "a line break": ["GET", "/v1/wallet\r\nHost: evil"],
    "a fragment": ["GET", "/v1/wallet#x"],
    "a backslash": ["GET", "/v1\\wallet"],
    "another alphabet": ["GET", "/v1/w\u00e4llet"],
    "a method with a space": ["GET /", "/v1/wallet"],
    "no method": ["", "/v1/wallet"],
    "no JSON": ["POST", CHAT, "-d", "{"],
    "an empty body": ["POST", CHAT, "-d", ""],
    "deep JSON": ["POST", CHAT, "-d", "[" * 200_000],
    "a file that is not there": ["POST", CHAT, "-d", "@/nowhere/at/all"],
    "a folder": ["POST", CHAT, "-d", "@/"],
    "fractions of a micro-USD": ["POST", CHAT, "-d", BODY, "--max-cost", "0.0000001"],
    "an exponent": ["POST", CHAT, "-d", BODY, "--max-cost", "1e-3"],
    "nothing": ["POST", CHAT, "-d", BODY, "--max-cost", "0"],
    "a negative maximum": ["POST", CHAT, "-d", BODY, "--max-cost", "-1"],
    "more than a call may cost": ["POST", CHAT, "-d", BODY, "--max-cost", "1000.000001"],
    "a key of another alphabet": ["POST", CHAT, "-d", BODY, "--idempotency-key", "\u00fc"],
    "a key with a line break": ["POST", CHAT, "-d", BODY, "--idempotency-key", "a\nX: y"],
    "a long key": ["POST", CHAT, "-d", BODY, "--idempotency-key", "a" * 256],
    "an empty key": ["POST", CHAT, "-d", BODY, "--idempotency-key", ""],
}


@pytest.mark.parametrize("arguments", WRONG_USE.values(), ids=WRONG_USE.keys())
def test_wrong_use_is_told_before_anything_is_sent(agw: CommandLine, arguments: list[str]) -> None:
    """Nobody is signed in here, so whatever were sent would be status 3."""
    completed = agw.run("request", *arguments)
    assert completed.status == 2, completed.err
    assert completed.complaint
    assert not completed.body


def test_a_binary_answer_is_not_touched(person: CommandLine) -> None:
    speech = json.dumps({"model": "audio", "input": "Hello", "voice": "alloy", "response_format": "wav"})
    completed = person.run("request", "POST", "/v1/audio/speech", "-d", speech, "--max-cost", "0.05")
    assert completed.status == 0, completed.err
    assert completed.body.startswith(b"RIFF")
    assert COST.fullmatch(completed.err), completed.err
    assert b": service" not in completed.body[-200:]
