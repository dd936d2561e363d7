"""Synthesizes speech from a text, then transcribes and translates it."""

from dataclasses import replace

from gateway.demo.client import Gateway, Receipt
from gateway.demo.paid import Write, send, show_receipt

SPEECH, TRANSCRIPTIONS, TRANSLATIONS = "/v1/audio/speech", "/v1/audio/transcriptions", "/v1/audio/translations"
MAX_COST_MICROUSD = 20_000
TEXT = "A gateway that meters every call."
BODY = {"model": "audio", "input": TEXT, "voice": "alloy", "response_format": "wav"}


def show_audio(gateway: Gateway, write: Write, step: int) -> None:
    """Make the three calls and show what each cost. Raises GatewayError if the gateway refuses."""
    write(f'\n{step}. Audio: "{TEXT}" is spoken, paid by the character; then the audio is paid by the second.\n')
    before = gateway.wallet()
    spoken, receipt = send(gateway, SPEECH, max_cost_microusd=MAX_COST_MICROUSD, json=BODY)
    receipt = replace(receipt, charge_microusd=_charge_of(gateway, receipt))
    write(f"   spoken:      {len(spoken.content)} bytes of {spoken.headers['Content-Type']}\n\n")
    show_receipt(gateway, write, before, receipt, f"for {len(TEXT)} characters")
    for name, path in (("transcribed", TRANSCRIPTIONS), ("translated", TRANSLATIONS)):
        before = gateway.wallet()
        form = {"data": {"model": "audio"}, "files": {"file": ("a.wav", spoken.content)}}
        answer, receipt = send(gateway, path, max_cost_microusd=MAX_COST_MICROUSD, **form)
        write(f"\n   {name + ':':<13}{answer.json()['text']}\n\n")
        show_receipt(gateway, write, before, receipt, "for its seconds")


def _charge_of(gateway: Gateway, receipt: Receipt) -> int:
    """Look up the charge of a call with a binary response, which cannot contain it."""
    [record] = [record for record in gateway.usage() if record["usageId"] == receipt.usage_id]
    return int(record["chargedMicrousd"])
