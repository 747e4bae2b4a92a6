"""A job of 200 turns, made up: each looks at a part of a long log and notes one fact.

In one job the rows of the log are random and nothing asks for them again; in the other every third call spells a name
of a row that was seen before. Nothing here was recorded, so no weight of the engine was fitted on it.
"""

import random
from collections.abc import Callable, Sequence
from typing import Any

from bench.context.baselines import Answer, Runner
from bench.context.references import find_references
from bench.context.scoring import Score, run
from bench.context.sessions import Session, make_session, message_text

TURNS, ROWS, FACTS = 200, 75, 20
WINDOW = 100_000
SYSTEM = "You read logs. " * 1_000
ASK = "Go through the log from beginning to end. Note one fact for each part. Never skip a part."


def session(*, returning: bool) -> Session:
    """The job; `returning`: rows are asked for again."""
    chance = random.Random(7)
    messages = [_message("user", {"type": "text", "text": ASK})]
    names: list[str] = []
    for turn in range(TURNS):
        back = returning and turn % 3 == 2 and turn > 30
        asked = {"part": turn, **({"compare": chance.choice(names)} if back else {})}
        call = {"type": "tool_use", "id": f"call_{turn}", "name": "look", "input": asked}
        messages.append(_message("assistant", {"type": "text", "text": f"Part {turn} comes next. " * 4}, call))
        new = [f"worker_{chance.randrange(10**6)}.{chance.randrange(10**4)}" for _ in range(ROWS)]
        rows = [f"{turn:03d}:{row:03d} {name} took {chance.random():.4f} s" for row, name in enumerate(new)]
        names += new
        text = "\n".join([*rows, f"fact_{turn:03d} = {chance.randrange(10**8)}"])
        messages.append(_message("user", {"type": "tool_result", "tool_use_id": f"call_{turn}", "content": text}))
    messages.append(_message("assistant", {"type": "text", "text": "All of it is read."}))
    return make_session("job", "made up", SYSTEM, messages, [5.0 * place for place in range(len(messages))])


def _message(role: str, *blocks: dict[str, Any]) -> dict[str, Any]:
    return {"role": role, "content": list(blocks)}


class Watched(Runner):
    """Another runner, and how many of the newest facts its requests show at least."""

    def __init__(self, runner: Runner) -> None:
        super().__init__(runner.session, runner.window)
        self.runner = runner
        self.worst = FACTS

    def answer(self, turn: int) -> Answer:
        answer = self.runner.answer(turn)
        text = "\n".join(map(message_text, answer.messages))
        newest = range(max(turn // 2 - FACTS, 0), turn // 2)
        self.worst = min(self.worst, FACTS - sum(f"fact_{fact:03d} =" not in text for fact in newest))
        return answer

    def page(self, handle: int) -> str:
        return self.runner.page(handle)


def report(policies: Sequence[tuple[str, Callable[[Session, int], Runner]]]) -> None:
    """Print what each policy pays for the two jobs."""
    print(f"\n### {TURNS} turns of a made-up job, window {WINDOW // 1000}k\n")
    print("| policy | rows come back | cost | rewritten | direct | evidence | worst of the last 20 facts | passes |")
    print(8 * "|---" + "|")
    for returning in (False, True):
        made = session(returning=returning)
        references = find_references(made)
        for name, make in policies:
            watched = Watched(make(made, WINDOW))
            score = run(made, references, lambda *_, watched=watched: watched, WINDOW)
            print(_row(name, score, watched.worst, returning=returning), flush=True)


def _row(name: str, score: Score, worst: int, *, returning: bool) -> str:
    shares = [f"{100 * part / score.refs:.0f}" if score.refs else "–" for part in (score.direct, score.evidence)]
    amounts = [f"{tokens / 1000:,.0f}k" for tokens in (score.cost, score.rewritten)]
    cells = [name, "yes" if returning else "no", *amounts, *shares, str(worst), str(score.passes)]
    return "| " + " | ".join(cells) + " |"
