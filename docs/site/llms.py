"""llms.txt and llms-full.txt, for programs that read: what there is, and all of it as Markdown (https://llmstxt.org)."""

import shutil
from collections.abc import Iterable
from pathlib import Path

from docs.site.contents import Section, pages, title_of
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
    index, full = [INTRODUCTION], [INTRODUCTION]
    for section in listed:
        index.append(f"## {'Optional' if section.title == OPTIONAL else section.title}\n")
        for entry in section.entries:
            summary = f": {entry.summary}" if entry.summary else ""
            titles = [entry.title] if len(entry.pages) == 1 else [title_of(page) for page in entry.pages]
            index += [
                f"- [{title}]({place_of(page)}){summary}" for title, page in zip(titles, entry.pages, strict=True)
            ]
        index.append("")
    for page in pages(listed):
        place = place_of(page)
        (site / place).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source / place, site / place)
    full += [(source / place_of(page)).read_text() for page in pages(s for s in listed if s.title != OPTIONAL)]
    (site / "llms.txt").write_text("\n".join(index), encoding="utf-8")
    (site / "llms-full.txt").write_text("\n".join(full), encoding="utf-8")
