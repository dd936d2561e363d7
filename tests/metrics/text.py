"""Reads Prometheus' text format."""

from collections.abc import Mapping
from dataclasses import dataclass

from prometheus_client.parser import text_string_to_metric_families


@dataclass(frozen=True)
class Scrape:
    """The answer to one scrape."""

    text: str

    def series(self, name: str) -> list[tuple[Mapping[str, str], float]]:
        """Return the labels and the value of each series of a name."""
        families = text_string_to_metric_families(self.text)
        return [(each.labels, each.value) for family in families for each in family.samples if each.name == name]

    def value(self, name: str, **labels: str) -> float | None:
        """Return the sum of the series that have these labels; None if there is none."""
        found = [value for have, value in self.series(name) if labels.items() <= have.items()]
        return sum(found) if found else None

    def names(self) -> set[str]:
        """Return the name of each family, as rules write it."""
        lines = [line.split() for line in self.text.splitlines() if line.startswith("# TYPE ")]
        return {line[2] for line in lines}
