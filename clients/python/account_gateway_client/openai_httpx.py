"""Clients of httpx for the official OpenAI SDK."""

import httpx

from account_gateway_client import openai_http
from account_gateway_client.httpx_auth import DPoPAuth


class SyncTee(openai_http.SyncTee, httpx.SyncByteStream):
    """A response's bytes, for `httpx.Client`."""

    library = httpx


class AsyncTee(openai_http.AsyncTee, httpx.AsyncByteStream):
    """A response's bytes, for `httpx.AsyncClient`."""

    library = httpx


class GatewayHttpClient(openai_http.MeteredClient, httpx.Client):
    """A `httpx.Client` for `OpenAI(http_client=...)`."""

    library, signs_with, tee = httpx, DPoPAuth, SyncTee


class AsyncGatewayHttpClient(openai_http.MeteredAsyncClient, httpx.AsyncClient):
    """A `httpx.AsyncClient` for `AsyncOpenAI(http_client=...)`."""

    library, signs_with, tee = httpx, DPoPAuth, AsyncTee
