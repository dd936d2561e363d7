"""A web server with a certificate, like a customer's image host: each path responds with bytes chosen by the test."""

import datetime
import ipaddress
import socket
import socketserver
import ssl
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from gateway.core.outbound.public_fetch import PublicFetcher
from tests.support.concurrency import PATIENCE_SECONDS

NAME = "images.example"
HOSTS = (NAME, "other.example")


Page = bytes | Callable[[socket.socket], None]


def answer(body: bytes, *, status: str = "200 OK", length: int | None = None, headers: str = "") -> bytes:
    """Render an HTTP response."""
    size = len(body) if length is None else length
    return f"HTTP/1.1 {status}\r\nContent-Length: {size}\r\n{headers}\r\n".encode() + body


class ImageHost:
    """Serves on loopback until the context ends; `requests` has the request line and headers of each request."""

    def __init__(self, folder: Path) -> None:
        self.pages: dict[str, Page] = {}
        self.requests: list[str] = []
        self.closing = threading.Event()
        self.left = threading.Event()
        """The client disconnected before it had received everything."""
        certificate, key, self.authority = certificates(folder)
        self._tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._tls.load_cert_chain(certificate, key)
        self._server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True

    @property
    def port(self) -> int:
        """Return the port."""
        return int(self._server.server_address[1])

    def url(self, path: str, host: str = NAME) -> str:
        """Return the address of a page."""
        return f"https://{host}:{self.port}{path}"

    def fetcher(self, **settings: Any) -> PublicFetcher:
        """Build a fetcher that resolves every name to this server, treats loopback as public, and is patient."""
        tls = ssl.create_default_context(cafile=str(self.authority))
        allowed = {"127.0.0.1"}.__contains__
        ours = {"allowed": allowed, "look_up": resolving("127.0.0.1"), "tls": tls, "seconds": PATIENCE_SECONDS}
        return PublicFetcher(**{**ours, **settings})

    def empty(self) -> None:
        """Forget the pages and the requests. A request that is under way is still one of those."""
        self.pages, self.requests = {}, []

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *exc: object) -> None:
        self.closing.set()
        self._server.shutdown()
        self._server.server_close()

    def _handler(self) -> type[socketserver.BaseRequestHandler]:
        host = self

        class Handler(socketserver.BaseRequestHandler):
            def handle(self) -> None:
                try:
                    host._serve(self.request)
                except OSError:
                    host.left.set()

        return Handler

    def _serve(self, plain: socket.socket) -> None:
        pages, requests = self.pages, self.requests
        with self._tls.wrap_socket(plain, server_side=True) as connection:
            head = b""
            while b"\r\n\r\n" not in head:
                if not (piece := connection.recv(4096)):
                    return  # the client has left
                head += piece
            requests.append(head.decode())
            page = pages[head.split(b" ")[1].decode()]
            if isinstance(page, bytes):
                connection.sendall(page)
                connection.unwrap()  # an orderly TLS shutdown, as by web servers
            else:
                page(connection)


def resolving(*addresses: str) -> Callable[..., list[Any]]:
    """Build a resolver that returns these addresses for every name."""

    def look_up(host: str, port: int, *_: Any) -> list[Any]:
        return [_info(address, port) for address in addresses]

    return look_up


def _info(address: str, port: int) -> Any:
    is_v6 = ":" in address
    peer = (address, port, 0, 0) if is_v6 else (address, port)
    return (socket.AF_INET6 if is_v6 else socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", peer)


def certificates(folder: Path) -> tuple[Path, Path, Path]:
    """Write a server's certificate, its key, and the certificate of the authority that signed it."""
    authority_key, key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    authority = _signed("authority", authority_key, authority_key, x509.BasicConstraints(ca=True, path_length=0))
    names = [*(x509.DNSName(host) for host in HOSTS), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
    leaf = _signed(NAME, key, authority_key, x509.SubjectAlternativeName(names), issuer="authority")
    paths = folder / "leaf.pem", folder / "leaf.key", folder / "authority.pem"
    paths[0].write_bytes(leaf.public_bytes(serialization.Encoding.PEM))
    plain = serialization.NoEncryption()
    paths[1].write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain),
    )
    paths[2].write_bytes(authority.public_bytes(serialization.Encoding.PEM))
    return paths


def _signed(name: str, key: Any, signer: Any, extension: Any, issuer: str | None = None) -> x509.Certificate:
    now = datetime.datetime.now(datetime.UTC)
    subject, authority = (x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, one)]) for one in (name, issuer or name))
    builder = x509.CertificateBuilder(authority, subject, key.public_key(), x509.random_serial_number())
    builder = builder.not_valid_before(now - datetime.timedelta(days=1)).not_valid_after(
        now + datetime.timedelta(days=1)
    )
    return builder.add_extension(extension, critical=False).sign(signer, hashes.SHA256())
