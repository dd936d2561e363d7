"""`manage.py apply`, by several at once: each ends well, and everything exists once."""

from functools import partial
from pathlib import Path

import pytest

from billing.models import CreditLot, PriceVersion, Transfer
from inference.models import Deployment
from tests.gateway.config_files import WHOLE, apply_file
from tests.support.concurrency import at_once

pytestmark = pytest.mark.django_db(transaction=True)

APPLIERS = 4


def test_the_same_file_applied_at_once_is_set_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PRIMARY_API_KEY", "sk-primary-secret")
    file = tmp_path / "gateway.yaml"
    file.write_text(WHOLE)

    applied = at_once(*[partial(apply_file, file)] * APPLIERS)

    summaries = sorted(run.summary for run in applied)
    assert summaries == ["gateway.yaml applied: 33 created.", *["gateway.yaml applied: 33 unchanged."] * (APPLIERS - 1)]
    assert PriceVersion.objects.count() == 5
    assert Deployment.objects.count() == 5
    assert CreditLot.objects.count() == 2
    assert Transfer.objects.count() == 2


def test_two_files_that_contradict_each_other_leave_one_of_them(tmp_path: Path) -> None:
    files = [tmp_path / f"{number}.yaml" for number in range(APPLIERS)]
    for number, file in enumerate(files):
        file.write_text(
            "upstreams: [{name: up, adapter: demo}]\n"
            f"aliases: [{{name: fast, deployments: [{{upstream: up, model: m{number}}}], price: {{request: {number}}}}}]\n"
        )

    applied = at_once(*(partial(apply_file, file) for file in files))

    assert [run.err for run in applied] == [""] * APPLIERS
    last = PriceVersion.objects.order_by("-effective_at").first()
    assert last is not None
    assert Deployment.objects.values_list("model", flat=True).get() == f"m{last.components['request']}"
