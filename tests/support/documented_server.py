"""A server that accepts what one provider documents, and nothing else. It answers as the fake upstream does."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import orjson
from aiohttp import web

from tests.support.server_thread import ServerThread
from tests.support.upstream.app import Upstream
from tests.support.upstream.ledger import Ledger


@dataclass(frozen=True, slots=True)
class Provider:
    """What a provider documents: where its API begins, its paths, how it takes a key (None: it takes none), the query that it
    needs, and the members that it refuses."""

    prefix: str = "/v1"
    paths: frozenset[str] = frozenset({"/chat/completions"})
    key_header: str | None = "Authorization"
    key_scheme: str = "Bearer "
    query: Mapping[str, str] = field(default_factory=dict)
    refuses: frozenset[str] = frozenset()


class DocumentedServer(ServerThread):
    """Serves one provider, in a thread beside a test."""

    def __init__(self, provider: Provider, api_key: str) -> None:
        self._provider, self._api_key = provider, api_key
        self._upstream = Upstream()
        super().__init__()

    @property
    def base_url(self) -> str:
        """Return the provider's base URL at this server."""
        return f"{self.origin}{self._provider.prefix}"

    @property
    def ledger(self) -> Ledger:
        """Return the requests that were accepted."""
        return self._upstream.ledger

    def application(self) -> web.Application:
        """Build the application."""
        app = web.Application()
        app.router.add_post("/{path:.*}", self.answer)
        return app

    async def answer(self, request: web.Request) -> web.StreamResponse:
        """Answer one request, or refuse it as the provider does."""
        provider, path = self._provider, request.path.removeprefix(self._provider.prefix)
        if not request.path.startswith(provider.prefix) or path not in provider.paths:
            return self._refuse(404, f"{request.path} is not a path")
        if dict(request.query) != dict(provider.query):
            return self._refuse(404, f"{request.query_string} is not the query")
        if provider.key_header and request.headers.get(provider.key_header) != provider.key_scheme + self._api_key:
            return self._refuse(401, f"no key in {provider.key_header}")
        known = request.clone(rel_url=f"/v1{path}")  # which cannot be done once it is read
        if unknown := provider.refuses & set(orjson.loads(await known.read())):
            return self._refuse(422, f"extra inputs are not permitted: {sorted(unknown)}")
        return await self._upstream.serve(known)

    def _refuse(self, status: int, message: str) -> web.Response:
        body = {"error": {"message": message, "type": "invalid_request_error"}}
        return web.json_response(body, status=status)
