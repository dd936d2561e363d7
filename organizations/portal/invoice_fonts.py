"""Selects fonts for invoices, whose names may be in any script.

DejaVu Sans is embedded; it covers European and some other scripts. Chinese, Japanese and Korean use fonts that PDF
readers provide (Adobe's CID fonts). Other characters, and right-to-left scripts, which reportlab does not support,
become question marks. The organization's id beside its name remains readable.
"""

import unicodedata
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.cidfonts import UnicodeCIDFont
from reportlab.pdfbase.ttfonts import TTFont

FONT, BOLD = "DejaVuSans", "DejaVuSans-Bold"
CHINESE, JAPANESE, KOREAN = "STSong-Light", "HeiseiMin-W3", "HYSMyeongJo-Medium"
MISSING = "?"

_DIRECTORY = Path(__file__).parent / "fonts"
_RIGHT_TO_LEFT = frozenset({"R", "AL"})
_FONTS_OF_NAMES = {
    **dict.fromkeys(("CJK", "FULLWIDTH", "IDEOGRAPHIC"), CHINESE),
    **dict.fromkeys(("HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA"), JAPANESE),
    "HANGUL": KOREAN,
}
"""Fonts by the first word of a character's Unicode name."""


def markup(text: str, font: str) -> str:
    """Return a text as reportlab markup, with each run in a font that has its characters. `font` is FONT or BOLD.

    Markup in the text is escaped.
    """
    register()
    ideographs = next((each for each in (JAPANESE, KOREAN) if each in map(_font_of_script, text)), CHINESE)
    runs = groupby(text, lambda character: _font_for(character, font, ideographs))
    return "".join(_run("".join(characters), name, font) for name, characters in runs)


@cache
def register() -> None:
    """Register the fonts with reportlab, once per process."""
    for name in (FONT, BOLD):
        pdfmetrics.registerFont(TTFont(name, _DIRECTORY / f"{name}.ttf"))
    for name in (CHINESE, JAPANESE, KOREAN):
        pdfmetrics.registerFont(UnicodeCIDFont(name))


def _run(text: str, name: str | None, font: str) -> str:
    if name is None:
        return MISSING * len(text)
    shown = escape(text).replace("\n", "<br/>")
    return shown if name == font else f'<font name="{name}">{shown}</font>'


def _font_for(character: str, font: str, ideographs: str) -> str | None:
    """Return the font that has a character, or None. Ideographs use `ideographs`, the font of the text's language."""
    if unicodedata.bidirectional(character) in _RIGHT_TO_LEFT:
        return None
    face: Any = pdfmetrics.getFont(font).face
    if character == "\n" or ord(character) in face.charToGlyph:
        return font
    return ideographs if _font_of_script(character) else None


def _font_of_script(character: str) -> str | None:
    """Return the font of a character's script; None for characters outside the plane that CID fonts cover."""
    name = unicodedata.name(character, "") if ord(character) <= 0xFFFF else ""
    return _FONTS_OF_NAMES.get(name.partition(" ")[0])
