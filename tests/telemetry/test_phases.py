"""The phases of a request, from its marks and attempts."""

from gateway.core.telemetry.rules.phases import REFUSAL, phases_of

ATTEMPT = {"deployment": "1", "upstream": "primary", "began": 40, "first_byte": 90, "ended": 100, "status": 200}


def bars(steps: dict[str, object], duration: int) -> list[tuple[str, int, int, str]]:
    return [(one.name, one.begin, one.end, one.kind) for one in phases_of(steps, duration)]


def test_each_mark_ends_a_phase_and_attempts_fill_the_time_between() -> None:
    marks = [["authenticated", 5], ["received", 8], ["checked", 10], ["held", 40], ["sent", 40]]
    marks += [["first_byte", 90], ["upstream_done", 100], ["settled", 120], ["answered", 121]]
    assert bars({"marks": marks, "attempts": [ATTEMPT]}, 121) == [
        ("Proof and token", 0, 5, "own"),
        ("Arrival of the body", 5, 8, "own"),
        ("Checks", 8, 10, "own"),
        ("Hold in the ledger", 10, 40, "own"),
        ("Attempt 1: primary, until its first byte", 40, 90, "waiting"),
        ("Attempt 1: primary, its answer", 90, 100, "answering"),
        ("Closing in the ledger", 100, 120, "own"),
        ("End of the answer", 120, 121, "own"),
    ]


def test_a_failed_attempt_is_one_phase_up_to_its_end() -> None:
    failed = {**ATTEMPT, "first_byte": None, "cause": "upstream_429"}
    assert bars({"attempts": [failed]}, 130) == [("Attempt 1: primary", 40, 100, "failed")]


def test_a_stream_that_broke_off_had_begun() -> None:
    broken = {**ATTEMPT, "cause": "timeout_idle"}
    assert [bar[3] for bar in bars({"attempts": [broken]}, 130)] == ["waiting", "failed"]


def test_a_refused_request_ends_with_its_refusal() -> None:
    assert bars({"marks": [["authenticated", 5]]}, 9)[-1] == (REFUSAL, 5, 9, "own")
    assert bars({"marks": [["authenticated", 5], ["answered", 9]]}, 9)[-1] == (REFUSAL, 5, 9, "own")


def test_nothing_on_record_is_nothing() -> None:
    assert bars({}, 0) == []
