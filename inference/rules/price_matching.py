"""Finds the catalogue entry of each deployment. Nothing is guessed: what is not found, or is ambiguous, has a reason."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from inference.rules.price_catalogues.entries import Entry, shown
from inference.rules.price_catalogues.forms import Catalogue

NAMES_SHOWN_MAX = 4

PROVIDERS_OF_HOSTS: Mapping[str, frozenset[str]] = {
    "api.anthropic.com": frozenset({"anthropic"}),
    "api.cerebras.ai": frozenset({"cerebras"}),
    "api.cohere.com": frozenset({"cohere", "cohere_chat"}),
    "api.deepinfra.com": frozenset({"deepinfra"}),
    "api.deepseek.com": frozenset({"deepseek"}),
    "api.fireworks.ai": frozenset({"fireworks_ai", "fireworks-ai"}),
    "api.groq.com": frozenset({"groq"}),
    "api.mistral.ai": frozenset({"mistral"}),
    "api.openai.com": frozenset({"openai"}),
    "api.perplexity.ai": frozenset({"perplexity"}),
    "api.together.ai": frozenset({"together_ai", "togetherai"}),
    "api.together.xyz": frozenset({"together_ai", "togetherai"}),
    "api.voyageai.com": frozenset({"voyage"}),
    "api.x.ai": frozenset({"xai"}),
    "generativelanguage.googleapis.com": frozenset({"gemini", "google"}),
    "openrouter.ai": frozenset({"openrouter"}),
}
"""The names that catalogues have for the provider at an address."""


@dataclass(frozen=True, slots=True)
class Way:
    """A deployment: the upstream's name, the host of its address, its name for the model, and the deployment's id."""

    upstream: str
    host: str
    model: str
    id: str = ""

    def __str__(self) -> str:
        return f"{self.upstream}/{self.model}"


@dataclass(frozen=True, slots=True)
class Sold:
    """An alias or a raw model, and its enabled deployments. If it is one deployment whose cost is asked for, `deployment` is its
    id."""

    name: str
    ways: tuple[Way, ...]
    deployment: str = ""

    def apart(self) -> Iterator["Sold"]:
        """Yield each deployment, to compare its cost."""
        for way in self.ways:
            yield Sold(self.name, (way,), way.id)

    def __str__(self) -> str:
        return f"{self.name}: {self.ways[0]}" if self.deployment else self.name


@dataclass(frozen=True, slots=True)
class Statements:
    """What the operator says: the entry of a model, the provider of an upstream, and whose list of models it is."""

    entries: Mapping[str, str] = field(default_factory=dict)
    providers: Mapping[str, str] = field(default_factory=dict)
    upstreams: frozenset[str] = frozenset()


class UnmatchedError(Exception):
    """A model has no entry. The message is one line for the operator."""


def match(sold: Sold, catalogue: Catalogue, statements: Statements) -> list[tuple[str, Entry]]:
    """Return the entries of a model's deployments, each with the deployment's name. Raises UnmatchedError unless every
    deployment has one: the dearest of them decides."""
    if (stated := statements.entries.get(sold.name)) is not None:
        entry = _only(f"the catalogue has no {shown(stated)}", _named(catalogue, stated))
        return [(str(way), entry) for way in sold.ways] or [("as stated", entry)]
    if not sold.ways:
        raise UnmatchedError("it has no enabled deployment")
    return [(str(way), _entry(way, catalogue, statements)) for way in sold.ways]


def _entry(way: Way, catalogue: Catalogue, statements: Statements) -> Entry:
    if catalogue.is_of_one_upstream and way.upstream not in statements.upstreams:
        raise UnmatchedError(f"{way} is not at the upstream whose list this is")
    found = [entry for entry in catalogue.entries if way.model in (entry.model, entry.name)]
    providers = _providers(way, catalogue, statements)
    if providers is None:
        return _only(f"{way} is not in the catalogue", found)
    absent = f"{way} is not in the catalogue as a model of {' or '.join(sorted(providers))}"
    return _only(absent, [entry for entry in found if entry.provider in {*providers, ""}])


def _providers(way: Way, catalogue: Catalogue, statements: Statements) -> frozenset[str] | None:
    """Return the catalogue's names of a deployment's provider, None if it is not known."""
    if catalogue.is_of_one_upstream:
        return None
    if way.upstream in statements.providers:
        return frozenset({statements.providers[way.upstream]})
    if way.host in PROVIDERS_OF_HOSTS:
        return PROVIDERS_OF_HOSTS[way.host]
    is_provider = any(entry.provider == way.upstream for entry in catalogue.entries)
    return frozenset({way.upstream}) if is_provider else None


def _named(catalogue: Catalogue, name: str) -> list[Entry]:
    return [entry for entry in catalogue.entries if entry.name == name]


def _only(absent: str, entries: Iterable[Entry]) -> Entry:
    """Return the one entry, or the first of several that say the same."""
    found = list(entries)
    if not found:
        raise UnmatchedError(absent)
    if any(entry.prices != found[0].prices or entry.fault != found[0].fault for entry in found):
        names = [shown(entry.name) for entry in found[:NAMES_SHOWN_MAX]]
        more = f" and {len(found) - NAMES_SHOWN_MAX} more" if len(found) > NAMES_SHOWN_MAX else ""
        raise UnmatchedError(f"several entries with different prices fit: {', '.join(names)}{more}")
    if found[0].fault:
        raise UnmatchedError(f"{shown(found[0].name)}: {found[0].fault}")
    return found[0]
