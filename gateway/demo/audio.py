"""A text is spoken, and what was said is transcribed and translated."""

from gateway.demo.client import Gateway, Receipt
from gateway.demo.money import table
from gateway.demo.paid import Write, send

SPEECH, TRANSCRIPTIONS, TRANSLATIONS = "/v1/audio/speech", "/v1/audio/transcriptions", "/v1/audio/translations"
MAX_COST_MICROUSD = 20_000
TEXT = "A gateway that meters every call."
BODY = {"model": "audio", "input": TEXT, "voice": "alloy", "response_format": "wav"}


def show_audio(gateway: Gateway, write: Write, step: int) -> None:
    """Make the three calls and show what each cost. Raises GatewayError where the gateway refuses."""
    write(f'\n{step}. Audio: "{TEXT}" is spoken, paid by the character; then the sound is paid by the second.\n')
    spoken, receipt = send(gateway, SPEECH, max_cost_microusd=MAX_COST_MICROUSD, json=BODY)
    charge = _charge_of(gateway, receipt)
    write(f"   spoken:      {len(spoken.content)} bytes of {spoken.headers['Content-Type']}\n")
    rows = [("hold", receipt.hold_microusd or 0, ""), ("charge", charge, f"for {len(TEXT)} characters")]
    for name, path in (("transcribed", TRANSCRIPTIONS), ("translated", TRANSLATIONS)):
        form = {"data": {"model": "audio"}, "files": {"file": ("a.wav", spoken.content)}}
        answer, receipt = send(gateway, path, max_cost_microusd=MAX_COST_MICROUSD, **form)
        write(f"   {name + ':':<13}{answer.json()['text']}\n")
        rows += [("hold", receipt.hold_microusd or 0, ""), ("charge", receipt.charge_microusd or 0, name)]
    write("\n" + "".join(f"   {line}\n" for line in table(rows)))


def _charge_of(gateway: Gateway, receipt: Receipt) -> int:
    """Look up what a call of bytes was charged: bytes have no place to say so."""
    [record] = [record for record in gateway.usage() if record["usageId"] == receipt.usage_id]
    return int(record["chargedMicrousd"])
