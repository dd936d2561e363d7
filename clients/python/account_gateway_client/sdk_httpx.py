"""Clients of httpx for the official SDKs."""

import httpx

from account_gateway_client import sdk_http
from account_gateway_client.httpx_auth import DPoPAuth


class SyncTee(sdk_http.SyncTee, httpx.SyncByteStream):
    """A response's bytes, for `httpx.Client`."""

    library = httpx


class AsyncTee(sdk_http.AsyncTee, httpx.AsyncByteStream):
    """A response's bytes, for `httpx.AsyncClient`."""

    library = httpx


class GatewayHttpClient(sdk_http.MeteredClient, httpx.Client):
    """A `httpx.Client` for the `http_client` of an SDK."""

    library, signs_with, tee = httpx, DPoPAuth, SyncTee


class AsyncGatewayHttpClient(sdk_http.MeteredAsyncClient, httpx.AsyncClient):
    """A `httpx.AsyncClient` for the `http_client` of an asynchronous SDK."""

    library, signs_with, tee = httpx, DPoPAuth, AsyncTee
