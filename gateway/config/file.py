"""Checks a whole document: every section, row and reference, so that all problems are reported at once."""

from collections.abc import Iterator
from typing import Any

from gateway.config.context import Context
from gateway.config.document import Document
from gateway.config.problems import ConfigError, Path, Problem
from gateway.config.row import SectionRow, parse_row
from gateway.config.sections.account_key_sync import AccountKeySyncRow
from gateway.config.sections.aliases import AliasRow
from gateway.config.sections.appearance import AppearanceRow
from gateway.config.sections.ci import CIRow
from gateway.config.sections.credits import CreditRow
from gateway.config.sections.event_endpoints import EventEndpointRow
from gateway.config.sections.evolution import EvolutionRow
from gateway.config.sections.integrations import IntegrationRow
from gateway.config.sections.judgement import JudgementRow
from gateway.config.sections.limits import LimitRow
from gateway.config.sections.products import ProductRow
from gateway.config.sections.projects import ProjectRow
from gateway.config.sections.public_clients import PublicClientRow
from gateway.config.sections.raw_models import RawModelRow
from gateway.config.sections.sandbox import SandboxRow
from gateway.config.sections.upstreams import UpstreamRow

# The order in which rows are set: referenced rows before those that refer to them.
SECTIONS: dict[str, type[SectionRow]] = {
    "products": ProductRow,
    "appearance": AppearanceRow,
    "integrations": IntegrationRow,
    "public_clients": PublicClientRow,
    "upstreams": UpstreamRow,
    "aliases": AliasRow,
    "raw_models": RawModelRow,
    "judgement": JudgementRow,
    "limits": LimitRow,
    "projects": ProjectRow,
    "sandbox": SandboxRow,
    "ci": CIRow,
    "evolution": EvolutionRow,
    "event_endpoints": EventEndpointRow,
    "account_key_sync": AccountKeySyncRow,
    "credits": CreditRow,
}


def check(document: Document, context: Context) -> list[tuple[Path, SectionRow]]:
    """Return the rows in the order of setting, each with its path, or raise ConfigError with every problem."""
    rows: list[tuple[Path, SectionRow]] = []
    problems = [_unknown_section(document, name) for name in document.value if name not in SECTIONS]
    for name, kind in SECTIONS.items():
        if name in document.value:
            problems += _duplicates(document, name, kind)
            for path, value in _items(document, name, kind, problems):
                row, findings = parse_row(kind, value, context, path)
                problems += [document.problem(place, text) for place, text in findings]
                rows += [(path, row)] if row else []
    if problems:
        raise ConfigError(problems)
    return rows


def _items(
    document: Document, name: str, kind: type[SectionRow], problems: list[Problem]
) -> Iterator[tuple[Path, Any]]:
    value = document.value[name]
    if kind.identity is None:
        yield (name,), value
    elif isinstance(value, list):
        yield from (((name, index), item) for index, item in enumerate(value))
    else:
        problems.append(document.problem((name,), "must be a list"))


def _duplicates(document: Document, name: str, kind: type[SectionRow]) -> Iterator[Problem]:
    """Refuse two rows with the same name, because their precedence would be undefined."""
    value = document.value[name]
    keys = (kind.identity,) if isinstance(kind.identity, str) else kind.identity or ("",)
    first: dict[tuple[Any, ...], int] = {}
    for index, item in enumerate(value if isinstance(value, list) else []):
        identity = tuple(item.get(key) for key in keys) if isinstance(item, dict) else (None,)
        if not isinstance(identity[0], str) or not all(isinstance(each, str | None) for each in identity):
            continue
        if identity in first:
            yield document.problem((name, index, keys[0]), f"is the same row as {name}[{first[identity]}]")
        first.setdefault(identity, index)


def _unknown_section(document: Document, name: str) -> Problem:
    return document.problem((name,), f"unknown section; the sections are {', '.join(SECTIONS)}")
