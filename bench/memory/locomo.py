"""Conversations of LoCoMo as entries and questions. The data is for evaluation only, and not in this repository."""

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from outlive.memory.retrieval import Entry

DATA = Path(__file__).parents[3] / "shared/data/locomo/locomo_dev.json"
_TURN = re.compile(r"D\d+:\d+")
UNANSWERABLE = 5


@dataclass(frozen=True)
class Question:
    text: str
    evidence: frozenset[str]


@dataclass(frozen=True)
class Corpus:
    """Entries of one conversation, and the turns that each of them stands for."""

    entries: tuple[Entry, ...]
    stands_for: dict[str, frozenset[str]]


@dataclass(frozen=True)
class Conversation:
    name: str
    turns: Corpus
    imported: Corpus
    """The same turns as they come in through `memory import`: numbered names and dates, no session or position."""
    observations: Corpus
    questions: tuple[Question, ...]


def load(path: Path = DATA) -> list[Conversation]:
    return [_conversation(raw) for raw in json.loads(path.read_text("utf-8"))]


def _conversation(raw: dict[str, Any]) -> Conversation:
    turns: list[Entry] = []
    observations: list[Entry] = []
    stands_for: dict[str, frozenset[str]] = {}
    said = raw["conversation"]
    for session in sorted(int(name.split("_")[1]) for name in said if re.fullmatch(r"session_\d+", name)):
        date = said.get(f"session_{session}_date_time", "")
        for position, turn in enumerate(said[f"session_{session}"]):
            body = f"{turn['speaker']}: {turn['text']} {turn.get('blip_caption', '')}".strip()
            turns.append(Entry(turn["dia_id"], turn["dia_id"], "", body, date, (), f"session {session}", position))
        for speaker, facts in raw["observation"].get(f"session_{session}_observation", {}).items():
            for text, evidence in facts:
                key = f"fact-{len(observations)}"
                observations.append(Entry(key, key, "", f"{speaker}: {text}", date))
                stands_for[key] = frozenset(_TURN.findall(json.dumps(evidence)))
    known = {turn.key for turn in turns}
    itself = {key: frozenset([key]) for key in known}
    bare = tuple(Entry(turn.key, turn.name, "", turn.body, turn.date) for turn in turns)
    return Conversation(
        raw["sample_id"],
        Corpus(tuple(turns), itself),
        Corpus(bare, itself),
        Corpus(tuple(observations), stands_for),
        tuple(_questions(raw["qa"], known)),
    )


def _questions(raw: list[dict[str, Any]], known: set[str]) -> list[Question]:
    found = []
    for question in raw:
        evidence = frozenset(_TURN.findall(json.dumps(question["evidence"]))) & known
        if question["category"] != UNANSWERABLE and evidence:
            found.append(Question(question["question"], evidence))
    return found
