"""Labels of controls for those who do not see them (WCAG 2.2): a spoken name contains the words that are shown (2.5.3)."""

import re
from pathlib import Path

import pytest

TEMPLATES = Path("templates")
CONTROL = re.compile(r'<(?:a|button)\b[^<]*?aria-label="([^"]*)"[^<]*?>\s*([^<{\s][^<{]*)<')
pytestmark = pytest.mark.django_db

LABELS = [
    pytest.param(label, shown, id=f"{path.relative_to(TEMPLATES)}: {shown}")
    for path in sorted(TEMPLATES.rglob("*.html"))
    for label, shown in CONTROL.findall(path.read_text())
]


@pytest.mark.parametrize(("label", "shown"), LABELS)
def test_a_label_contains_the_words_that_are_shown(label: str, shown: str) -> None:
    assert shown in label


def test_labels_are_found() -> None:
    assert len(LABELS) > 10
