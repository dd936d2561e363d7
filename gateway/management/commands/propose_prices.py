"""`manage.py propose_prices [FILE|URL] [--accept NAME…]`"""

import re
from argparse import ArgumentTypeError
from collections.abc import Collection, Sequence
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DatabaseError, transaction
from django.utils import timezone

from accounts.operations import operator_log
from billing.rules.prices import show
from gateway.core.database.server import failure_of
from inference.models import Alias, PriceProposal
from inference.operations import price_proposals, price_sources
from inference.operations.price_proposals import Comparison, RefusedError
from inference.operations.price_sources import name_of
from inference.queries.price_proposals import waiting
from inference.queries.sold_models import known_upstreams, sold_models, upstreams_at
from inference.rules.price_catalogues.forms import FORMS, Catalogue
from inference.rules.price_catalogues.numbers import CatalogueError
from inference.rules.price_matching import Statements
from inference.rules.price_reports import lines, table, yaml_rows

ACTOR = "manage.py propose_prices"
MARKUP_MAX_PERCENT = 1000
SET_BACK = (
    "If a configuration file states these prices, change them there too: the next `apply`, or the next start with that file as "
    "GATEWAY_CONFIG, sets them back. --yaml prints what to write."
)

_PERCENT = re.compile(r"-?[0-9]{1,4}(\.[0-9]{1,6})?", re.ASCII)


class Command(BaseCommand):
    """Compares the prices in force with a published catalogue's. A price is published only where --accept names it."""

    help = (
        "Compare the prices in force with a published catalogue, show what would change, and keep that as proposals, which "
        "--accept or the console publishes. Without FILE|URL, show the proposals that wait."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "source",
            nargs="?",
            metavar="FILE|URL",
            help="LiteLLM's model_prices_and_context_window.json, models.dev's api.json, or an upstream's own list of models",
        )
        parser.add_argument(
            "--format", choices=FORMS, dest="form", help="the catalogue's form; otherwise it is recognized"
        )
        parser.add_argument(
            "--as",
            dest="entries",
            action="append",
            type=_pair,
            default=[],
            metavar="NAME=ENTRY",
            help="the catalogue's entry for an alias or a raw model",
        )
        parser.add_argument(
            "--provider",
            dest="providers",
            action="append",
            type=_pair,
            default=[],
            metavar="UPSTREAM=PROVIDER",
            help="the catalogue's name for the provider of an upstream",
        )
        parser.add_argument(
            "--upstream",
            action="append",
            default=[],
            metavar="NAME",
            help="the upstream whose own list of models this is",
        )
        parser.add_argument(
            "--only", nargs="+", default=[], metavar="NAME", help="compare these aliases and raw models alone"
        )
        parser.add_argument("--markup", type=_percent, default="0", metavar="PERCENT", help="add this to every price")
        accepting = parser.add_mutually_exclusive_group()
        accepting.add_argument("--accept", nargs="+", default=[], metavar="NAME", help="publish these proposals")
        accepting.add_argument("--accept-all", action="store_true", help="publish all proposals within the bounds")
        parser.add_argument(
            "--beyond-bounds",
            action="store_true",
            help="with --accept: also a price that changes by more than a factor of 3, or from or to zero",
        )
        parser.add_argument("--dismiss", nargs="+", default=[], metavar="NAME", help="dismiss these proposals")
        parser.add_argument(
            "--yaml", action="store_true", help="print the proposed prices as a configuration file has them"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Show the proposals, then decide about those that are named. Exit with code 1 if one of them could not be decided."""
        if options["beyond_bounds"] and not options["accept"]:
            raise CommandError("--beyond-bounds needs --accept with the names of the proposals.")
        try:
            self._run(options)
        except CatalogueError as error:
            raise CommandError(f"{name_of(options['source'])} cannot be used: {error}. Nothing was changed.") from None
        except DatabaseError as error:
            raise CommandError(f"{failure_of(error)}") from error

    def _run(self, options: dict[str, Any]) -> None:
        if options["source"]:
            self._compare(options)
        proposals = waiting(options["only"])
        for proposal in proposals:
            self._show(proposal)
        if options["yaml"]:
            self._print_yaml(proposals)
        names = options["accept"] or [
            each.alias for each in proposals if options["accept_all"] and not each.is_beyond_bounds
        ]
        refusals = [*self._accept(names, options["beyond_bounds"]), *self._dismiss(options["dismiss"])]
        if names and len(refusals) < len(names):
            self.stdout.write(SET_BACK)
        if refusals:
            raise CommandError("\n".join(refusals))
        if proposals and not (names or options["dismiss"] or options["yaml"]):
            self.stdout.write(
                "Nothing was published. Accept with --accept NAME, or in the console under Proposed prices."
            )

    def _compare(self, options: dict[str, Any]) -> None:
        source = options["source"]
        self.stdout.write(f"Reading {name_of(source)}")
        self.stdout.flush()
        catalogue = price_sources.read(source, options["form"])
        self.stdout.write(f"{catalogue.form}: {len(catalogue.entries):,} models")
        said, sold, now = _statements(options, catalogue, source), sold_models(), timezone.now()
        _check_names([*options["only"], *said.entries], {model.name for model in sold}, "alias or raw model")
        compared = [model for model in sold if not options["only"] or model.name in options["only"]]
        comparison = price_proposals.compare(
            compared, catalogue, said, source=name_of(source), markup_percent=options["markup"], now=now
        )
        price_proposals.store(comparison, now=now)
        self._summarize(comparison)

    def _summarize(self, comparison: Comparison) -> None:
        for name, reason in comparison.unmatched:
            self.stdout.write(f"{name}: nothing is proposed: {reason}")
        for name in comparison.unchanged:
            self.stdout.write(f"{name}: the price is the catalogue's")

    def _show(self, proposal: PriceProposal) -> None:
        matched = ", ".join(f"{entry} for {deployment}" for deployment, entry in proposal.deployments)
        markup = f", with a markup of {proposal.markup_percent} %" if proposal.markup_percent != "0" else ""
        self.stdout.write(f"\n{proposal.alias}: {matched}{markup} ({proposal.source})")
        for line in lines(table(proposal.components_now, proposal.components, proposal.rounded)):
            self.stdout.write(f"  {line}")
        if not proposal.components_now:
            self.stdout.write("  There is no price to compare with, which is beyond the bounds.")
        for note in proposal.notes:
            self.stdout.write(f"  {note}")

    def _print_yaml(self, proposals: Sequence[PriceProposal]) -> None:
        aliases = set(Alias.objects.values_list("name", flat=True))
        for section, key, is_alias in (("aliases", "name", True), ("raw_models", "model", False)):
            rows = [(each.alias, each.components) for each in proposals if (each.alias in aliases) is is_alias]
            if rows:
                self.stdout.write("\n".join([f"\n{section}:", *yaml_rows(rows, key)]))

    def _accept(self, names: Sequence[str], beyond_bounds: bool) -> list[str]:
        """Publish proposals, each in a transaction of its own; return why some were refused."""
        refusals = []
        for name, proposal in _waiting(names).items():
            try:
                self.stdout.write(_publish(proposal, beyond_bounds) if proposal else _none(name))
            except RefusedError as error:
                refusals.append(str(error))
        return refusals

    def _dismiss(self, names: Sequence[str]) -> list[str]:
        refusals = []
        for name, proposal in _waiting(names).items():
            try:
                price_proposals.dismiss((proposal or _none(name)).pk, actor=ACTOR)
            except RefusedError as error:
                refusals.append(str(error))
            else:
                self.stdout.write(f"Dismissed the proposal for {name}.")
        return refusals


def _waiting(names: Collection[str]) -> dict[str, PriceProposal | None]:
    found = {each.alias: each for each in (waiting(names) if names else ())}
    return {name: found.get(name) for name in dict.fromkeys(names)}


def _none(name: str) -> Any:
    raise RefusedError(f"There is no proposal for {name}.")


@transaction.atomic
def _publish(proposal: PriceProposal, beyond_bounds: bool) -> str:
    """Accept a proposal and note it in the operators' log."""
    version = price_proposals.accept(proposal.pk, actor=ACTOR, beyond_bounds=beyond_bounds)
    what = f"price of {proposal.alias} from {version.effective_at:%Y-%m-%d %H:%M:%S} UTC: {show(version.components)}"
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


def _pair(text: str) -> tuple[str, str]:
    name, separator, value = text.partition("=")
    if not (name and separator and value):
        raise ArgumentTypeError(f"{text!r} must have the form NAME=VALUE")
    return name, value


def _percent(text: str) -> str:
    if not _PERCENT.fullmatch(text) or not -100 < float(text) <= MARKUP_MAX_PERCENT:
        raise ArgumentTypeError(f"a percentage from more than -100 to {MARKUP_MAX_PERCENT}, with at most 6 decimals")
    return text
