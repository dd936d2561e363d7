"""llms.txt and llms-full.txt, for programs that read: what there is, and all of it as Markdown (https://llmstxt.org)."""

import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

from docs.site.contents import Entry, Section, pages, title_of
from docs.site.source import place_of

# Why it is built as it is: of no use to somebody who calls or operates it.
OPTIONAL = "Decisions"
INTRODUCTION = """\
# Account Gateway

> A prepaid, metered gateway in front of AI models. Each person and each organization has a wallet; each call states the most \
that it may cost, is held before it is sent, and is charged once. Clients use the OpenAI and Anthropic APIs, with requests \
that are signed with DPoP (RFC 9449).

A running gateway serves its own API reference at `/docs`, and the OpenAPI document at `/openapi.json`.
"""


def write(sections: Iterable[Section], source: Path, site: Path) -> None:
    """Write both files into a built site, and beside each page its Markdown, to which llms.txt links."""
    listed = list(sections)
    for place in map(place_of, pages(listed)):
        (site / place).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source / place, site / place)
    index = [INTRODUCTION, *map(_index_of, listed)]
    full = [(source / place_of(page)).read_text(encoding="utf-8") for page in pages(_needed(listed))]
    (site / "llms.txt").write_text("\n".join(index), encoding="utf-8")
    (site / "llms-full.txt").write_text("\n".join([INTRODUCTION, *full]), encoding="utf-8")


def _needed(listed: Iterable[Section]) -> list[Section]:
    return [section for section in listed if section.title != OPTIONAL]


def _index_of(section: Section) -> str:
    """Return a section of llms.txt, with a line for each page."""
    title = section.title if section.title != OPTIONAL else "Optional"
    return "".join([f"## {title}\n\n", *(line for entry in section.entries for line in _lines_of(entry))])


def _lines_of(entry: Entry) -> Iterator[str]:
    """Yield the lines of an entry: its own, then those of a folder's other pages."""
    first, *others = entry.pages
    summary = f": {entry.summary}" if entry.summary else ""
    yield f"- [{entry.title}]({place_of(first)}){summary}\n"
    yield from (f"- [{title_of(page)}]({place_of(page)})\n" for page in others)
