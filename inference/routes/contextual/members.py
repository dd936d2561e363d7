"""The treatment of members in requests for contextual embeddings."""

from inference.rules.members import REFUSED_EVERYWHERE, Member, Treatment

_NOT_HERE = Member(Treatment.REFUSED, "Only /v1/embeddings pins a manifest.")
_OTHERS = Member(Treatment.REFUSED, "Use documents or queries, dimensions and quantization.")
_OTHER_NAMES = ("encoding_format", "input", "inputs", "output_dimension", "output_dtype", "revision")
_OWN = ("dimensions", "documents", "input_type", "model", "quantization", "queries")

CONTEXTUAL_MEMBERS = {
    **REFUSED_EVERYWHERE,
    **dict.fromkeys(_OTHER_NAMES, _OTHERS),
    "manifest_id": _NOT_HERE,
    **dict.fromkeys(_OWN, Member(Treatment.BOUNDED, "The gateway reads it itself.")),
}
