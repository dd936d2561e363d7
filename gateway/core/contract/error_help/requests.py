"""Help with requests that are wrong in themselves."""

from gateway.core.contract import errors
from gateway.core.contract.error_help.help import ErrorHelp, Retry

REQUESTS = {
    errors.InvalidRequest: ErrorHelp(
        "A field, query parameter or header has a value that the route does not accept, is missing, or is unknown to a route "
        "that refuses unknown fields. On model routes, the model's provider may also have rejected the request.",
        "Correct what `param` names; `message` says what is wrong with it. `details.code` is the provider's own code, such as "
        "`context_length_exceeded`, where there is one.",
        Retry.NO,
        param="messages.0.role",
    ),
    errors.InvalidJson: ErrorHelp(
        "The body is not one JSON object in UTF-8, is empty, repeats a key, has `NaN` or half of a surrogate pair, or is nested "
        "too deeply or has too many members.",
        "Let a JSON library write the body, and send it unchanged.",
        Retry.NO,
    ),
    errors.ImagesUnsupported: ErrorHelp(
        "The model behind this alias takes text only.",
        "Leave the images out, or choose another model.",
        Retry.NO,
        param="images",
    ),
    errors.ImageRejected: ErrorHelp(
        "An image is not one of the supported formats, too large, or at an address that the gateway does not fetch: a private "
        "network, a redirect, or anything but https.",
        "Send the image inline as a data URL, or from a public https address that answers directly.",
        Retry.NO,
        param="messages.0.content.1.image_url.url",
    ),
    errors.NotFound: ErrorHelp(
        "There is no such route or resource, or it belongs to another account.",
        "Check the path and the id, and that the token is of the account or organization that owns it.",
        Retry.NO,
    ),
    errors.ModelNotFound: ErrorHelp(
        "No enabled alias has this name. Names of a provider's models are not aliases.",
        "Use an `id` that `GET /v1/models` lists.",
        Retry.NO,
        param="model",
    ),
    errors.MethodNotAllowed: ErrorHelp(
        "The path exists, but not with this method.",
        "Use a method that the header `Allow` lists.",
        Retry.NO,
    ),
    errors.RequestTooLarge: ErrorHelp(
        "The body has more bytes than the route accepts.",
        "Send less than `details.limitBytes`, for example smaller images, or split the request.",
        Retry.NO,
        details={"limitBytes": 10_485_760},
    ),
    errors.InputTooLarge: ErrorHelp(
        "The input has more tokens, characters or items than the model accepts.",
        "Shorten the input, split it, or choose a model with a longer context.",
        Retry.NO,
    ),
    errors.UnsupportedMediaType: ErrorHelp(
        "`Content-Type` is missing or is not what the route reads, or the body has a `Content-Encoding`.",
        "Send `Content-Type: application/json` (or the form that the reference shows for the route), uncompressed.",
        Retry.NO,
        param="Content-Type",
    ),
    errors.OrgReportLimit: ErrorHelp(
        "The organization has more history than one report reads.",
        "Ask for a shorter time. Larger reports are in the portal.",
        Retry.NO,
        details={"limit": 10_000},
    ),
}
