"""Pages of PDF files are counted as they are, and no file takes longer than it may or does more than fail."""

from pathlib import Path

import pytest

from gateway.core.contract.errors import NotReady
from inference.adapters.pages import count
from inference.adapters.pages.count import COUNTER, UnreadablePdf, count_pages
from tests.factories.pdfs import CATALOG, PAGE, bomb, pdf, pdf_of

MOST = 100


def _deep(levels: int) -> bytes:
    nodes = [b"<</Type/Pages/Count 1/Kids[%d 0 R]>>" % (number + 3) for number in range(levels)]
    return pdf_of(CATALOG, *nodes, PAGE)


@pytest.mark.parametrize(
    ("data", "pages"),
    [
        (pdf(), 1),
        (pdf(MOST), MOST),
        (pdf(MOST + 50), MOST + 1),
        (pdf(3).replace(b"/Count 3", b"/Count 1"), 3),
        (pdf_of(CATALOG, b"<</Type/Pages/Count 1/Kids[" + b"3 0 R " * 1000 + b"]>>", PAGE), MOST + 1),
        (pdf_of(CATALOG, b"<</Type/Pages/Kids 3 0 R>>", b"[4 0 R]", PAGE), 1),
        (_deep(2000), 1),
    ],
    ids=["one", "as many as may be", "more", "a lying count", "one page many times", "kids elsewhere", "deep"],
)
async def test_pages_are_counted(data: bytes, pages: int) -> None:
    assert await count_pages(data, MOST) == pages


HOSTILE = {
    "nothing": b"%PDF-1.4",
    "zeros": b"%PDF-" + bytes(2_000_000),
    "brackets": b"%PDF-1.4\n1 0 obj" + b"[" * 2_000_000,
    "objects": b"%PDF-1.4\n" + b"1 0 obj<<>>endobj\n" * 100_000,
    "cut": pdf()[:-200],
    "no pages": pdf_of(CATALOG, b"<</Type/Pages/Count 3/Kids[9 0 R null 7]>>"),
    "a loop": pdf_of(CATALOG, b"<</Type/Pages/Count 1/Kids[2 0 R]>>"),
    "a wide loop": pdf_of(CATALOG, b"<</Type/Pages/Kids[3 0 R]>>", b"<</Type/Pages/Kids[2 0 R 3 0 R]>>"),
    "too deep": _deep(11_000),
    "empty nodes": pdf_of(CATALOG, b"<</Type/Pages/Kids[" + b"3 0 R " * 20_000 + b"]>>", b"<</Type/Pages/Kids[]>>"),
    "tables in a circle": b"%PDF-1.4\nxref\n0 1\n0000000000 65535 f \ntrailer<</Size 1/Prev 9>>\nstartxref\n9\n%%EOF",
    "a bomb": bomb(),
}


@pytest.mark.parametrize("name", HOSTILE)
async def test_a_file_that_cannot_be_read_is_none(name: str) -> None:
    with pytest.raises(UnreadablePdf, match=r"^it (cannot be read|takes too long to read)$"):
        await count_pages(HOSTILE[name], MOST)


async def test_an_encrypted_file_is_named_so() -> None:
    data = pdf().replace(b"trailer\n<<", b"trailer\n<<\n/Encrypt <</Filter/Standard/V 1/R 2/O()/U()/P 0>>")
    with pytest.raises(UnreadablePdf, match="encrypted"):
        await count_pages(data, MOST)


async def test_a_file_that_takes_too_long_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(count, "COUNT_SECONDS", 0.001)
    with pytest.raises(UnreadablePdf, match="too long"):
        await count_pages(pdf(), MOST)


async def test_without_the_library_no_file_is_blamed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    missing = tmp_path / "counter.py"
    missing.write_text(COUNTER.read_text().replace("import pypdf", "import no_such_library"))
    monkeypatch.setattr(count, "COUNTER", missing)
    with pytest.raises(NotReady):
        await count_pages(pdf(), MOST)


async def test_without_a_process_the_caller_is_asked_to_come_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(count.sys, "executable", "/nowhere/python")
    with pytest.raises(NotReady):
        await count_pages(pdf(), MOST)
