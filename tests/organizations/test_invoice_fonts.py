"""Fonts of invoices: supported scripts are rendered, other characters become question marks."""

import pytest

from organizations.portal.invoice_fonts import BOLD, CHINESE, FONT, JAPANESE, KOREAN, markup


@pytest.mark.parametrize("font", [FONT, BOLD])
@pytest.mark.parametrize("text", ["Größe", "Ещё", "Ελληνικά", "Łódź", "Tiếng Việt", "„Zitat“ 1 €"])
def test_scripts_of_europe_are_set_in_the_embedded_font(text: str, font: str) -> None:
    assert markup(text, font) == text


@pytest.mark.parametrize(
    ("text", "name"),
    [("中文公司。", CHINESE), ("株式会社ゲートウェイ。", JAPANESE), ("한국", KOREAN)],
)
def test_other_scripts_are_set_in_the_readers_fonts(text: str, name: str) -> None:
    assert markup(text, FONT) == f'<font name="{name}">{text}</font>'


def test_each_run_has_its_font() -> None:
    assert markup("Ещё 中文 & <b>", FONT) == f'Ещё <font name="{CHINESE}">中文</font> &amp; &lt;b&gt;'
    assert markup("a\nb", FONT) == "a<br/>b"


@pytest.mark.parametrize("text", ["שלום", "عربي", "नमस्ते", "\U00020000", "\ud800"])
def test_unsupported_characters_become_question_marks(text: str) -> None:
    assert markup(text, FONT) == "?" * len(text)
