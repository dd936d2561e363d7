"""The section `limits`: a row replaces the stored one, and every problem is named."""

from pathlib import Path

import pytest

from billing.models import Limit
from organizations.models import Membership
from tests.factories.organizations import Team
from tests.gateway.config_files import apply_text

pytestmark = pytest.mark.django_db

ALIASES = "aliases: [{name: fast}]\n"
ALICE = "did:web:studio.example:alice"


def stored() -> list[tuple[object, ...]]:
    columns = ("scope", "subject", "requests_per_minute", "tokens_per_minute", "concurrent")
    return list(Limit.objects.order_by("id").values_list(*columns))


def test_sets_the_rows_of_every_scope(tmp_path: Path) -> None:
    team = Team("olivia")
    text = f"""{ALIASES}limits:
  - {{scope: account, requests_per_minute: 600, tokens_per_minute: 200000, concurrent: 20}}
  - {{scope: account, subject: "{ALICE}", requests_per_minute: 1000000000}}
  - {{scope: organization, concurrent: 100}}
  - {{scope: organization, subject: {team.id}, concurrent: 1}}
  - {{scope: member, requests_per_minute: 120}}
  - {{scope: member, subject: {Membership.objects.get(organization_id=team.id).pk}, requests_per_minute: 12}}
  - {{scope: client, subject: "https://app.example", requests_per_minute: 3000}}
  - {{scope: alias, subject: fast, concurrent: 500}}
"""
    assert apply_text(tmp_path, text).summary == "gateway.yaml applied: 9 created."
    assert stored() == [
        ("account", None, 600, 200_000, 20),
        ("account", ALICE, 10**9, None, None),
        ("organization", None, None, None, 100),
        ("organization", team.id, None, None, 1),
        ("member", None, 120, None, None),
        ("member", Membership.objects.get(organization_id=team.id).pk, 12, None, None),
        ("client", "https://app.example", 3000, None, None),
        ("alias", "fast", None, None, 500),
    ]
    assert apply_text(tmp_path, text).summary == "gateway.yaml applied: 9 unchanged."


def test_a_row_replaces_the_whole_row_and_null_takes_a_number_away(tmp_path: Path) -> None:
    apply_text(tmp_path, "limits: [{scope: account, requests_per_minute: 600, tokens_per_minute: 5, concurrent: 20}]")
    applied = apply_text(tmp_path, "limits: [{scope: account, tokens_per_minute: null, concurrent: 7}]")
    assert stored() == [("account", None, None, None, 7)]
    assert "requests_per_minute 600 -> None" in applied.out
    apply_text(tmp_path, "limits: []")
    assert stored() == [("account", None, None, None, 7)]


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ("{scope: account, requests_per_minute: 0}", "limits[0].requests_per_minute: must be at least 1"),
        ("{scope: account, concurrent: 1000000001}", "limits[0].concurrent: must be at most 1000000000"),
        ("{scope: account, tokens_per_minute: 1.5}", "limits[0].tokens_per_minute: must be a whole number"),
        ('{scope: account, concurrent: "5"}', "limits[0].concurrent: must be a whole number"),
        ("{scope: account, concurent: 5}", "limits[0].concurent: unknown key (did you mean concurrent?)"),
        ("{concurrent: 5}", "limits[0].scope: is required"),
        (
            "{scope: team, concurrent: 5}",
            "limits[0].scope: must be one of account, organization, member, client, alias",
        ),
        ("{scope: alias, concurrent: 5}", "limits[0].subject: is required where the scope is alias"),
        ("{scope: client, concurrent: 5}", "limits[0].subject: is required where the scope is client"),
        ("{scope: account, subject: alice}", "limits[0].subject: this is not a DID"),
        ("{scope: organization, subject: org_none}", "limits[0].subject: there is no organization 'org_none'"),
        ("{scope: member, subject: mem_none}", "limits[0].subject: there is no membership 'mem_none'"),
        ("{scope: alias, subject: nameless}", "limits[0].subject: there is no alias or raw model 'nameless'"),
        ("{scope: alias, subject: judgement}", "limits[0].subject: judgement selects another alias: limit that one"),
        ('{scope: client, subject: "https://app.example/"}', "limits[0].subject: this is neither a client's id"),
    ],
)
def test_problems_name_their_path(tmp_path: Path, row: str, problem: str) -> None:
    applied = apply_text(tmp_path, f"limits: [{row}]")
    assert applied.code == 1
    assert problem in applied.err
    assert stored() == []


def test_the_same_row_twice_is_refused(tmp_path: Path) -> None:
    applied = apply_text(tmp_path, "limits: [{scope: account, concurrent: 1}, {scope: account, concurrent: 2}]")
    assert "limits[1].scope: is the same row as limits[0]" in applied.err
