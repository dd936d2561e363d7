"""`agw doctor` finds what is wrong and says what to do."""

import pytest

from account_gateway_client.cli import checks
from account_gateway_client.gateway import Gateway
from tests.clients.agw.command_line import CommandLine

CHECKS = ["TLS", "Clock", "Address", "Sign-in", "Scopes", "Models", "Wallet"]


def findings_of(agw: CommandLine, *options: str) -> dict[str, tuple[bool, str]]:
    return {one["check"]: (one["ok"], one["text"]) for one in agw.run("doctor", "--json", *options).json}


def test_all_is_well(person: CommandLine) -> None:
    shown = person.run("doctor")
    assert shown.status == 0, shown.out
    assert [line.split()[:2] for line in shown.out.splitlines()] == [["ok", check] for check in CHECKS]
    assert list(findings_of(person)) == CHECKS


def test_nobody_is_signed_in(agw: CommandLine) -> None:
    shown = agw.run("doctor", "--gateway", agw.gateway)
    assert shown.status == 3
    assert shown.out.splitlines()[-1] == (
        f"PROBLEM  Sign-in   You are not signed in: run `agw login --gateway {agw.gateway}`."
    )
    assert agw.run("doctor").status == 3


def test_no_gateway_is_there(agw: CommandLine) -> None:
    shown = agw.run("doctor", "--gateway", "http://localhost:1")
    assert shown.status == 1
    assert shown.out == "PROBLEM  Address   http://localhost:1 does not answer. Check the address and the network.\n"


def test_no_tls_is_there(agw: CommandLine) -> None:
    shown = agw.run("doctor", "--gateway", agw.gateway.replace("http:", "https:"))
    assert shown.status == 1
    assert shown.out.startswith("PROBLEM  TLS       There is no secure connection to https://localhost:")


@pytest.mark.parametrize(
    ("seconds", "words"), [(-70, "s slow: set it"), (30, "s fast: set it"), (5, None), (-40, None)]
)
def test_the_clock_is_wrong(monkeypatch: pytest.MonkeyPatch, seconds: int, words: str | None) -> None:
    finding = checks._clock("Fri, 27 Nov 2026 08:00:00 GMT", 1795766400 + seconds, 1795766401 + seconds)
    assert finding.is_ok is (words is None)
    assert words is None or words in finding.text
    for date in (None, "", "yesterday"):
        assert checks._clock(date, 0, 0).is_ok


@pytest.mark.parametrize(
    ("wallet", "words"),
    [
        ({"debtMicrousd": 2_000_000, "availableMicrousd": 0}, "a debt of $2.00 blocks calls: pay it on http"),
        ({"debtMicrousd": 0, "availableMicrousd": 0}, "empty: add money on http"),
    ],
)
def test_there_is_no_money(
    person: CommandLine, monkeypatch: pytest.MonkeyPatch, wallet: dict[str, int], words: str
) -> None:
    monkeypatch.setattr(Gateway, "wallet", lambda self: wallet)
    shown = person.run("doctor")
    assert shown.status == 7
    assert words in shown.out


def test_what_was_not_allowed_is_named(agw: CommandLine) -> None:
    agw.log_in("usage:read")
    assert agw.run("doctor").status == 3
    found = findings_of(agw)
    assert found["Scopes"] == (False, "no model is allowed: sign in again, and leave models ticked")
    assert found["Models"][0] is False
    assert found["Wallet"] == (True, "not shown: the sign-in lacks wallet:read")
    assert "not shown: the sign-in lacks wallet:read" in agw.run("status").out
