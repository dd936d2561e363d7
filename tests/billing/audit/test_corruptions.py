"""Whoever changes the ledger behind its back is found out, however consistently he goes about it."""

import pytest

from billing.queries import audit
from tests.billing.audit.conftest import Forge
from tests.billing.audit.damage import DAMAGE
from tests.billing.audit.forgeries import FORGERIES, ONLY_A_SEAL_KNOWS, SCHEMES

CORRUPTIONS = {**FORGERIES, **SCHEMES, **DAMAGE}


@pytest.mark.parametrize("corruption", CORRUPTIONS)
def test_is_named(forge: Forge, corruption: str) -> None:
    invariant, *statements = CORRUPTIONS[corruption]
    forge(*statements)
    named = {finding.invariant for finding in audit.findings()}
    assert invariant in named
    assert invariant != ONLY_A_SEAL_KNOWS or named == {ONLY_A_SEAL_KNOWS}


def test_every_invariant_is_tried() -> None:
    assert {invariant for invariant, *_ in CORRUPTIONS.values()} == set(audit.invariants())
