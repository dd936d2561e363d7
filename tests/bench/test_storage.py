"""What a year needs follows from what a call takes."""

from bench.storage import ANSWERS, BATCH, GIBIBYTE, LEDGER, RESPONSES, _batches, report


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_a_year_is_its_calls_and_what_expires_stays_level() -> None:
    sizes = {LEDGER[0]: 500.0, LEDGER[1]: 300.0, LEDGER[2]: 273.741824, ANSWERS: 3650.0, RESPONSES: 365.0}
    lines = report({"chat": sizes}).splitlines()
    assert cells(lines[2]) == ["chat", "500", "300", "274", "1,074", "3,650", "365"]
    small, large = (cells(line) for line in lines[-2:])
    assert small[0] == "1,000,000 of chat"
    assert large == ["100,000,000 of chat", "100.00", f"{1e9 / GIBIBYTE:,.2f}", f"{3e9 / GIBIBYTE:,.2f}"]


def test_every_call_is_in_a_batch() -> None:
    assert _batches(2 * BATCH + 1) == [BATCH, BATCH, 1]
    assert _batches(1) == [1]
