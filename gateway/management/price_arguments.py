"""The arguments of `manage.py propose_prices`."""

import re
from argparse import ArgumentTypeError

from django.core.management.base import CommandParser

from inference.rules.price_catalogues.forms import FORMS

MARKUP_MAX_PERCENT = 1000

_PERCENT = re.compile(r"-?[0-9]{1,4}(\.[0-9]{1,6})?", re.ASCII)

_PAIRS = (
    ("--as", "entries", "NAME=ENTRY", "the catalogue's entry for an alias or a raw model"),
    ("--provider", "providers", "UPSTREAM=PROVIDER", "the catalogue's name for the provider of an upstream"),
)


def add_comparison(parser: CommandParser) -> None:
    """Add what is compared with which catalogue."""
    catalogues = (
        "LiteLLM's model_prices_and_context_window.json, models.dev's api.json, or an upstream's own list of models"
    )
    parser.add_argument("source", nargs="?", metavar="FILE|URL", help=catalogues)
    parser.add_argument("--format", choices=FORMS, dest="form", help="the catalogue's form; otherwise it is recognized")
    for option, name, form, words in _PAIRS:
        parser.add_argument(option, dest=name, action="append", type=_pair, default=[], metavar=form, help=words)
    whose = "the upstream whose own list of models this is"
    parser.add_argument("--upstream", action="append", default=[], metavar="NAME", help=whose)
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="these aliases and raw models alone")
    costs = "what deployments cost you, instead of what their models are sold for"
    parser.add_argument("--cost", action="store_true", help=costs)
    parser.add_argument("--markup", type=_percent, default="0", metavar="PERCENT", help="add this to every price")


def add_decision(parser: CommandParser) -> None:
    """Add what is done with the proposals."""
    accepting = parser.add_mutually_exclusive_group()
    accepting.add_argument("--accept", nargs="+", default=[], metavar="NAME", help="publish these proposals")
    accepting.add_argument("--accept-all", action="store_true", help="publish all proposals within the bounds")
    beyond = "with --accept: also a price that changes by more than a factor of 3, or from or to zero"
    parser.add_argument("--beyond-bounds", action="store_true", help=beyond)
    parser.add_argument("--dismiss", nargs="+", default=[], metavar="NAME", help="dismiss these proposals")
    parser.add_argument("--yaml", action="store_true", help="print the proposals as a configuration file has them")


def _pair(text: str) -> tuple[str, str]:
    name, separator, value = text.partition("=")
    if not (name and separator and value):
        raise ArgumentTypeError(f"{text!r} must have the form NAME=VALUE")
    return name, value


def _percent(text: str) -> str:
    if not _PERCENT.fullmatch(text) or not -100 < float(text) <= MARKUP_MAX_PERCENT:
        raise ArgumentTypeError(f"a percentage from more than -100 to {MARKUP_MAX_PERCENT}, with at most 6 decimals")
    return text
