"""The forward pass of BERT (Devlin et al., 2018) in NumPy: from token ids to one vector for each token."""

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float32]

HEADS = 12
LAYERS = 6
EPSILON = np.float32(1e-12)
MASKED = np.float32(-1e9)


class Bert:
    """The encoder. `weights` maps the parameter names of the `transformers` library to a checkpoint's arrays."""

    def __init__(self, weights: Mapping[str, Array]) -> None:
        self._weights = weights

    def encode(self, rows: Sequence[Sequence[int]]) -> list[Array]:
        """Return the last layer's vectors of each text, an array of tokens x 384. The texts are computed as one batch."""
        longest = max(map(len, rows))
        tokens = np.array([[*row, *[0] * (longest - len(row))] for row in rows])
        counts = np.array([len(row) for row in rows])
        blocked = np.where(np.arange(longest) < counts[:, None], np.float32(0), MASKED)[:, None, None, :]
        hidden = self._embeddings(tokens)
        for layer in range(LAYERS):
            hidden = self._layer(f"encoder.layer.{layer}", hidden, blocked)
        return [vectors[: len(row)] for vectors, row in zip(hidden, rows, strict=True)]

    def _embeddings(self, tokens: npt.NDArray[np.int64]) -> Array:
        words = self._weights["embeddings.word_embeddings.weight"][tokens]
        positions = self._weights["embeddings.position_embeddings.weight"][: tokens.shape[1]]
        kinds = self._weights["embeddings.token_type_embeddings.weight"][0]
        return self._norm("embeddings.LayerNorm", words + positions + kinds)

    def _layer(self, name: str, hidden: Array, blocked: Array) -> Array:
        attended = self._linear(
            f"{name}.attention.output.dense", self._attention(f"{name}.attention.self", hidden, blocked)
        )
        hidden = self._norm(f"{name}.attention.output.LayerNorm", hidden + attended)
        inner = _gelu(self._linear(f"{name}.intermediate.dense", hidden))
        return self._norm(f"{name}.output.LayerNorm", hidden + self._linear(f"{name}.output.dense", inner))

    def _attention(self, name: str, hidden: Array, blocked: Array) -> Array:
        queries, keys, values = (_heads(self._linear(f"{name}.{part}", hidden)) for part in ("query", "key", "value"))
        scale = np.float32(queries.shape[-1] ** 0.5)
        weights = _softmax(queries @ keys.transpose(0, 1, 3, 2) / scale + blocked)
        return np.ascontiguousarray((weights @ values).transpose(0, 2, 1, 3)).reshape(hidden.shape)

    def _linear(self, name: str, vectors: Array) -> Array:
        weight = self._weights[f"{name}.weight"]
        flat = vectors.reshape(-1, vectors.shape[-1]) @ weight.T  # one large product is faster than one for each text
        flat += self._weights[f"{name}.bias"]
        result: Array = flat.reshape(*vectors.shape[:-1], len(weight))
        return result

    def _norm(self, name: str, vectors: Array) -> Array:
        centred = vectors - vectors.mean(axis=-1, keepdims=True)
        spread = np.sqrt((centred * centred).mean(axis=-1, keepdims=True) + EPSILON)
        result: Array = centred / spread * self._weights[f"{name}.weight"] + self._weights[f"{name}.bias"]
        return result


def _heads(vectors: Array) -> Array:
    """Split texts x tokens x 384 into texts x heads x tokens x 32."""
    texts, tokens, width = vectors.shape
    return vectors.reshape(texts, tokens, HEADS, width // HEADS).transpose(0, 2, 1, 3)


def _softmax(values: Array) -> Array:
    raised = np.exp(values - values.max(axis=-1, keepdims=True))
    result: Array = raised / raised.sum(axis=-1, keepdims=True)
    return result


def _gelu(values: Array) -> Array:
    """Return x * Phi(x), the exact form of GELU, with the error function of Abramowitz and Stegun 7.1.26 (error 1.5e-7)."""
    size = np.abs(values) * np.float32(0.5**0.5)
    t = 1 / (1 + np.float32(0.3275911) * size)
    series = np.zeros_like(t)
    for coefficient in (1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592):
        series = (series + np.float32(coefficient)) * t
    error_function = np.copysign(1 - series * np.exp(-size * size), values)
    result: Array = values * np.float32(0.5) * (1 + error_function)
    return result
