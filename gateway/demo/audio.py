"""A text is spoken, and what was said is transcribed and translated."""

import uuid
from collections.abc import Callable
from typing import Any

import requests

from gateway.demo.client import Gateway, GatewayError, Receipt, call_headers
from gateway.demo.money import table

SPEECH, TRANSCRIPTIONS, TRANSLATIONS = "/v1/audio/speech", "/v1/audio/transcriptions", "/v1/audio/translations"
MAX_COST_MICROUSD = 20_000
TEXT = "A gateway that meters every call."
BODY = {"model": "audio", "input": TEXT, "voice": "alloy", "response_format": "wav"}


def show_audio(gateway: Gateway, write: Callable[[str], object]) -> None:
    """Make the three calls and show what each cost. Raises GatewayError where the gateway refuses."""
    write(f'6. Audio: "{TEXT}" is spoken, paid by the character; then the sound is paid by the second.\n')
    spoken, receipt = _call(gateway, SPEECH, json=BODY)
    charge = _charge_of(gateway, receipt)
    write(f"   spoken:      {len(spoken.content)} bytes of {spoken.headers['Content-Type']}\n")
    rows = [("hold", receipt.hold_microusd or 0, ""), ("charge", charge, f"for {len(TEXT)} characters")]
    for name, path in (("transcribed", TRANSCRIPTIONS), ("translated", TRANSLATIONS)):
        answer, receipt = _call(gateway, path, data={"model": "audio"}, files={"file": ("a.wav", spoken.content)})
        write(f"   {name + ':':<13}{answer.json()['text']}\n")
        rows += [("hold", receipt.hold_microusd or 0, ""), ("charge", receipt.charge_microusd or 0, name)]
    write("\n" + "".join(f"   {line}\n" for line in table(rows)))


def _call(gateway: Gateway, path: str, **options: Any) -> tuple[requests.Response, Receipt]:
    headers = call_headers(max_cost_microusd=MAX_COST_MICROUSD, idempotency_key=str(uuid.uuid4()))
    answer = gateway.request("POST", path, headers=headers, **options)
    receipt = Receipt.from_headers(answer.headers)
    if answer.status_code != 200 or receipt is None:
        raise GatewayError.of(answer.status_code, answer.json())
    return answer, receipt


def _charge_of(gateway: Gateway, receipt: Receipt) -> int:
    """Look up what a call of bytes was charged: bytes have no place to say so."""
    [record] = [record for record in gateway.usage() if record["usageId"] == receipt.usage_id]
    return int(record["chargedMicrousd"])
