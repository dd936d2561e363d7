"""The demo's gateway with every integration configured as in the pages of docs/."""

import pytest
import yaml

from tests.support.demo_gateway import DemoGateway
from tests.support.pages import Page

PAGES = ("projects.md", "sandbox.md", "ci.md", "evolution.md", "account-key.md")
SECRETS = {"FORGE_WEBHOOK_SECRET": "forge-webhook-secret", "CI_WEBHOOK_SECRET": "builds-webhook-secret"}
DOCUMENTED_OWNER, DEMO_OWNER = "did:web:studio.example:", "did:web:demo.studio.example:"


def blocks_of(page: str, language: str) -> list[str]:
    """Return a page's code blocks in one language, in order."""
    return [block.code for block in Page(f"docs/{page}").blocks(language)]


@pytest.fixture(scope="session")
def integrations_gateway(demo_gateway: DemoGateway, tmp_path_factory: pytest.TempPathFactory) -> DemoGateway:
    """Apply the first configuration of each page, all together, to the running gateway."""
    sections: dict[str, object] = {}
    for page in PAGES:
        sections |= yaml.safe_load(blocks_of(page, "yaml")[0].replace(DOCUMENTED_OWNER, DEMO_OWNER))
    file = tmp_path_factory.mktemp("docs") / "gateway.yaml"
    file.write_text(yaml.safe_dump(sections))
    completed = demo_gateway.run("manage.py", "apply", str(file), **SECRETS)
    assert completed.returncode == 0, completed.stdout + completed.stderr
    return demo_gateway
