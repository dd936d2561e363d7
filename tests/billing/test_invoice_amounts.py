"""The amounts of an invoice are whole cents that add up to its total."""

from itertools import product

import pytest

from billing.rules.invoice_amounts import InvoiceAmounts, in_cents
from billing.rules.invoices import CHARGE_MIN_MICROUSD, due_of
from gateway.core.contract.limits import CENT_MICROUSD


@pytest.mark.parametrize(
    ("lines", "shown"),
    [
        ([], InvoiceAmounts([], 0, 0)),
        ([11_612_903], InvoiceAmounts([11_610_000], 0, 11_610_000)),
        ([11_618_000, 4_615_000], InvoiceAmounts([11_610_000, 4_610_000], 10_000, 16_230_000)),
    ],
)
def test_fractions_of_a_cent_are_dropped(lines: list[int], shown: InvoiceAmounts) -> None:
    assert in_cents(lines, sum(lines)) == shown


@pytest.mark.parametrize("lines", product((0, 1, 9_999, 10_000, 495_001, 500_000), repeat=3))
def test_they_add_up_to_what_is_charged(lines: tuple[int, ...]) -> None:
    shown = in_cents(lines, sum(lines))
    assert sum(shown.lines) + shown.rounding == shown.total
    assert 0 <= shown.rounding < len(lines) * CENT_MICROUSD
    assert shown.total == due_of(sum(lines)) or shown.total < CHARGE_MIN_MICROUSD
