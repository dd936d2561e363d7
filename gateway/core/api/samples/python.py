"""Samples in Python, with the package account_gateway_client. `gateway` is a Gateway, `key` a ProofKey."""

from collections.abc import Iterator

from gateway.core.api.samples.call import FORM, FORM_WITH_FILES, JSON, MAX_COST_EXAMPLE_MICROUSD, Call
from gateway.core.api.samples.literals import PYTHON

_HEADERS = f"call_headers(max_cost_microusd={MAX_COST_EXAMPLE_MICROUSD:_}, idempotency_key=str(uuid4()))"


def source(call: Call) -> str:
    """Write the program. Values that differ between callers are variables: `org_id`."""
    if call.is_socket:
        return _session(call)
    lines = [*_imports(call), *_called(call), _shown(call)]
    return "\n".join(lines)


def _imports(call: Call) -> Iterator[str]:
    lines = [
        *(["from pathlib import Path"] if _has_files(call) else []),
        *(["from uuid import uuid4"] if call.is_metered else []),
        *(["import requests"] if not call.is_signed else []),
        *(["from account_gateway_client import call_headers"] if call.is_metered else []),
        *(["from account_gateway_client import dpop_proof"] if call.is_proven and not call.is_signed else []),
    ]
    yield from lines
    yield from [""] if lines else []


def _has_files(call: Call) -> bool:
    return call.media == FORM_WITH_FILES or call.answers not in (JSON, "")


def _called(call: Call) -> Iterator[str]:
    """Yield the lines of the call."""
    arguments = list(_arguments(call))
    if call.is_signed:
        begun, named = "gateway.request(", [f'"{call.method}"', _path(call)]
    else:
        begun, named = f"requests.{call.method.lower()}(", ["url"]
        yield f'url = "{call.server}{call.path}"'
    if len(arguments) == 0:
        yield f"answer = {begun}{', '.join(named)})"
        return
    yield f"answer = {begun}"
    yield from (f"    {part}," for part in (*named, *arguments))
    yield ")"


def _path(call: Call) -> str:
    path = call.address("{{{}}}".format)
    return f'f"{path}"' if "{" in path else f'"{path}"'


def _arguments(call: Call) -> Iterator[str]:
    """Yield what the call takes beside its address."""
    if call.media == JSON:
        yield f"json={PYTHON.literal(call.computed_body, 1, len('json=,'))}"
    elif call.media == FORM:
        yield f"data={PYTHON.literal(call.computed_body, 1, len('data=,'))}"
    elif call.media == FORM_WITH_FILES:
        yield f"data={PYTHON.literal(call.text_fields, 1, len('data=,'))}"
        opened = (f'"{name}": ("{file}", Path("{file}").read_bytes())' for name, file in call.file_fields.items())
        yield f"files={{{', '.join(opened)}}}"
    if call.is_metered:
        yield f"headers={_HEADERS}"
    elif call.is_proven and not call.is_signed:
        yield f'headers={{"DPoP": dpop_proof(key, "{call.method}", url)}}'


def _shown(call: Call) -> str:
    if call.answers == JSON:
        return "print(answer.json())"
    return 'Path("speech.wav").write_bytes(answer.content)' if call.answers else "print(answer.status_code)"


def _session(call: Call) -> str:
    return "\n".join(
        (
            "from uuid import uuid4",
            "from account_gateway_client import call_headers",
            "from websockets.sync.client import connect",
            "",
            f'url = f"{call.server}{call.address("{{{}}}".format)}"',
            f'headers = gateway.signer.headers("{call.method}", url, gateway.signer.tokens.token())',
            f"headers |= {_HEADERS}",
            'with connect(url.replace("http", "ws", 1), additional_headers=headers) as session:',
            "    print(session.recv())",
        )
    )
