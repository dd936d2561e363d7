"""`manage.py propose_prices`: what it shows, keeps and publishes."""

import json
import re
from functools import partial
from pathlib import Path

import pytest
import yaml
from django.contrib.admin.models import LogEntry
from django.utils import timezone

from billing.models import CostVersion, PriceVersion
from billing.operations import costs as cost_operations
from billing.operations import prices as price_operations
from gateway.config import document
from inference.models import Alias, Deployment, PriceProposal
from inference.operations import price_proposals
from tests.gateway.config_files import apply_text
from tests.gateway.price_proposals import prepare, prices, proposal, propose
from tests.inference.prices.excerpts import LITELLM, OPENROUTER
from tests.support.concurrency import at_once

pytestmark = pytest.mark.django_db

FAST = {
    "input_token": "1.25",
    "cached_input_token": "0.125",
    "output_token": "10",
    "request": "5",
    "service_tiers": {
        "flex": {"input_token": "1.25", "cached_input_token": "0.125", "output_token": "10"},
        "priority": {"input_token": "2.5", "cached_input_token": "0.25", "output_token": "20"},
    },
}


def test_shows_what_would_change_and_publishes_nothing(tmp_path: Path) -> None:
    ran = propose(prepare(tmp_path))
    assert ran.code == 0
    assert ran.out.splitlines()[:7] == [
        "Reading catalogue.json",
        "litellm: 9 models",
        "other: nothing is proposed: main/small-1 is not in the catalogue as a model of openai",
        "embedding: it is what the catalogue says",
        "",
        "azure/gpt-5: azure/gpt-5 for azure/azure/gpt-5 (catalogue.json)",
        "  USD per million     now     proposed  change",
    ]
    assert PriceVersion.objects.count() == 5
    assert "Nothing was published. Accept with --accept NAME, or in the console" in ran.out


def test_a_proposal_keeps_what_it_compared(tmp_path: Path) -> None:
    propose(prepare(tmp_path), "--markup", "0.0")
    found = proposal("fast")
    assert found.components == FAST
    assert found.components_now == {"input_token": "1.00", "output_token": "8", "request": "5"}
    assert found.version_id == PriceVersion.objects.get(alias="fast").pk
    assert found.deployments == [["main/gpt-5", "gpt-5"], ["azure/gpt-5", "azure/gpt-5"]]
    assert found.notes == ["the deployments have different prices; each of these is the highest"]
    assert (found.source, found.state, found.decided_at) == ("catalogue.json", "waiting", None)
    assert found.is_beyond_bounds  # what was read from the cache cost as much as other input


def test_several_deployments_are_said_to_differ_and_percentages_are_shown(tmp_path: Path) -> None:
    shown = [" ".join(line.split()) for line in propose(prepare(tmp_path), "--only", "fast").out.splitlines()]
    assert "fast: gpt-5 for main/gpt-5, azure/gpt-5 for azure/gpt-5 (catalogue.json)" in shown
    assert "input_token 1.00 1.25 +25.0 %" in shown
    assert "cached_input_token (1) 0.125 -87.5 % more than a factor of 3, or from or to zero" in shown
    assert "flex: cached_input_token (1) 0.125 -87.5 % more than a factor of 3, or from or to zero" in shown
    assert "priority: input_token (1) 2.5 +150.0 %" in shown
    assert "the deployments have different prices; each of these is the highest" in shown


def test_a_stated_entry_a_markup_and_a_provider(tmp_path: Path) -> None:
    file = prepare(tmp_path)
    assert propose(file, "--as", "other=whisper-1", "--markup", "20.5", "--only", "other").code == 0
    assert proposal("other").components == {"input_token": "1", "output_token": "1", "audio_second": "120.5"}
    assert proposal("other").markup_percent == "20.5"
    propose(file, "--provider", "main=azure", "--only", "fast")
    assert proposal("fast").deployments == [["main/gpt-5", "azure/gpt-5"], ["azure/gpt-5", "azure/gpt-5"]]


@pytest.mark.parametrize(
    "hostile", ["\0", "\ud800", "\x1b[31m", "x" * 10_000], ids=["nul", "surrogate", "escape", "long"]
)
def test_a_catalogues_names_are_kept_and_shown_as_they_can_be(tmp_path: Path, hostile: str) -> None:
    stated = {"cost": {"input": 2, "output": 9}}
    file = prepare(tmp_path, json.dumps({hostile: {"models": {"small": stated}}}).encode())
    ran = propose(file, "--as", f"other={hostile}/small")
    assert (ran.code, ran.err) == (0, "")
    [[_, name]] = proposal("other").deployments
    assert name.isprintable()
    assert len(name) <= 100
    assert name in ran.out


def test_a_newer_proposal_replaces_one_that_waits(tmp_path: Path) -> None:
    file = prepare(tmp_path)
    propose(file)
    propose(file)  # says the same again
    propose(file, "--markup", "10")
    states = PriceProposal.objects.filter(alias="fast").order_by("pk").values_list("state", "markup_percent")
    assert list(states) == [("replaced", "0"), ("waiting", "10")]
    assert propose(file, "--accept", "fast", "--beyond-bounds", "--markup", "10").code == 0
    propose(file, "--only", "fast", "--markup", "10")
    assert not PriceProposal.objects.filter(alias="fast", state="waiting").exists()


def test_a_price_is_published_only_where_it_is_named(tmp_path: Path) -> None:
    file = prepare(tmp_path)
    propose(file)
    ran = propose("--accept", "fast", "--beyond-bounds")
    assert ran.code == 0
    assert "Published the price of fast from " in ran.out
    assert "If a configuration file states them, change them there too" in ran.out
    assert prices("fast")[1:] == [FAST]
    assert len(prices("careful")) == 1
    found = proposal("fast")
    version = PriceVersion.objects.get(pk=found.published_version_id or 0)
    assert (found.state, found.decided_by, found.decided_at) == (
        "accepted",
        "manage.py propose_prices",
        version.effective_at,
    )
    entry = LogEntry.objects.latest("pk")
    assert entry.object_id == str(version.pk)
    assert entry.change_message.startswith("Created by propose_prices, catalogue.json: price of fast from ")


def test_what_is_beyond_the_bounds_needs_a_word(tmp_path: Path) -> None:
    file = prepare(tmp_path)
    refused = propose(file, "--accept", "careful")
    assert refused.code == 1
    assert refused.err == "The price of careful changes by more than the bounds allow, which must be confirmed."
    assert len(prices("careful")) == 1
    assert propose("--accept", "careful", "--beyond-bounds").code == 0
    assert len(prices("careful")) == 2


def test_all_within_the_bounds_are_accepted_at_once(tmp_path: Path) -> None:
    ran = propose(
        prepare(tmp_path, re.sub(rb'"cache_read_input_token_cost[a-z_]*": [0-9.e-]+,', b"", LITELLM)), "--accept-all"
    )
    assert ran.code == 0, ran.err
    assert [name for name in ("fast", "careful", "azure/gpt-5") if len(prices(name)) == 2] == ["fast"]
    assert proposal("careful").state == "waiting"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--accept", "nobody"], "There is no proposal for nobody."),
        (["--accept", "other"], "There is no proposal for other."),
        (["--dismiss", "other"], "There is no proposal for other."),
        (["--beyond-bounds"], "--beyond-bounds needs --accept with the names of the proposals."),
        (["--as", "nobody=gpt-5"], "There is no alias or raw model nobody. Nothing was changed."),
        (["--only", "nobody"], "There is no alias or raw model nobody. Nothing was changed."),
        (["--provider", "nobody=openai"], "There is no upstream nobody. Nothing was changed."),
        (["--upstream", "nobody"], "There is no upstream nobody. Nothing was changed."),
        (["--as", "fast"], "Error: argument --as: 'fast' must have the form NAME=VALUE"),
        (["--format", "openrouter"], "catalogue.json cannot be used: it does not have the form of openrouter"),
        *(
            (
                ["--markup", each],
                "Error: argument --markup: a percentage from more than -100 to 1000, with at most 6 decimals",
            )
            for each in ("-100", "1001", "1e2", "NaN", "", "1.1234567", "\u0663")
        ),
    ],
)
def test_wrong_use_is_one_line(tmp_path: Path, arguments: list[str], words: str) -> None:
    ran = propose(prepare(tmp_path), *_glued(arguments))
    assert ran.code == 1
    assert ran.err.startswith(words)
    assert "\n" not in ran.err
    assert PriceVersion.objects.count() == 5


def _glued(arguments: list[str]) -> list[str]:
    return [f"{arguments[0]}={arguments[1]}"] if arguments[0] == "--markup" else arguments


def test_a_file_that_cannot_be_read_is_one_line(tmp_path: Path) -> None:
    file = prepare(tmp_path, b"[")
    assert propose(file).err.startswith("catalogue.json cannot be used: it is not JSON: ")
    assert propose(tmp_path / "none").err == "none cannot be used: No such file or directory. Nothing was changed."
    assert propose(tmp_path).err.startswith(f"{tmp_path.name} cannot be used: Is a directory")
    assert propose("/dev/zero").err == "zero cannot be used: it is larger than 16 MiB. Nothing was changed."
    assert not PriceProposal.objects.exists()


def test_a_stale_proposal_is_refused(tmp_path: Path) -> None:
    propose(prepare(tmp_path))
    price_operations.publish("fast", {"input_token": "7", "output_token": "7"}, now=timezone.now())
    refused = propose("--accept", "fast", "--beyond-bounds")
    assert refused.err == "The price of fast has changed since this was proposed. Compare the catalogue again."
    assert len(prices("fast")) == 2
    assert proposal("fast").state == "waiting"


def test_a_proposal_for_what_is_no_longer_sold_is_refused(tmp_path: Path) -> None:
    propose(prepare(tmp_path))
    Alias.objects.filter(name="fast").delete()
    assert propose("--accept", "fast", "--beyond-bounds").err == "fast is no longer for sale."


def test_a_price_that_would_take_a_route_offline_is_refused(tmp_path: Path) -> None:
    propose(prepare(tmp_path))
    PriceProposal.objects.filter(alias="fast").update(components={"input_token": "1.25"})
    refused = propose("--accept", "fast", "--beyond-bounds")
    assert refused.err == "this price has no output_token: /v1/chat/completions cannot be called with `fast`."
    assert len(prices("fast")) == 1


def test_a_dismissed_proposal_cannot_be_accepted(tmp_path: Path) -> None:
    propose(prepare(tmp_path))
    assert "Dismissed the proposed price of fast." in propose("--dismiss", "fast").out
    assert propose("--accept", "fast", "--beyond-bounds").err == "There is no proposal for fast."
    with pytest.raises(price_proposals.RefusedError, match="The proposed price of fast was dismissed in the meantime"):
        price_proposals.accept(proposal("fast").pk, actor="x", beyond_bounds=True)


def test_a_model_without_a_price_is_beyond_the_bounds(tmp_path: Path) -> None:
    file = prepare(tmp_path)
    apply_text(
        tmp_path, "aliases: [{name: new, routes: [chat.completions], deployments: [{upstream: main, model: gpt-5}]}]"
    )
    shown = propose(file, "--only", "new").out
    assert "There is nothing to compare with, which is beyond the bounds." in shown
    assert propose("--accept", "new").code == 1
    assert propose("--accept", "new", "--beyond-bounds").code == 0
    assert prices("new") == [proposal("new").components]


def test_yaml_that_is_printed_sets_the_same_price(tmp_path: Path) -> None:
    file = prepare(tmp_path)
    shown = propose(file, "--yaml").out
    text = shown[shown.index("\naliases:") :]
    rows = document.read(text.encode()).value
    assert rows == yaml.safe_load(text)
    assert {row["name"]: row["price"] for row in rows["aliases"]} == {
        name: proposal(name).components for name in ("careful", "fast")
    }
    assert rows["raw_models"] == [{"model": "azure/gpt-5", "price": proposal("azure/gpt-5").components}]
    assert propose("--accept", "fast", "--beyond-bounds").code == 0
    [fast] = [row for row in rows["aliases"] if row["name"] == "fast"]
    again = apply_text(tmp_path, yaml.safe_dump({"aliases": [fast]}))
    assert "unchanged price of fast" in again.out


def test_an_upstreams_own_list_needs_a_name(tmp_path: Path) -> None:
    file = prepare(tmp_path, OPENROUTER)
    words = "catalogue.json cannot be used: it is an upstream's own list: name the upstream with --upstream. Nothing was changed."
    assert propose(file).err == words
    shown = propose(file, "--upstream", "main").out
    assert "careful: nothing is proposed: claude/claude-sonnet-4-5 is not at the upstream whose list this is" in shown
    assert not PriceProposal.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_a_proposal_that_many_accept_at_once_is_published_once(tmp_path: Path) -> None:
    propose(prepare(tmp_path))
    pk = proposal("fast").pk

    def accept(number: int) -> str:
        try:
            price_proposals.accept(pk, actor=str(number), beyond_bounds=True)
        except price_proposals.RefusedError as error:
            return str(error)
        return "published"

    results = at_once(*(partial(accept, number) for number in range(8)))
    assert sorted(set(results)) == ["The proposed price of fast was accepted in the meantime.", "published"]
    assert results.count("published") == 1
    assert len(prices("fast")) == 2
    assert proposal("fast").decided_by == str(results.index("published"))


@pytest.mark.django_db(transaction=True)
def test_catalogues_compared_at_once_leave_one_proposal(tmp_path: Path) -> None:
    file = prepare(tmp_path)
    results = at_once(*(partial(propose, file, "--markup", number) for number in range(6)))
    assert [run.code for run in results] == [0] * 6
    assert PriceProposal.objects.filter(alias="fast", state="waiting").count() == 1
    assert PriceProposal.objects.filter(alias="fast").count() == 6


@pytest.mark.django_db(transaction=True)
def test_a_price_that_is_published_meanwhile_makes_a_proposal_stale(tmp_path: Path) -> None:
    propose(prepare(tmp_path))
    pk = proposal("fast").pk

    def accept() -> object:
        try:
            return price_proposals.accept(pk, actor="x", beyond_bounds=True).components
        except price_proposals.RefusedError as error:
            return str(error)

    def publish() -> object:
        return price_operations.publish("fast", {"input_token": "7", "output_token": "7"}, now=timezone.now())

    accepted, _ = at_once(accept, publish)
    found = prices("fast")
    assert found in (
        [found[0], {"input_token": "7", "output_token": "7"}],
        [found[0], FAST, {"input_token": "7", "output_token": "7"}],
    )
    assert (accepted == FAST) is (len(found) == 3)


def test_costs_of_deployments_are_proposed_apart(tmp_path: Path) -> None:
    file = prepare(tmp_path)
    shown = propose(file, "--cost").out
    assert "fast: azure/gpt-5: azure/gpt-5 for azure/gpt-5 (catalogue.json)" in shown
    assert (
        "other: main/small-1: nothing is proposed: main/small-1 is not in the catalogue as a model of openai" in shown
    )
    assert propose().out == ""  # no price is proposed
    assert PriceProposal.objects.filter(alias="fast", state="waiting").count() == 2
    assert propose("--cost", "--accept", "fast").err.splitlines() == [
        f"The cost of fast: {name}/gpt-5 changes by more than the bounds allow, which must be confirmed."
        for name in ("main", "azure")
    ]
    assert not CostVersion.objects.exists()


def test_a_cost_is_published_for_its_deployment_and_leaves_the_price(tmp_path: Path) -> None:
    file = prepare(tmp_path)
    ran = propose(file, "--cost", "--only", "fast", "--accept", "fast", "--beyond-bounds")
    assert ran.code == 0, ran.err
    assert "Published the cost of fast: main/gpt-5 from " in ran.out
    costs = {row.deployment: row.components for row in CostVersion.objects.all()}
    azure = Deployment.objects.get(alias__name="fast", upstream__name="azure")
    assert costs[str(azure.pk)] == {"input_token": "1.25", "cached_input_token": "0.125", "output_token": "10"}
    assert len(costs) == 2
    assert len(prices("fast")) == 1
    assert "fast: azure/gpt-5: it is what the catalogue says" in propose(file, "--cost").out
    assert LogEntry.objects.latest("pk").change_message.startswith(
        "Created by propose_prices, catalogue.json: cost of fast: "
    )


def test_a_stale_cost_and_one_of_a_deployment_that_is_gone_are_refused(tmp_path: Path) -> None:
    propose(prepare(tmp_path), "--cost")
    azure = Deployment.objects.get(alias__name="fast", upstream__name="azure")
    cost_operations.publish(str(azure.pk), {"input_token": "7"}, now=timezone.now())
    Deployment.objects.filter(alias__name="fast", upstream__name="main").delete()
    assert sorted(propose("--cost", "--accept", "fast", "--beyond-bounds").err.splitlines()) == [
        "The cost of fast: azure/gpt-5 has changed since this was proposed. Compare the catalogue again.",
        "fast: main/gpt-5 is no longer for sale.",
    ]


def test_costs_are_printed_for_their_deployments(tmp_path: Path) -> None:
    shown = propose(prepare(tmp_path), "--cost", "--yaml", "--only", "careful").out
    assert '\n# careful: claude/claude-sonnet-4-5\ncost: {input_token: "3", cached_input_token: "0.3",' in shown
    assert "aliases:" not in shown
    assert propose("--cost", "--markup=5").err == "--cost is without --markup: a cost is what the catalogue says."
