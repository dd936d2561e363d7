"""Clients of httpx2 for the official OpenAI SDK."""

import httpx2

from account_gateway_client import openai_http
from account_gateway_client.auth_flow import SigningFlow


class Auth(SigningFlow, httpx2.Auth):
    """Signs every request of a client of httpx2."""


class SyncTee(openai_http.SyncTee, httpx2.SyncByteStream):
    """A response's bytes, for `httpx2.Client`."""

    library = httpx2


class AsyncTee(openai_http.AsyncTee, httpx2.AsyncByteStream):
    """A response's bytes, for `httpx2.AsyncClient`."""

    library = httpx2


class GatewayHttpClient(openai_http.MeteredClient, httpx2.Client):
    """A `httpx2.Client` for `OpenAI(http_client=...)`."""

    library, signs_with, tee = httpx2, Auth, SyncTee


class AsyncGatewayHttpClient(openai_http.MeteredAsyncClient, httpx2.AsyncClient):
    """A `httpx2.AsyncClient` for `AsyncOpenAI(http_client=...)`."""

    library, signs_with, tee = httpx2, Auth, AsyncTee
