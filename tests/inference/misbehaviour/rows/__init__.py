"""Every metered route at every kind of upstream that serves it. The package above says how a route joins."""

from tests.inference.misbehaviour.row import Row
from tests.inference.misbehaviour.rows import audio, images, judgement, rerank, text, vectors

ROWS: list[Row] = [*text.ROWS, *vectors.ROWS, *rerank.ROWS, *images.ROWS, *audio.ROWS, *judgement.ROWS]
