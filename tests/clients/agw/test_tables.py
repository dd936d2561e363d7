"""What people read: models, wallet, usage, receipts; and what programs read instead."""

import json

import pytest

from account_gateway_client.gateway import Gateway
from tests.clients.agw.command_line import CommandLine

HELLO = {"model": "fast", "max_tokens": 20, "messages": [{"role": "user", "content": "Hello"}]}


@pytest.fixture(scope="module")
def usage_id(person: CommandLine) -> str:
    """Pay for one call."""
    body = json.dumps(HELLO)
    completed = person.run("request", "POST", "/v1/chat/completions", "-d", body, "--max-cost", "0.02")
    assert completed.status == 0, completed.err
    return completed.err.split()[1]


def test_models(person: CommandLine) -> None:
    lines = person.run("models").out.splitlines()
    assert lines[0].split() == ["MODEL", "ALLOWED", "ROUTES", "PRICES", "IN", "MICRO-USD"]
    [fast] = [line for line in lines if line.startswith("fast ")]
    assert "yes" in fast
    assert "chat.completions responses messages" in fast
    assert "input_token 0.15" in fast
    [image] = [line for line in lines if line.startswith("image ")]
    assert image.endswith("image 11000 to 250000")
    [realtime] = [line for line in lines if line.startswith("realtime ")]
    assert " no " in realtime
    assert "fast" in [model["id"] for model in person.run("models", "--json").json]


def test_wallet(person: CommandLine) -> None:
    shown = person.run("wallet").out
    assert "available  $4.9" in shown
    assert "CREDIT FOR  LEFT" in shown
    assert "anything    $4.9" in shown
    assert person.run("wallet", "--json").json["currency"] == "USD"


def test_usage(person: CommandLine, usage_id: str) -> None:
    lines = person.run("usage", "--limit", "1").out.splitlines()
    assert lines[0].split() == ["BEGAN", "(UTC)", "MODEL", "ROUTE", "IN", "OUT", "STATUS", "COST", "ID"]
    assert len(lines) == 2
    [record] = person.run("usage", "--limit", "1", "--json").json
    assert record["usageId"] == lines[1].split()[-1]


@pytest.mark.parametrize("limit", ["0", "101", "many", ""])
def test_usage_has_its_limits(agw: CommandLine, limit: str) -> None:
    completed = agw.run("usage", "--limit", limit)
    assert completed.status == 2
    assert completed.complaint.endswith("See `agw usage --help`.")


@pytest.mark.parametrize("options", [[], ["--verify"]])
def test_receipt(person: CommandLine, usage_id: str, options: list[str]) -> None:
    shown = person.run("receipt", usage_id, *options)
    assert shown.status == 0, shown.err
    assert f"Call      {usage_id}" in shown.out
    assert ("yes: signature and amounts" if options else "no: --verify does it") in shown.out
    assert "input_token" in shown.out
    facts = person.run("receipt", usage_id, "--json", *options).json
    assert facts["claims"]["jti"] == usage_id
    assert facts["verified"] is bool(options)
    assert facts["receipt"].count(".") == 2


def test_a_receipt_that_does_not_verify_fails(
    person: CommandLine, usage_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    signed = person.run("receipt", usage_id, "--json").json["receipt"]
    header, payload, signature = signed.split(".")
    forged = f"{header}.{payload}.{signature[::-1]}"
    monkeypatch.setattr(Gateway, "receipt", lambda self, usage_id: forged)
    completed = person.run("receipt", usage_id, "--verify")
    assert completed.status == 1
    assert completed.complaint


def test_a_receipt_of_nothing_is_not_found(person: CommandLine) -> None:
    assert person.run("receipt", "use_nothing").status == 4


@pytest.mark.parametrize("usage_id", ["", "..", "a/b", "?", "a b"])
def test_an_id_of_another_form_is_wrong_use(person: CommandLine, usage_id: str) -> None:
    assert person.run("receipt", usage_id).status == 2


def test_what_a_gateway_says_does_not_rule_the_terminal(person: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    evil = {"id": "a\x1b]0;title\x07", "authorized": True, "routes": ["chat\n"], "pricing": {"\x9b2J\ud800": "1"}}
    monkeypatch.setattr(Gateway, "models", lambda self: [evil])
    shown = person.run("models").out
    assert len(shown.splitlines()) == 2
    assert not set(shown) & {"\x1b", "\x07", "\x9b"}
    printed = person.run("models", "--json")
    assert not set(printed.out) & {"\x1b", "\x07", "\x9b"}
    assert printed.json == [evil]
