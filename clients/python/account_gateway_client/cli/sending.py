"""Sends a call, and passes its answer on as it comes."""

import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any

import click
import requests

from account_gateway_client.answers import error_of
from account_gateway_client.call_watch import Watched
from account_gateway_client.cli import exit_status
from account_gateway_client.cli.call import Call
from account_gateway_client.cli.errors import CommandError, TimedOut
from account_gateway_client.cli.money import dollars_of
from account_gateway_client.cli.output import complain, warn
from account_gateway_client.cli.terminal import Output
from account_gateway_client.errors import ClientError, GatewayUnreachable
from account_gateway_client.gateway import Gateway
from account_gateway_client.receipts import Receipt

CONNECT_SECONDS, READ_SECONDS = 10.0, 600.0  # a connection is quick, a model may take its time
CHUNK_BYTES = 65536


def send(gateway: Gateway, call: Call) -> int:
    """Send a call, write the answer's body to standard output as it comes and what it cost to standard error, and return the
    exit status. Raises CommandError and GatewayUnreachable where the answer was lost, and says how to repeat the call."""
    output = Output()
    with _opened(gateway, call) as response:
        if not response.ok:
            output.write(response.content)
            if sys.stdout.isatty():
                click.echo()
            return complain(error_of(response))
        receipt = Receipt.from_headers(response.headers)
        watched = Watched(receipt, None) if receipt else None
        for chunk in _chunks(response, call):
            output.write(watched.see(chunk) if watched else chunk)
    if watched:
        watched.end()
        warn(_cost_of(_settled(gateway, watched.receipt)))
    return exit_status.OK


def _settled(gateway: Gateway, receipt: Receipt) -> Receipt:
    """Return the receipt with its charge, which the answer itself does not tell where it is binary."""
    if receipt.charge_microusd is not None or receipt.replayed:
        return receipt
    with suppress(ClientError):
        charge = gateway.usage_record(receipt.usage_id)["chargedMicrousd"]
        return replace(receipt, charge_microusd=charge)
    return receipt


def _opened(gateway: Gateway, call: Call) -> requests.Response:
    options: dict[str, Any] = {"data": call.body, "headers": call.headers, "stream": True, "allow_redirects": False}
    try:
        return gateway.request(call.method, call.path, timeout=(CONNECT_SECONDS, READ_SECONDS), **options)
    except GatewayUnreachable as error:
        late = isinstance(error.__cause__, requests.Timeout)
        raise (TimedOut if late else CommandError)(f"{error}{_repeat(call)}") from error


def _chunks(response: requests.Response, call: Call) -> Iterator[bytes]:
    """Yield the body as it comes: each chunk of a stream by itself."""
    size = None if "chunked" in response.headers.get("Transfer-Encoding", "") else CHUNK_BYTES
    try:
        yield from response.iter_content(size)
    except requests.RequestException:
        raise CommandError(f"The connection was lost in the middle of the answer.{_repeat(call)}") from None


def _repeat(call: Call) -> str:
    return f" To repeat it without paying twice, add --idempotency-key {call.key}" if call.key else ""


def _cost_of(receipt: Receipt) -> str:
    charge, hold = receipt.charge_microusd, receipt.hold_microusd
    if receipt.replayed:
        return f"{receipt.usage_id} was answered before: nothing was charged again."
    if charge is None:
        return f"{receipt.usage_id}: the charge is not known yet; see `agw usage`."
    held = "" if hold is None else f" of {dollars_of(hold)} held"
    return f"{receipt.usage_id} cost {dollars_of(charge)}{held}."
