"""The treatment of every member of the vendor's image request; docs/image-fields.md has the same table."""

from collections.abc import Mapping

from inference.rules.members import REFUSED_EVERYWHERE, Member, Treatment, other_limits

PASSED, BOUNDED, REFUSED = Treatment.PASSED, Treatment.BOUNDED, Treatment.REFUSED

_LABEL = "A label for the model's provider."
_FRAMES = "Several frames are several images, which have no price together."
_INPUT_IMAGE = "The images of a request for a new image are those of its answer alone."

VENDOR: Mapping[str, Member] = {
    "background": Member(PASSED, "An opaque and a transparent image cost the same."),
    "complexity": Member(REFUSED, "Planning an image has no price here."),
    "frame_count": Member(REFUSED, _FRAMES),
    "frame_duration_ms": Member(REFUSED, _FRAMES),
    "model": Member(BOUNDED, "It selects the prices. The model of a deployment goes upstream in its place."),
    "moderation": Member(PASSED, "Both levels cost the same."),
    "n": Member(BOUNDED, "The hold covers this many images, at most 10. A stream has one image."),
    "output_compression": Member(PASSED, "It makes the file smaller, not the image."),
    "output_format": Member(
        BOUNDED, "`png`, `jpeg` and `webp`. A `gif` has several frames, and a second model writes an `svg`."
    ),
    "partial_images": Member(
        BOUNDED,
        "At most 3, and only with `stream`. Where output tokens have a price, the hold is for 100 more for each; the price of an "
        "image includes them.",
    ),
    "prompt": Member(BOUNDED, "Where input tokens have a price, every byte of it counts in the hold."),
    "quality": Member(
        BOUNDED,
        "With `size` it selects the price of an image. For `auto`, the hold uses the highest price that may apply.",
    ),
    "response_format": Member(
        BOUNDED,
        "`b64_json` or `url`. The answer has `b64_json` either way: a URL at the provider is fetched by the gateway.",
    ),
    "safety_identifier": Member(PASSED, _LABEL),
    "size": Member(BOUNDED, "As `quality`."),
    "stream": Member(PASSED, "A stream costs what the same image in one piece costs."),
    "style": Member(PASSED, "Every style costs the same."),
    "svg": Member(REFUSED, "A second model writes an SVG, which has no price here."),
    "user": Member(PASSED, _LABEL),
}
"""Every member of the vendor's request."""

_INPUT: Mapping[str, Member] = {
    name: Member(REFUSED, _INPUT_IMAGE)
    for name in (
        "image",
        "image_url",
        "image_urls",
        "images",
        "input_fidelity",
        "init_image",
        "mask",
        "reference_images",
    )
}
_COUNTS = other_limits(
    *(
        "aspect_ratio",
        "batch_count",
        "batch_size",
        "height",
        "image_size",
        "n_iter",
        "num_images",
        "num_images_per_prompt",
    ),
    *("num_inference_steps", "num_outputs", "number_of_images", "resolution", "samples", "sample_count", "steps"),
    *("upscale", "width"),
)

IMAGE_MEMBERS: Mapping[str, Member] = {**REFUSED_EVERYWHERE, **_INPUT, **_COUNTS, **VENDOR}
"""Images at upstreams that speak the public vendor API."""
