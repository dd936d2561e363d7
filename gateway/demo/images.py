"""Generates an image from a prompt."""

import base64
from typing import Any

from gateway.demo.client import Gateway
from gateway.demo.paid import Write, call, show_receipt

IMAGES = "/v1/images/generations"
MAX_COST_MICROUSD = 50_000
PROMPT = "A badger in the rain"
BODY: dict[str, Any] = {"model": "image", "prompt": PROMPT, "size": "1024x1024", "quality": "low"}


def show_images(gateway: Gateway, write: Write, step: int) -> None:
    """Generate an image, and print its properties and cost. Raises GatewayError if the gateway refuses."""
    write(f"\n{step}. Draw: an image, paid for by its size and quality.\n   > {PROMPT}\n")
    before = gateway.wallet()
    answer, receipt = call(gateway, IMAGES, BODY, max_cost_microusd=MAX_COST_MICROUSD)
    [image] = answer["data"]
    size_bytes = len(base64.b64decode(image["b64_json"]))
    write(f"   {answer['output_format'].upper()}, {answer['size']}, {size_bytes:,} bytes\n\n")
    show_receipt(gateway, write, before, receipt, f"for one image of {answer['size']}, quality {answer['quality']}")
