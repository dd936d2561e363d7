"""Renders lists with one item a line, and lets long words break on a narrow page."""

from collections.abc import Iterable

from django.utils.html import format_html_join

CHUNK_CHARACTERS = 8


def lines(texts: Iterable[str]) -> str:
    """Render one text per line, or a dash if there are none."""
    return format_html_join("", "<div>{}</div>", ((text,) for text in texts)) or "-"


def breakable(text: str) -> str:
    """Render a long word, such as a hash, that a narrow page may break."""
    chunks = (text[start : start + CHUNK_CHARACTERS] for start in range(0, len(text), CHUNK_CHARACTERS))
    return format_html_join("", "{}<wbr>", ((chunk,) for chunk in chunks)) or "-"
