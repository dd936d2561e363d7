"""The proxies of `deploy/proxies`, as the files stand there, on this machine's ports and in front of its servers."""

import os
import re
import shutil
import socket
import ssl
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import httpx

from gateway.run.options import PROJECT_DIR
from gateway.run.ports import free_port
from tests.inference.adapters.certificates import write_certificate
from tests.support.concurrency import eventually

HOST = "gateway.example"
NGINX = """daemon off;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{}}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    {shipped}
}}
"""
CADDY = """{{
    admin off
    auto_https disable_redirects
}}
{shipped}
"""


@dataclass(frozen=True)
class Kind:
    """A proxy's program: its file and what is around it, what differs on this machine, and its command."""

    file: str
    replaced: Mapping[str, str]
    command: Sequence[str]
    around: str = "{shipped}"

    def configuration(self, folder: Path, port: int, nodes: Sequence[str], pem: Path) -> str:
        """Return the file for one or two nodes. Each text that differs here is in it exactly once."""
        text = (PROJECT_DIR / "deploy" / "proxies" / self.file).read_text()
        if len(nodes) == 2:
            text, found = re.subn(r"# The second node:\n(\s*)# ", r"\1", text)
            assert found == 1
        here = {"port": str(port), "pem": str(pem)}
        addresses = dict(zip(("127.0.0.1:8000", "10.0.0.2:8000"), nodes, strict=False))
        for pattern, replacement in {**self.replaced, **addresses}.items():
            text, found = re.subn(pattern, replacement.format(**here), text)
            assert found == 1, pattern
        return self.around.format(folder=folder, shipped=text)


KINDS = {
    "nginx": Kind(
        "nginx.conf",
        {
            r"listen 443 ssl;": "listen 127.0.0.1:{port} ssl;",
            r"ssl_certificate +\S+;": "ssl_certificate {pem};",
            r"ssl_certificate_key +\S+;": "ssl_certificate_key {pem};",
        },
        ("nginx", "-e", "stderr", "-c"),
        NGINX,
    ),
    "haproxy": Kind(
        "haproxy.cfg",
        {
            r"    user haproxy\n    group haproxy\n    log .+\n": "",
            r"    log global\n": "",
            r"bind :443 ssl crt \S+": "bind 127.0.0.1:{port} ssl crt {pem}",
        },
        ("haproxy", "-db", "-f"),
    ),
    "caddy": Kind(
        "Caddyfile",
        {r"(?m)^gateway.example \{": "https://gateway.example:{port} {{\n\tbind 127.0.0.1\n\ttls {pem} {pem}"},
        ("caddy", "run", "--adapter", "caddyfile", "--config"),
        CADDY,
    ),
}


class Way(httpx.HTTPTransport):
    """Connects to the proxy for requests to its public name, from an address of this machine."""

    def __init__(self, port: int, context: ssl.SSLContext, local_address: str | None = None) -> None:
        super().__init__(verify=context, local_address=local_address)
        self._port = port

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request for the name to this machine."""
        request.extensions["sni_hostname"] = HOST
        request.url = request.url.copy_with(host="127.0.0.1", port=self._port)
        return super().handle_request(request)


@dataclass(frozen=True)
class Front:
    """A proxy that runs."""

    port: int
    context: ssl.SSLContext

    def client(self, local_address: str | None = None) -> httpx.Client:
        """Return a client of the public name."""
        return httpx.Client(timeout=60, transport=Way(self.port, self.context, local_address))

    def connection(self) -> socket.socket:
        """Return a connection for a client that wraps it into TLS itself."""
        return socket.create_connection(("127.0.0.1", self.port))


@contextmanager
def front(kind: str, folder: Path, origins: Sequence[str]) -> Iterator[Front]:
    """Run a proxy in front of one or two servers, until it listens; its files are in the folder."""
    shipped, port = KINDS[kind], free_port()
    folder.mkdir()
    pem, configuration = write_certificate(folder / "server.pem", HOST), folder / shipped.file
    nodes = [f"127.0.0.1:{urlsplit(origin).port}" for origin in origins]
    configuration.write_text(shipped.configuration(folder, port, nodes, pem))
    program = shutil.which(shipped.command[0], path=f"{os.environ.get('PATH', '')}:/usr/sbin")
    assert program, f"{kind} is not installed; .ci/run installs it"
    environment = {"HOME": str(folder), "PATH": os.environ.get("PATH", "")}
    with (folder / "log").open("wb") as log:
        command = [program, *shipped.command[1:], str(configuration)]
        process = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
    try:
        eventually(lambda: _listens(port) or process.poll() is not None)
        assert process.poll() is None, (folder / "log").read_text()
        yield Front(port, ssl.create_default_context(cafile=str(pem)))
    finally:
        process.terminate()
        process.wait(timeout=60)


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
