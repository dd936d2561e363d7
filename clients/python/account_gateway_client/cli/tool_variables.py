"""The environment variables with which a tool uses the proxy."""

import os
from collections.abc import Mapping

from account_gateway_client.proxy.admission import HOST_NAMES
from account_gateway_client.proxy.server import LocalProxy

# What tools would take instead: another key, another address, another cloud.
TAKES_PRECEDENCE = (
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_CUSTOM_HEADERS",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "CLAUDE_CODE_USE_BEDROCK",
    "CLAUDE_CODE_USE_FOUNDRY",
    "CLAUDE_CODE_USE_VERTEX",
    "OPENAI_API_BASE",
    "OPENAI_API_TYPE",
    "OPENAI_ORGANIZATION",
    "OPENAI_ORG_ID",
    "OPENAI_PROJECT_ID",
)
_PROXIES = ("NO_PROXY", "no_proxy")


def variables_of(proxy: LocalProxy) -> dict[str, str]:
    """Return what a tool needs to be told."""
    return {
        "OPENAI_BASE_URL": f"{proxy.base_url}/v1",
        "OPENAI_API_KEY": proxy.secret,
        "ANTHROPIC_BASE_URL": proxy.base_url,
        "ANTHROPIC_AUTH_TOKEN": proxy.secret,
    }


def environment_with(proxy: LocalProxy, environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return the environment of a tool that is to use the proxy, and nothing else."""
    kept = {name: value for name, value in environment.items() if name not in TAKES_PRECEDENCE}
    return {**kept, **variables_of(proxy), **_without_detour(environment)}


def _without_detour(environment: Mapping[str, str]) -> dict[str, str]:
    """Keep a tool from asking the system's HTTP proxy for an address of this computer."""
    return {name: ",".join(filter(None, [environment.get(name), *HOST_NAMES])) for name in _PROXIES}
