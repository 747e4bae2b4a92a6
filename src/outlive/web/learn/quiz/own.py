"""Questions from what the visitor did last in the other lessons, checked on copies of the visitor's own stores."""

from collections.abc import Callable, Iterator
from itertools import combinations

from outlive.errors import CycleError
from outlive.tasks.edges import arrows
from outlive.tasks.graph import TaskGraph
from outlive.web.learn.graph import EVERYTHING, GraphLesson
from outlive.web.learn.player import FACTS
from outlive.web.learn.quiz.bank import SESSIONS_DOC, TASKS_DOC
from outlive.web.learn.quiz.graph_experiments import REFUSED_OR_NOT, listed, refusal
from outlive.web.learn.quiz.question import QuizFinding, QuizQuestion
from outlive.web.learn.quiz.session_experiments import PLACES, at_window
from outlive.web.learn.survival import SurvivalLesson

TOPIC = "From your own lesson"
CHOICES = 4  # of a question: the right one and plausible wrong ones
ASKED_ABOUT = ("todo", "decision", "detail")


def questions(graph: GraphLesson | None, survival: SurvivalLesson | None) -> list[QuizQuestion]:
    """Some questions, each with an answer that the engine has found out already, because the stores change."""
    found: list[QuizQuestion] = []
    if graph is not None and graph.actions:
        found += [*_next_completion(graph), *_reopening(graph), *_cycle(graph), *_dead_worker(graph)]
    if survival is not None and survival.actions:
        found += _windows(survival)
    return found


def _next_completion(lesson: GraphLesson) -> Iterator[QuizQuestion]:
    ready = [task for task in lesson.graph.find(EVERYTHING) if task.ready]
    with lesson.copy() as graph:
        for task in ready[:1]:
            unblocked = [other.id for other in graph.complete(task.id).unblocked]
            text = (
                f"In your graph as it is now: you complete task {task.id} ({task.subject}). Which become ready by it?"
            )
            evidence = f"The engine completed {task.id} in a copy of your store. Newly ready: {listed(unblocked)}."
            reason = "Ready are those whose last unfinished dependency this was."
            yield _about_tasks("own-complete", text, graph, unblocked, evidence, reason, "complete")


def _reopening(lesson: GraphLesson) -> Iterator[QuizQuestion]:
    done = [action["task"] for action in lesson.actions if action["op"] in ("complete", "finish")]
    finished = {task.id for task in lesson.graph.find(EVERYTHING) if task.status == "completed"}
    for number in [number for number in reversed(done) if number in finished][:1]:
        before = {task.id for task in lesson.graph.find(EVERYTHING) if task.ready}
        with lesson.copy() as graph:
            graph.reopen(number)
            blocked = [task.id for task in graph.find(EVERYTHING) if task.id in before and not task.ready]
            text = f"You completed task {number}. If you reopen it now, which ready tasks are blocked again?"
            evidence = f"The engine reopened {number} in a copy of your store. Blocked again: {listed(blocked)}."
            reason = "What waits for an unfinished task is blocked, whatever it was before."
            yield _about_tasks("own-reopen", text, graph, blocked, evidence, reason, "reopen")


def _cycle(lesson: GraphLesson) -> Iterator[QuizQuestion]:
    tried = [action for action in lesson.actions if action["op"] == "cycle"]
    for action in tried[-1:]:
        number, on = action["task"], action["on"]
        with lesson.copy() as graph:
            try:
                graph.update(number, add_blocked_by=[on])
            except CycleError as error:
                cycle = list(error.cycle)
            else:
                return
        right = arrows(cycle)
        choices = sorted({right, arrows(cycle[::-1]), arrows([number, on]), arrows([*cycle[:-1], cycle[1]])})
        text = f"You tried to let task {number} wait for {on}. Which cycle did the engine name?"
        evidence = f"In a copy of your store the engine was asked again and named {right}."
        reason = "Read it as “waits for”: each task waits for the next, and the last is the first again."
        yield _question(
            "own-cycle", text, tuple(choices), choices.index(right), evidence, reason, "cycles", TASKS_DOC
        )


def _dead_worker(lesson: GraphLesson) -> Iterator[QuizQuestion]:
    killed = [action for action in lesson.actions if action["op"] == "kill"]
    if killed:
        number, owner, token = (killed[-1][name] for name in ("task", "owner", "token"))
        with lesson.copy() as graph:
            task = graph.get(number)
            if task.lease is not None and task.lease.token == token:
                return  # the lease still runs: nothing is decided yet
            refused = refusal(lambda: graph.complete(number, owner=owner, token=token))
        text = f"You killed {owner}, who held task {number}. {owner} wakes up and completes it. What happens?"
        evidence = f"Tried in a copy of your store. The engine answered: {refused or 'done.'}"
        reason = "The token belongs to one claim. When the lease has run out, it is worth nothing."
        yield _question(
            "own-killed", text, REFUSED_OR_NOT, 0 if refused else 1, evidence, reason, "may_act", TASKS_DOC
        )


def _windows(lesson: SurvivalLesson) -> Iterator[QuizQuestion]:
    windows = [action["window"] for action in lesson.actions if action["op"] == "window"]
    for window in windows[-1:]:
        for fact in FACTS:
            if fact.key in ASKED_ABOUT:
                found = at_window(fact.key, window)
                what = fact.what[0].lower() + fact.what[1:]
                text = f"You dragged the window to {window:,} tokens. Where was {what} at the end?"
                reason = "Agents' words and results fold; the user's words, tasks and state stay."
                yield _question(
                    f"own-window-{fact.key}", text, PLACES, found.right, found.evidence, reason, "fates", SESSIONS_DOC
                )


def _about_tasks(
    id: str, text: str, graph: TaskGraph, right: list[int], evidence: str, reason: str, source: str
) -> QuizQuestion:
    """A question whose choices are sets of tasks, the right one among them."""
    numbers = [task.id for task in graph.find(EVERYTHING)]
    others = [number for number in numbers if number not in right]
    wrong = [[*right, others[0]] if others else [], right[:-1] if right else others[:2], others[-2:], others[:1]]
    wrong += [list(pair) for pair in combinations(numbers, 2)]
    names = list(dict.fromkeys([listed(right), *map(listed, wrong)]))[:CHOICES]
    choices = sorted(names)
    return _question(id, text, tuple(choices), choices.index(listed(right)), evidence, reason, source, TASKS_DOC)


def _question(
    id: str, text: str, choices: tuple[str, ...], right: int, evidence: str, reason: str, source: str, doc: str
) -> QuizQuestion:
    check: Callable[[], QuizFinding] = lambda: QuizFinding(right, evidence)  # noqa: E731 - it is already known
    return QuizQuestion(id, TOPIC, text, choices, check, reason, source, doc)
