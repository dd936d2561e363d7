"""The tables of docs/compatibility.md."""

import re
from dataclasses import dataclass

from tests.support.pages import Page

PAGE = Page("docs/compatibility.md")


@dataclass(frozen=True)
class Tables:
    """What the page says of one SDK: names of methods, or of all that are under a name."""

    served: frozenset[str]
    refused: frozenset[str]

    def name_for(self, method: str) -> str | None:
        """Return the most particular name in the tables that stands for a method."""
        names = [name for name in self.served | self.refused if f"{method}.".startswith(f"{name}.")]
        return max(names, key=len, default=None)


def tables_of(vendor: str) -> Tables:
    """Read the two tables of `OpenAI` or `Anthropic`; no name is in both."""
    served, refused = (_names(f"## {vendor}: {kind}") for kind in ("served", "not served"))
    assert not served & refused
    return Tables(served, refused)


def refused_arguments() -> list[tuple[str, str, str]]:
    """Return the method, the arguments as Python writes them, and the `param` of the refusal."""
    rows = _rows("## Arguments that are refused")
    found = [re.match(r"\| `([\w.]+)\((.*)\)` \| `([^`]+)` \|", row) for row in rows]
    assert all(found)
    return [(match[1], match[2], match[3]) for match in found if match]


def _names(heading: str) -> frozenset[str]:
    names = [name for row in _rows(heading) for name in re.findall(r"`([\w.]+)`", row.split("|")[1])]
    assert len(names) == len(set(names))
    return frozenset(names)


def _rows(heading: str) -> list[str]:
    section = PAGE.text.partition(f"{heading}\n")[2].partition("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("| `")]
    assert rows, heading
    return rows
