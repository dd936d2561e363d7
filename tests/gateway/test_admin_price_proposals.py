"""Proposed prices in the console: an operator sees what would change, and decides once."""

from pathlib import Path
from typing import Any

import pytest
from django.contrib.admin.models import ADDITION, CHANGE
from django.test import Client
from django.utils import timezone

from billing.models import CostVersion
from billing.operations import prices as price_operations
from gateway.core.console import needs
from inference.models import PriceProposal
from tests.gateway.operators import address, clerk, logged
from tests.gateway.price_proposals import prepare, prices, proposal, propose

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _proposed(tmp_path: Path) -> None:
    assert propose(prepare(tmp_path)).code == 0


def decide(client: Client, name: str, how: str, **form: Any) -> Any:
    path = f"{address('inference_priceproposal_changelist')}{proposal(name).pk}/{how}/"
    return client.post(path, {"_form_submitted": "on", "reason": "right", **form})


def within(name: str) -> PriceProposal:
    """Return the proposal for a model, made one within the bounds."""
    found = proposal(name)
    found.components = {**found.components_now, "input_token": "0.75"}
    found.is_beyond_bounds = False
    found.save()
    return found


def test_the_page_shows_each_price_now_and_proposed(operator: Client) -> None:
    page = operator.get(address("inference_priceproposal_change", proposal("careful").pk)).content.decode()
    cells = [
        *("input_token", "0.5", "+500.0 %", "more than a factor of 3, or from or to zero"),
        *("above 200000: output_token", "(15)", "22.5", "+50.0 %"),
        "claude/claude-sonnet-4-5: claude-sonnet-4-5",
        "left out: search_context_cost_per_query",
        "Accept beyond the bounds",
    ]
    assert [cell for cell in cells if cell not in page] == []


def test_the_list_shows_what_waits(operator: Client) -> None:
    listed = operator.get(address("inference_priceproposal_changelist"), {"state__exact": "waiting"}).content.decode()
    assert "input_token 0.5 → 3" in listed
    assert "embedding" not in listed


def test_one_within_the_bounds_is_accepted_once(operator: Client) -> None:
    found = within("careful")
    page = address("inference_priceproposal_change", found.pk)
    assert decide(operator, "careful", "accept")["HX-Redirect"] == page
    assert prices("careful") == [
        {"input_token": "0.5", "output_token": "15"},
        {"input_token": "0.75", "output_token": "15"},
    ]
    found.refresh_from_db()
    assert (found.state, found.decided_by) == ("accepted", "did:web:localhost:operator")
    assert logged() == [
        (ADDITION, "Accepted a proposal: input_token 0.75, output_token 15"),
        (CHANGE, "Accepted. The price of careful is published. Reason: right"),
    ]
    assert decide(operator, "careful", "accept").status_code == 403
    assert decide(operator, "careful", "dismiss").status_code == 403
    assert len(prices("careful")) == 2
    assert "did:web:localhost:operator" in operator.get(page).content.decode()


def test_one_beyond_the_bounds_must_be_confirmed(operator: Client) -> None:
    assert decide(operator, "careful", "accept").status_code == 403
    assert "HX-Redirect" not in decide(operator, "careful", "accept_beyond_bounds")
    assert len(prices("careful")) == 1
    assert "HX-Redirect" in decide(operator, "careful", "accept_beyond_bounds", confirmed="on")
    assert len(prices("careful")) == 2


def test_a_cost_is_accepted_for_its_deployment(operator: Client, tmp_path: Path) -> None:
    assert propose(tmp_path / "catalogue.json", "--cost").code == 0
    found = proposal("careful")
    page = operator.get(address("inference_priceproposal_change", found.pk)).content.decode()
    assert "cost at claude/claude-sonnet-4-5" in page
    assert "HX-Redirect" in decide(operator, "careful", "accept_beyond_bounds", confirmed="on")
    assert CostVersion.objects.get(deployment=found.deployment).components == found.components
    assert len(prices("careful")) == 1
    assert logged()[-1] == (
        CHANGE,
        "Accepted. The cost of careful: claude/claude-sonnet-4-5 is published. Reason: right",
    )


def test_a_stale_one_says_so(operator: Client) -> None:
    within("careful")
    price_operations.publish("careful", {"input_token": "7", "output_token": "7"}, now=timezone.now())
    response = decide(operator, "careful", "accept")
    shown = operator.get(response["HX-Redirect"]).content.decode()
    assert "The price of careful has changed since this was proposed. Compare the catalogue again." in shown
    assert len(prices("careful")) == 2
    assert proposal("careful").state == "waiting"
    assert logged() == []


def test_one_is_dismissed(operator: Client) -> None:
    assert "HX-Redirect" in decide(operator, "fast", "dismiss")
    assert proposal("fast").state == "dismissed"
    assert len(prices("fast")) == 1
    assert logged() == [(CHANGE, "Dismissed. Reason: right")]


def test_an_operator_without_the_right_only_looks() -> None:
    looks = clerk("view_priceproposal")
    found = within("careful")
    page = looks.get(address("inference_priceproposal_change", found.pk))
    assert page.status_code == 200
    for how in ("accept", "accept_beyond_bounds", "dismiss"):
        assert decide(looks, "careful", how, confirmed="on").status_code == 403
    others = clerk("add_priceversion", "change_alias", name="other")
    assert others.get(address("inference_priceproposal_changelist")).status_code == 403
    assert decide(others, "careful", "accept").status_code == 403
    assert len(prices("careful")) == 1


def test_the_navigation_counts_what_waits(operator: Client) -> None:
    def counted() -> int | None:
        return needs.number(operator.get("/admin/").wsgi_request, "inference.proposals")

    assert counted() == 3
    decide(operator, "fast", "dismiss")
    assert counted() == 2
    assert "?state__exact=waiting" in operator.get(address("index")).content.decode()
