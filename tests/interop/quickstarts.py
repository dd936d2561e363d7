"""A reader of the JavaScript client's quickstarts, and what the demo answers to them."""

import json
import re
from pathlib import Path

from tests.interop.client_package import share_packages
from tests.support.demo_gateway import DemoGateway
from tests.support.pages import Page, Reader

NODE, AI_SDK, NEXT, EVENTS = (
    Page(f"docs/quickstarts/{name}.md") for name in ("node", "vercel-ai-sdk", "nextjs", "events-node")
)
ANSWER = "You wrote “Hello”."
RECEIPT = re.compile(
    r"usageId: ['\"]use_[0-9a-z]{26}['\"],\s+holdMicrousd: \d+,\s+chargeMicrousd: [1-9]\d*,\s+replayed: false"
)


def reader_of(page: Page, folder: Path, gateway: DemoGateway, app: Path, replaced: dict[str, str]) -> Reader:
    """Begin to follow a page: its packages are installed, its environment is set, its files are saved."""
    share_packages(app, folder)
    (folder / "package.json").write_text(json.dumps({"type": "module"}))
    key = (gateway.data_dir / "demo-product.pem").read_text()
    reader = Reader(page, folder, gateway, replaced=replaced, settings={"PRODUCT_KEY": key})
    reader.save_files()
    return reader
