"""Servers with folders of their own, in which `prepare` did not run: each has the files that the other's pages name."""

import json
import re
from contextlib import ExitStack
from pathlib import Path

import httpx

from tests.server.test_draining import UVICORN
from tests.support.processes import gateway_process

OLD_NAMES = {"paths": {"portal/portal.css": "portal/portal.0123456789ab.css"}, "version": "1.1", "hash": ""}


def names_of(origin: str) -> set[str]:
    html = httpx.get(f"{origin}/account/login/", timeout=30).text
    return set(re.findall(r'"(/static/[^"]+\.(?:js|css))"', html))


def test_an_empty_folder_and_that_of_an_old_version(tmp_path: Path) -> None:
    new, old = tmp_path / "new", tmp_path / "old"
    (old / "static").mkdir(parents=True)
    (old / "static" / "staticfiles.json").write_text(json.dumps(OLD_NAMES))
    common = {"DJANGO_SETTINGS_MODULE": "gateway.settings.development", "STATIC_ROOT": ""}
    with ExitStack() as stack:
        processes = [gateway_process("uvicorn", UVICORN, DATA_DIR=str(folder), **common) for folder in (new, old)]
        one, other = (stack.enter_context(process)[0] for process in processes)
        names = names_of(one)
        assert names == names_of(other)
        assert all(re.search(r"\.[0-9a-f]{12}\.(js|css)$", name) for name in names)
        statuses = {httpx.get(origin + name, timeout=30).status_code for origin in (one, other) for name in names}
        assert statuses == {200}


def test_what_was_collected_is_not_collected_again(tmp_path: Path) -> None:
    settings = {"DJANGO_SETTINGS_MODULE": "gateway.settings.development", "STATIC_ROOT": str(tmp_path)}
    written = []
    for _ in range(2):
        with gateway_process("uvicorn", UVICORN, **settings):
            written.append((tmp_path / "staticfiles.json").stat().st_mtime_ns)
    assert written[0] == written[1]
