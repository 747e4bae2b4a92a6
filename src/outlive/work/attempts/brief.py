"""What the worker tells an agent: its task, what became of it, and what is wrong with its work."""

from collections.abc import Iterable, Sequence

from outlive.stores.tasks.records import Task

MAX_RESULT_CHARS = 4_000  # of one task; models write longer reports
MAX_RESULTS_CHARS = 24_000  # of all: the prompt of a task with many dependencies has to leave room for work
MAX_CHECK_CHARS = 12_000  # the end of each output, where tools print what failed

RULES = """\
You work on this task alone, in a git worktree of your own; nobody watches and nobody answers while you work.
Change files in this folder only. Do not commit, push or switch branches, and do not claim or complete tasks: when \
you end, the worker runs the checks, commits what you changed, lands it on {branch} and completes the task.
When the work is done, end with a short report of what you did and what others have to know: it becomes the result \
of the task. If it is too large, make parts of it with task_create (addBlocks: [{id}]) and end; you go on once they \
are done. If only a person can decide something, call ask_person and end."""


def task_words(task: Task, before: Sequence[Task], branch: str, checks: Sequence[str]) -> str:
    """The words that a session begins with."""
    parts = [f"Task #{task.id}: {task.subject}", task.description, results(before)]
    if checks:
        parts.append("These checks have to pass:\n" + "\n".join(f"- {check}" for check in checks))
    parts.append(RULES.format(branch=branch, id=task.id))
    return "\n\n".join(filter(None, parts))


def results(tasks: Iterable[Task]) -> str:
    """What came out of tasks that this one depends on."""
    said = [
        f"#{task.id} {task.subject} ({task.status}): {(task.result or 'no report')[:MAX_RESULT_CHARS]}"
        for task in tasks
        if task.finished
    ]
    text = "\n".join(said)[:MAX_RESULTS_CHARS]
    return f"What it builds on:\n{text}" if text else ""


def parts_done(tasks: Iterable[Task]) -> str:
    """The words with which a session goes on whose task waited for others."""
    return f"The tasks that this one waited for are done. Their changes are in this folder now.\n\n{results(tasks)}"


def go_on(task: Task, ended: str) -> str:
    """The words with which a session goes on that had ended its turn."""
    why = f" The last attempt ended: {ended}" if ended else ""
    return f"Go on with task #{task.id}: {task.subject}.{why}"


def answered(question: str, answer: str) -> str:
    asked = f"You asked: {question}\n" if question else ""
    return f"{asked}A person answered: {answer}"


def moved(machine: str, before: str) -> str:
    """What a session is told that goes on after its process died, perhaps elsewhere."""
    where = f"on {machine}" if machine else "here"
    came = f"; until now it ran on {before}" if before and before != machine else ""
    return (
        f"This session goes on {where}{came}. The process that had it is gone. The files are as they were when they "
        "were stored last: look before you repeat what was under way"
    )


def failed_checks(failures: Sequence[tuple[str, str]]) -> str:
    """What to do about checks that fail: command and output of each."""
    room = MAX_CHECK_CHARS // max(1, len(failures))
    texts = [f"$ {command}\n{output[-room:]}" for command, output in failures]
    return "The work is not done, these checks fail:\n\n" + "\n\n".join(texts) + "\n\nFix it, then end again."


def conflicting(branch: str, files: Sequence[str]) -> str:
    listed = "\n".join(f"- {name}" for name in files)
    return (
        f"Others have changed {branch} meanwhile, and your change does not fit it. This folder is now the newest "
        f"{branch} with your change merged in; these files have conflict markers:\n{listed}\n\n"
        "Resolve them so that both changes keep their purpose, then end again."
    )
