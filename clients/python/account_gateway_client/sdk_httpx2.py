"""Clients of httpx2 for the official SDKs."""

import httpx2

from account_gateway_client import sdk_http
from account_gateway_client.auth_flow import SigningFlow


class Auth(SigningFlow, httpx2.Auth):
    """Signs every request of a client of httpx2."""


class SyncTee(sdk_http.SyncTee, httpx2.SyncByteStream):
    """A response's bytes, for `httpx2.Client`."""

    library = httpx2


class AsyncTee(sdk_http.AsyncTee, httpx2.AsyncByteStream):
    """A response's bytes, for `httpx2.AsyncClient`."""

    library = httpx2


class GatewayHttpClient(sdk_http.MeteredClient, httpx2.Client):
    """A `httpx2.Client` for the `http_client` of an SDK."""

    library, signs_with, tee = httpx2, Auth, SyncTee


class AsyncGatewayHttpClient(sdk_http.MeteredAsyncClient, httpx2.AsyncClient):
    """A `httpx2.AsyncClient` for the `http_client` of an asynchronous SDK."""

    library, signs_with, tee = httpx2, Auth, AsyncTee
