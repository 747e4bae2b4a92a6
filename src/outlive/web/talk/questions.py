"""Permission questions of one session. Each is answered once; who comes second is told who was first."""

import asyncio
import secrets
from collections import OrderedDict
from collections.abc import Callable

from msgspec import Struct

from outlive.tools.permissions.asking import PermissionAnswer, PermissionQuestion
from outlive.web.api import HttpProblem

MOST_REMEMBERED = 100
"""Answered questions that are remembered."""
WORDS = {"yes": "allowed", "always": "allowed from now on", "no": "refused"}


class OpenQuestion(Struct, frozen=True):
    """A question that waits, under an id that no other question has."""

    id: str
    question: PermissionQuestion
    answer: "asyncio.Future[PermissionAnswer]"


class OpenQuestions:
    """The questions that wait, the oldest first, and how the last ones ended."""

    def __init__(self, changed: Callable[[], None]) -> None:
        """`changed` is called when a question is asked and when it is gone."""
        self._changed = changed
        self.open: dict[str, OpenQuestion] = {}
        self._ended: OrderedDict[str, str] = OrderedDict()

    async def ask(self, question: PermissionQuestion) -> PermissionAnswer:
        """Wait for an answer. Cancelled, the question is gone."""
        asked = OpenQuestion(secrets.token_hex(8), question, asyncio.get_running_loop().create_future())
        self.open[asked.id] = asked
        self._changed()
        try:
            answer = await asked.answer
        except asyncio.CancelledError:
            self._end(asked.id, "the turn was interrupted before it was answered")
            raise
        self._end(asked.id, f"it was {WORDS[answer.choice]} by {answer.by}")
        return answer

    def answer(self, id: str, answer: PermissionAnswer) -> None:
        """Answer a question. Raises HttpProblem if it was answered before, or is gone."""
        asked = self.get(id)
        if answer.choice == "always" and not asked.question.always:
            raise HttpProblem(409, "no rule covers all of this; it can be allowed once", code="no_rule")
        if asked.answer.done():  # answered a moment ago, in this turn of the loop
            given = asked.answer.result()
            raise _ended(f"it was {WORDS[given.choice]} by {given.by}")
        asked.answer.set_result(answer)

    def get(self, id: str) -> OpenQuestion:
        if id in self.open:
            return self.open[id]
        raise _ended(self._ended.get(id, "it belongs to an earlier run"))

    def _end(self, id: str, how: str) -> None:
        del self.open[id]
        self._ended[id] = how
        if len(self._ended) > MOST_REMEMBERED:
            self._ended.popitem(last=False)
        self._changed()


def _ended(how: str) -> HttpProblem:
    return HttpProblem(409, f"this question is not open any more: {how}", code="answered")
