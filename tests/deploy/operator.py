"""An operator who follows docs/guides/production.md: the database with its roles, and the environment file."""

import os
import subprocess
import sys
from base64 import urlsafe_b64encode
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import psycopg

from gateway.run import binaries
from gateway.run.options import PROJECT_DIR
from gateway.run.postgres import Cluster
from tests.support.pages import Page

GUIDE = Page("docs/guides/production.md")
HOST = "gateway.example"
PASSWORD = "only-for-this-test"
SECRETS = {"SECRET_KEY": "s" * 40, "FIELD_ENCRYPTION_KEYS": urlsafe_b64encode(b"k" * 32).decode()}
CONFIGURATION = """
products: [{slug: studio, name: Studio}]
upstreams: [{name: cloud, adapter: openai, base_url: "https://models.example/v1", api_key: sk-1}]
aliases:
  - name: fast
    max_output_tokens: 100
    context_tokens: 1000
    deployments: [{upstream: cloud, model: small-1}]
    price: {input_token: "0.15", output_token: "0.60"}
credits: [{account: "did:web:studio.example:ada", amount_microusd: 1000, key: first}]
"""


@dataclass
class Database:
    """An operator's database: a server, and the URLs of a superuser, an owner, and the gateway's role."""

    cluster: Cluster

    def url(self, role: str, name: str = "gateway") -> str:
        at = urlsplit(self.cluster.url)
        return at._replace(netloc=f"{role}:{PASSWORD}@127.0.0.1:{at.port}", path=f"/{name}").geturl()

    def run(self, statement: str, url: str = "") -> None:
        with psycopg.connect(url or self.cluster.url, autocommit=True) as connection:
            connection.execute(statement.encode())

    def read(self, question: str) -> int:
        """Return the number that a query of the gateway's database returns."""
        with psycopg.connect(self.url("owner", "made")) as connection:
            [[number]] = connection.execute(question.encode())
            return int(number)


def follow_the_guide(folder: Path, owner_url: str) -> None:
    """Run the guide's commands for tables and rights, as this user and in this folder. The password is not asked for."""
    (folder / "environment").write_text("".join(f"{name}={value}\n" for name, value in documented(folder).items()))
    commands = GUIDE.code("sh", after="## 4. Tables and rights")
    for written, here in {
        "/etc/account-gateway/environment": f"{folder}/environment",
        "postgresql://gateway_owner:owner-password@127.0.0.1:5432/gateway": f"'{owner_url}'",
        "runuser -u gateway -- .venv/bin/python": sys.executable,
        "'\\password gateway_app'": f"\"ALTER ROLE gateway_app PASSWORD '{PASSWORD}'\"",
    }.items():
        assert written in commands
        commands = commands.replace(written, here)
    path = f"{binaries.find(None, os.environ).directory}{os.pathsep}{os.environ['PATH']}"
    environment = {"PATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
    followed = subprocess.run(
        ["bash", "-euc", commands], cwd=PROJECT_DIR, env=environment, capture_output=True, text=True
    )
    assert followed.returncode == 0, followed.stderr


def documented(folder: Path) -> dict[str, str]:
    """Return the environment that the guide shows, with values for what it leaves out."""
    shown = dict(line.split("=", 1) for line in GUIDE.code("ini").splitlines())
    assert shown.keys() >= SECRETS.keys() | {"DATABASE_URL", "GATEWAY_CONFIG", "WEB_CONCURRENCY"}
    config = folder / "gateway.yaml"
    config.write_text(CONFIGURATION)
    return {**shown, **SECRETS, "GATEWAY_CONFIG": str(config), "DATA_DIR": str(folder / "data")}
