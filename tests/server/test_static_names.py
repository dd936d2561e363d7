"""Servers with folders of their own, in which `prepare` did not run: each has the files that the other's pages name."""

import json
import os
import re
import signal
import sys
from contextlib import ExitStack
from hashlib import md5
from pathlib import Path

import pytest

from gateway.run.options import PROJECT_DIR
from tests.server.test_draining import UVICORN
from tests.support import forked, plain_http
from tests.support.database import database_url
from tests.support.processes import gateway_process

OLD_NAMES = {"paths": {"portal/portal.css": "portal/portal.0123456789ab.css"}, "version": "1.1", "hash": ""}
DEVELOPMENT = "gateway.settings.development"
KILLED_WHILE_IT_WRITES = """
import os, re, signal, sys
from django.core.files.storage import FileSystemStorage

save = FileSystemStorage._save

def save_or_end(self, name, content):
    if not re.match(sys.argv[1], name):
        return save(self, name, content)
    data = b"".join(content.chunks())
    with open(self.path(name), "wb") as file:
        file.write(data[: len(data) // 2])
    os.kill(os.getpid(), signal.SIGKILL)

FileSystemStorage._save = save_or_end
import gateway.asgi
"""


def names_of(origin: str) -> set[str]:
    html = plain_http.get(f"{origin}/account/login/", timeout=30).text
    return set(re.findall(r'"(/static/[^"]+\.(?:js|css))"', html))


def test_an_empty_folder_and_that_of_an_old_version(tmp_path: Path) -> None:
    new, old = tmp_path / "new", tmp_path / "old"
    (old / "static").mkdir(parents=True)
    (old / "static" / "staticfiles.json").write_text(json.dumps(OLD_NAMES))
    common = {"DJANGO_SETTINGS_MODULE": DEVELOPMENT, "STATIC_ROOT": ""}
    with ExitStack() as stack:
        processes = [gateway_process("uvicorn", UVICORN, DATA_DIR=str(folder), **common) for folder in (new, old)]
        one, other = (stack.enter_context(process)[0] for process in processes)
        names = names_of(one)
        assert names == names_of(other)
        assert all(re.search(r"\.[0-9a-f]{12}\.(js|css)$", name) for name in names)
        statuses = {plain_http.get(origin + name, timeout=30).status_code for origin in (one, other) for name in names}
        assert statuses == {200}


def test_what_was_collected_is_not_collected_again(tmp_path: Path) -> None:
    settings = {"DJANGO_SETTINGS_MODULE": DEVELOPMENT, "STATIC_ROOT": str(tmp_path)}
    written = []
    for _ in range(2):
        with gateway_process("uvicorn", UVICORN, **settings):
            written.append((tmp_path / "staticfiles.json").stat().st_mtime_ns)
    assert written[0] == written[1]


@pytest.mark.parametrize("victim", [r"portal/.+\.[0-9a-f]{12}\.svg", r"staticfiles\.json"])
def test_a_process_that_is_killed_while_it_collects_leaves_nothing_incomplete(victim: str, tmp_path: Path) -> None:
    settings = {"DJANGO_SETTINGS_MODULE": DEVELOPMENT, "STATIC_ROOT": str(tmp_path)}
    environment = {**os.environ, "DATABASE_URL": database_url(), **settings}
    killed = forked.run([sys.executable, "-c", KILLED_WHILE_IT_WRITES, victim], env=environment, cwd=PROJECT_DIR)
    assert killed.returncode == -signal.SIGKILL
    with gateway_process("uvicorn", UVICORN, **settings) as (origin, _):
        assert names_of(origin)
    names = json.loads((tmp_path / "staticfiles.json").read_text())["paths"].values()
    content = {name: (tmp_path / name).read_bytes() for name in names}
    assert [
        name for name, data in content.items() if md5(data, usedforsecurity=False).hexdigest()[:12] not in name
    ] == []
