"""`manage.py propose_prices [FILE|URL] [--accept NAME…]`"""

from collections.abc import Collection, Sequence
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DatabaseError, transaction
from django.utils import timezone

from accounts.operations import operator_log
from billing.rules.prices import show
from gateway.core.database.server import failure_of
from gateway.management import price_arguments
from inference.models import Alias, PriceProposal
from inference.operations import price_proposals, price_sources
from inference.operations.price_comparisons import Comparison, compare_costs, compare_prices
from inference.operations.price_proposals import RefusedError
from inference.operations.price_sources import name_of
from inference.queries.price_proposals import waiting
from inference.queries.sold_models import known_upstreams, sold_models, upstreams_at
from inference.rules.price_catalogues.forms import Catalogue
from inference.rules.price_catalogues.numbers import CatalogueError
from inference.rules.price_matching import Statements
from inference.rules.price_reports import lines, table, yaml_of, yaml_rows

ACTOR = "manage.py propose_prices"
SET_BACK = (
    "If a configuration file states them, change them there too: the next `apply`, or the next start with that file as "
    "GATEWAY_CONFIG, sets them back. --yaml prints what to write."
)


class Command(BaseCommand):
    """Compares the prices in force with a published catalogue's. A price is published only where --accept names it."""

    help = (
        "Compare the prices in force with a published catalogue, show what would change, and keep that as proposals, which "
        "--accept or the console publishes. Without FILE|URL, show the proposals that wait."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        price_arguments.add_comparison(parser)
        price_arguments.add_decision(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        """Show the proposals, then decide about those that are named. Exit with code 1 if one of them could not be decided."""
        if options["beyond_bounds"] and not options["accept"]:
            raise CommandError("--beyond-bounds needs --accept with the names of the proposals.")
        if options["cost"] and options["markup"] != "0":
            raise CommandError("--cost is without --markup: a cost is what the catalogue says.")
        try:
            self._run(options)
        except CatalogueError as error:
            raise CommandError(f"{name_of(options['source'])} cannot be used: {error}. Nothing was changed.") from None
        except DatabaseError as error:
            raise CommandError(f"{failure_of(error)}") from error

    def _run(self, options: dict[str, Any]) -> None:
        if options["source"]:
            self._compare(options)
        proposals = waiting(options["only"], costs=options["cost"])
        for proposal in proposals:
            self._show(proposal)
        if options["yaml"]:
            self._print_yaml(proposals)
        within = [each for each in proposals if options["accept_all"] and not each.is_beyond_bounds]
        accepted, refusals = _named(options["accept"], options["cost"])
        accepted += within
        dismissed, unknown = _named(options["dismiss"], options["cost"])
        refusals += [*unknown, *self._accept(accepted, options["beyond_bounds"]), *self._dismiss(dismissed)]
        if refusals:
            raise CommandError("\n".join(refusals))
        if proposals and not (accepted or dismissed or options["yaml"]):
            self.stdout.write(
                "Nothing was published. Accept with --accept NAME, or in the console under Proposed prices."
            )

    def _compare(self, options: dict[str, Any]) -> None:
        source = options["source"]
        self.stdout.write(f"Reading {name_of(source)}")
        self.stdout.flush()
        catalogue = price_sources.read(source, options["form"])
        self.stdout.write(f"{catalogue.form}: {len(catalogue.entries):,} models")
        statements, sold, now = _statements(options, catalogue, source), sold_models(), timezone.now()
        _check_names([*options["only"], *statements.entries], {model.name for model in sold}, "alias or raw model")
        compared = [model for model in sold if not options["only"] or model.name in options["only"]]
        label, markup = name_of(source), options["markup"]
        if options["cost"]:
            comparison = compare_costs(compared, catalogue, statements, source=label, now=now)
        else:
            comparison = compare_prices(compared, catalogue, statements, source=label, markup_percent=markup, now=now)
        price_proposals.store(comparison, now=now)
        self._summarize(comparison)

    def _summarize(self, comparison: Comparison) -> None:
        for sold, reason in comparison.unmatched:
            self.stdout.write(f"{sold}: nothing is proposed: {reason}")
        for sold in comparison.unchanged:
            self.stdout.write(f"{sold}: it is what the catalogue says")

    def _show(self, proposal: PriceProposal) -> None:
        matched = ", ".join(f"{entry} for {deployment}" for deployment, entry in proposal.deployments)
        markup = f", with a markup of {proposal.markup_percent} %" if proposal.markup_percent != "0" else ""
        self.stdout.write(f"\n{proposal.what}: {matched}{markup} ({proposal.source})")
        for line in lines(table(proposal.components_now, proposal.components, proposal.rounded)):
            self.stdout.write(f"  {line}")
        if not proposal.components_now:
            self.stdout.write("  There is nothing to compare with, which is beyond the bounds.")
        for note in proposal.notes:
            self.stdout.write(f"  {note}")

    def _print_yaml(self, proposals: Sequence[PriceProposal]) -> None:
        aliases = set(Alias.objects.values_list("name", flat=True))
        for each in proposals:
            if each.deployment:
                self.stdout.write(f"\n# {each.what}\ncost: {yaml_of(each.components)}")
        for section, key, is_alias in (("aliases", "name", True), ("raw_models", "model", False)):
            prices = [each for each in proposals if not each.deployment and (each.alias in aliases) is is_alias]
            if prices:
                rows = yaml_rows(((each.alias, each.components) for each in prices), key)
                self.stdout.write("\n".join([f"\n{section}:", *rows]))

    def _accept(self, proposals: Sequence[PriceProposal], beyond_bounds: bool) -> list[str]:
        """Publish proposals, each in a transaction of its own; return why some were refused."""
        refusals = []
        for proposal in proposals:
            try:
                self.stdout.write(_publish(proposal, beyond_bounds))
            except RefusedError as error:
                refusals.append(str(error))
        if len(refusals) < len(proposals):
            self.stdout.write(SET_BACK)
        return refusals

    def _dismiss(self, proposals: Sequence[PriceProposal]) -> list[str]:
        refusals = []
        for proposal in proposals:
            try:
                price_proposals.dismiss(proposal.pk, actor=ACTOR)
            except RefusedError as error:
                refusals.append(str(error))
            else:
                self.stdout.write(f"Dismissed the proposed {proposal.title}.")
        return refusals


def _named(names: Collection[str], costs: bool) -> tuple[list[PriceProposal], list[str]]:
    """Return the waiting proposals of these models, and a line for each model without one."""
    found = waiting(names, costs=costs) if names else []
    without = sorted(set(names) - {each.alias for each in found})
    return found, [f"There is no proposal for {name}." for name in without]


@transaction.atomic
def _publish(proposal: PriceProposal, beyond_bounds: bool) -> str:
    """Accept a proposal and note it in the operators' log."""
    version = price_proposals.accept(proposal.pk, actor=ACTOR, beyond_bounds=beyond_bounds)
    what = f"{proposal.title} from {version.effective_at:%Y-%m-%d %H:%M:%S} UTC: {show(version.components)}"
    operator_log.record(
        [("created", what, version)], source=f"propose_prices, {proposal.source}", now=version.effective_at
    )
    return f"Published the {what}."


def _statements(options: dict[str, Any], catalogue: Catalogue, source: str) -> Statements:
    """Collect what the operator says of the catalogue. Whose list it is, its address may tell."""
    upstreams = frozenset(options["upstream"]) or upstreams_at(price_sources.host_of(source) or "-")
    _check_names([*options["upstream"], *dict(options["providers"])], known_upstreams(), "upstream")
    if catalogue.is_of_one_upstream and not upstreams and not options["entries"]:
        raise CatalogueError("it is an upstream's own list: name the upstream with --upstream")
    return Statements(dict(options["entries"]), dict(options["providers"]), upstreams)


def _check_names(names: Collection[str], known: Collection[str], what: str) -> None:
    unknown = sorted(set(names) - set(known))
    if unknown:
        raise CommandError(f"There is no {what} {', '.join(unknown)}. Nothing was changed.")
