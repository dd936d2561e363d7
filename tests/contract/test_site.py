"""The documentation builds as a site in which every link and anchor leads somewhere, and nothing comes from elsewhere."""

import re
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from docs.site.__main__ import generate, main
from docs.site.contents import DOCS, ROOT, Entry, Section, pages, problems, sections
from docs.site.lists import indented
from docs.site.source import place_of, write
from docs.site.tabs import tabbed

STRUCTURE = ("h1", "h2", "h3", "li", "ol", "pre", "td", "ul")
LOADED = re.compile(r'<(?:script|img|link|iframe)\b[^>]*\b(?:src|href)="?((?:https?:)?//[^" >]+)')


class Elements(HTMLParser):
    """Counts the elements of a page's own text."""

    def __init__(self, html: str, *, is_inside: bool) -> None:
        super().__init__()
        self.counts: Counter[str] = Counter()
        self.is_inside = is_inside
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.is_inside = self.is_inside or tag == "article"
        self.counts[tag] += self.is_inside and tag in STRUCTURE

    def handle_endtag(self, tag: str) -> None:
        self.is_inside = self.is_inside and tag != "article"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build it."""
    folder = tmp_path_factory.mktemp("site") / "built"
    assert main(folder) == 0
    return folder


def html_of(site: Path, page: Path) -> Path:
    place = place_of(page)
    folder = place.parent if place.name in ("README.md", "index.md") else place.with_suffix("")
    return site / folder / "index.html"


def test_every_page_is_built_and_loads_nothing_from_elsewhere(site: Path) -> None:
    for page in pages(sections()):
        assert html_of(site, page).is_file(), page
    built = [*site.rglob("*.html")]
    assert {address for file in built for address in LOADED.findall(file.read_text(encoding="utf-8"))} == set()


def test_every_page_has_the_lists_blocks_and_tables_that_it_has_in_the_repository(site: Path) -> None:
    """The generator's Markdown is not that of the repository's web pages."""
    markdown = MarkdownIt("gfm-like", {"linkify": False})
    for page in pages(sections()):
        expected = Elements(markdown.render(page.read_text(encoding="utf-8")), is_inside=True).counts
        assert Elements(html_of(site, page).read_text(encoding="utf-8"), is_inside=False).counts == expected, page


def test_pages_outside_of_docs_are_in_it_and_link_to_it(site: Path) -> None:
    client = (site / "clients" / "python" / "index.html").read_text(encoding="utf-8")
    assert re.search(r'href="?\.\./\.\./judgement/', client)
    assert (site / "files" / "deploy" / "database_role.sql").read_bytes() == (
        ROOT / "deploy" / "database_role.sql"
    ).read_bytes()


def test_the_first_request_is_in_tabs(site: Path) -> None:
    labels = re.findall(r"<label for=\"?__tabbed_1_\d\"?[^>]*>(?:<[^>]*>)*([^<]+)", (site / "index.html").read_text())
    assert labels == ["Python", "TypeScript", "Shell"]


def test_programs_that_read_find_every_page_as_markdown(site: Path) -> None:
    index = (site / "llms.txt").read_text(encoding="utf-8")
    assert index.startswith("# Account Gateway\n\n> ")
    linked = re.findall(r"^- \[[^\]]+\]\(([^)]+)\)", index, re.MULTILINE)
    assert linked == [str(place_of(page)) for page in pages(sections())]
    assert all((site / link).is_file() for link in linked)
    full = (site / "llms-full.txt").read_text(encoding="utf-8")
    assert "\n# Metering\n" in full
    assert "# 0001: " not in full


def test_a_page_that_is_not_listed_is_a_problem() -> None:
    listed = sections()
    assert problems(listed) == []
    without = [Section(s.title, [e for e in s.entries if e.source.name != "metering.md"]) for s in listed]
    assert problems(without) == ["docs/metering.md is not listed in docs/README.md"]
    more = Section("More", [Entry("No page", DOCS / "none.md", ""), Entry("Metering", DOCS / "metering.md", "")])
    assert problems([*listed, more]) == [
        "docs/none.md is listed in docs/README.md, but does not exist",
        "docs/metering.md is listed more than once",
    ]


def test_a_link_and_an_anchor_that_lead_nowhere_are_complaints(tmp_path: Path) -> None:
    write([], tmp_path / "pages")
    (tmp_path / "pages" / "contents.md").write_text("# One\n\n[gone](gone.md), [there](#one), [anchor](#two)\n")
    complaints = generate([Section("Start", [Entry("One", DOCS / "README.md", "")])], tmp_path)
    assert re.findall(r"contents\.md:3:\d+", complaints) == ["contents.md:3:8", "contents.md:3:43"]


def test_blocks_of_one_language_are_no_tabs() -> None:
    text = "```sh\nmake run\n```\n\n```sh\nmake demo\n```\n"
    assert tabbed(text) == text
    assert tabbed('```python title="a.py"\npass\n\npass\n```\n\n```sh\nls\n```\n') == (
        '=== "Python"\n\n    ```python title="a.py"\n    pass\n\n    pass\n    ```\n\n=== "Shell"\n\n    ```sh\n    ls\n    ```\n\n'
    )


def test_what_is_in_a_list_item_is_indented_for_the_generator() -> None:
    text = "1. One:\n\n   ```py\n   if a:\n       b\n   ```\n\n   more\n2. Two\n   - in\n     two\n\nEnd\n"
    assert indented(text) == (
        "1. One:\n\n    ```py\n    if a:\n        b\n    ```\n\n    more\n\n2. Two\n\n    - in\n        two\n\nEnd\n"
    )
    assert indented("text\n- one\n- two\n") == "text\n\n- one\n- two\n"
    assert indented("error\n4409. While\n") == "error\n4409. While\n"
    assert indented("```sh\n- a\n  b\n```\n") == "```sh\n- a\n  b\n```\n"
