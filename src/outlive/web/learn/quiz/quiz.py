"""Rounds of questions, and their answers."""

import random
from functools import cache

from outlive.web.api import HttpProblem, bad_request
from outlive.web.learn.graph import GraphLesson
from outlive.web.learn.quiz import own
from outlive.web.learn.quiz.bank import BANK
from outlive.web.learn.quiz.question import QuizFinding, QuizQuestion
from outlive.web.learn.survival import SurvivalLesson

ROUND = 10  # questions: a few minutes
MOST_OWN = 4  # of them about the learner's own lesson; the others cover all topics


@cache
def finding(id: str) -> QuizFinding:
    """What the engine finds out about a question of the bank. The experiments are fixed, so once is enough."""
    return BANK[id].check()


class Quiz:
    """The questions of one visitor."""

    def __init__(self) -> None:
        self._own: dict[str, QuizQuestion] = {}

    def round(self, seed: int, graph: GraphLesson | None, survival: SurvivalLesson | None) -> dict[str, object]:
        """Some questions: from the visitor's own actions, and from each topic of the bank."""
        chance = random.Random(seed)
        mine = own.questions(graph, survival)
        chance.shuffle(mine)
        self._own = {question.id: question for question in mine[:MOST_OWN]}
        topics: dict[str, list[QuizQuestion]] = {}
        for question in chance.sample(list(BANK.values()), len(BANK)):
            topics.setdefault(question.topic, []).append(question)
        chosen = list(self._own.values())
        while len(chosen) < ROUND:
            for waiting in topics.values():
                if waiting and len(chosen) < ROUND:
                    chosen.append(waiting.pop())
        chance.shuffle(chosen)
        return {"questions": [_told(question) for question in chosen], "bank": len(BANK)}

    def answer(self, id: str, choice: int) -> dict[str, object]:
        """Whether a choice is right, what the engine did to find out, and why."""
        question = self._own.get(id) or BANK.get(id)
        if question is None:
            raise HttpProblem(404, "that question was not asked", hint="begin a new round", code="unknown_question")
        if not 0 <= choice < len(question.choices):
            raise bad_request(f"the question has {len(question.choices)} choices")
        found = question.check() if id in self._own else finding(id)
        return {
            "right": choice == found.right,
            "answer": found.right,
            "evidence": found.evidence,
            "reason": question.reason,
            "source": question.source,
            "doc": question.doc,
        }


def _told(question: QuizQuestion) -> dict[str, object]:
    return {"id": question.id, "topic": question.topic, "text": question.text, "choices": question.choices}
