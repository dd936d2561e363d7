"""Samples in TypeScript, with the package account-gateway-client. `gateway` is a Gateway, `key` a ProofKey."""

import re
from collections.abc import Iterator

from gateway.core.api.samples.call import FORM, FORM_WITH_FILES, JSON, MAX_COST_EXAMPLE_MICROUSD, Call
from gateway.core.api.samples.literals import TYPESCRIPT

_OPTIONS = f"{{ maxCostMicrousd: {MAX_COST_EXAMPLE_MICROUSD:_} }}"
_OF_FORMS = {"/v1/audio/transcriptions": "transcribe", "/v1/audio/translations": "translate"}


def source(call: Call) -> str:
    """Write the program. Values that differ between callers are variables: `orgId`."""
    if call.is_socket:
        lines: Iterator[str] = _session()
    elif call.is_metered:
        lines = _metered(call)
    else:
        lines = _plain(call)
    return "\n".join(lines)


def _session() -> Iterator[str]:
    yield f"const session = await gateway.connectRealtime({{ model, {_OPTIONS.strip('{ ')});"
    yield "for await (const event of session) console.log(event);"


def _metered(call: Call) -> Iterator[str]:
    """Yield the lines of a metered call, whose method makes its key, its proof and its repetitions."""
    if call.media == FORM_WITH_FILES:
        yield "const form = new FormData();"
        yield from (f'form.append("{name}", {name});' for name in call.file_fields)
        yield from (f'form.append("{name}", "{value}");' for name, value in call.text_fields.items())
        yield f"const {{ data, receipt }} = await gateway.{_OF_FORMS[call.path]}(form, {_OPTIONS});"
    else:
        yield f"const body = {TYPESCRIPT.literal(call.body, used=len('const body = ;'))};"
        called = f'post("{call.path}", body' if call.answers == JSON else "speech(body"
        yield f"const {{ data, receipt }} = await gateway.{called}, {_OPTIONS});"
    yield "console.log(data, receipt);"


def _plain(call: Call) -> Iterator[str]:
    if call.is_signed:
        begun = f"gateway.fetch({_quoted(call.address(_variable))}"
    else:
        begun = "fetch(url"
        if call.is_proven and not call.is_signed:
            yield 'import { dpopProof } from "account-gateway-client";'
            yield ""
        yield f'const url = "{call.server}{call.path}";'
    options = list(_options(call))
    if options:
        yield f"const response = await {begun}, {{"
        yield from (f"  {option}," for option in options)
        yield "});"
    else:
        yield f"const response = await {begun});"
    yield "console.log(await response.json());" if call.answers == JSON else "console.log(response.status);"


def _options(call: Call) -> Iterator[str]:
    if call.method != "GET":
        yield f'method: "{call.method}"'
    named = []
    if call.media == JSON:
        named.append(f'"Content-Type": "{JSON}"')
    if call.is_proven and not call.is_signed:
        named.append(f'DPoP: await dpopProof(key, {{ method: "{call.method}", url, now: Date.now() / 1000 }})')
    if named:
        yield f"headers: {{ {', '.join(named)} }}"
    if call.media == JSON:
        yield f"body: JSON.stringify({TYPESCRIPT.literal(call.computed_body, 1, len('body: JSON.stringify(),'))})"
    elif call.media == FORM:
        yield f"body: new URLSearchParams({TYPESCRIPT.literal(call.computed_body, 1, len('body: new URLSearchParams(),'))})"


def _quoted(address: str) -> str:
    return f"`{address}`" if "$" in address else f'"{address}"'


def _variable(name: str) -> str:
    """Write a name as an expression within a template: `${orgId}`."""
    return "${" + re.sub(r"_(\w)", lambda found: found[1].upper(), name) + "}"
