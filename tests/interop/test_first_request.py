"""The first request of the documentation's first page, in TypeScript as it stands there."""

from pathlib import Path

from tests.interop.client_package import share_packages
from tests.interop.test_quickstarts import ANSWER, RECEIPT
from tests.support.demo_gateway import DemoGateway
from tests.support.pages import Page, Reader


def test_the_first_request_is_answered_and_tells_what_it_cost(app: Path, demo: DemoGateway, tmp_path: Path) -> None:
    share_packages(app, tmp_path)
    reader = Reader(Page("docs/index.md"), tmp_path, demo)
    reader.save_files()
    printed = reader.run("node hello.mjs")
    assert ANSWER in printed
    assert RECEIPT.search(printed)
