"""The bank of questions. None of them holds its answer: each names the experiment that finds it."""

from collections.abc import Callable

from outlive.web.learn import recording
from outlive.web.learn.quiz import graph_experiments as graph
from outlive.web.learn.quiz import session_experiments as session
from outlive.web.learn.quiz.question import QuizFinding, QuizQuestion

TASKS_DOC, SESSIONS_DOC = "docs/tasks.md", "docs/sessions.md"
LIST, RUNG, SURVIVES, GRAPH = "To-do or task?", "Which rung?", "What survives?", "The graph"


def _about_tasks(
    id: str, text: str, choices: tuple[str, ...], check: Callable[[], QuizFinding], reason: str, source: str
) -> QuizQuestion:
    topic = LIST if choices is graph.TODO_OR_TASK else GRAPH
    return QuizQuestion(id, topic, text, choices, check, reason, source, TASKS_DOC)


def _about_sessions(
    id: str,
    topic: str,
    text: str,
    choices: tuple[str, ...],
    check: Callable[[], QuizFinding],
    reason: str,
    source: str,
) -> QuizQuestion:
    return QuizQuestion(id, topic, text, choices, check, reason, source, SESSIONS_DOC)


_NEEDS = "Answer queries (4) needs the parser (2) and the index (3)."
GRAPH_QUESTIONS = (
    _about_tasks(
        "share",
        "Two agents share the work, and nothing may be done twice. What do you use?",
        graph.TODO_OR_TASK,
        graph.second_claim,
        "A claim has exactly one winner. Nobody can claim a line of text.",
        "claim",
    ),
    _about_tasks(
        "order",
        "One piece of work must not begin before another is finished, no matter who does it. What do you use?",
        graph.TODO_OR_TASK,
        graph.must_wait,
        "A task knows what it waits for, and the store refuses to start it earlier.",
        "may_start",
    ),
    _about_tasks(
        "killed",
        "A process is killed in the middle of an item. Which list shows who worked on it, and frees it again?",
        graph.TODO_OR_TASK,
        graph.who_works,
        "A claim is a lease: it names its holder and ends by itself.",
        "lease",
    ),
    _about_tasks(
        "first",
        "In the plan of lesson 1 nothing is done. You complete task 1. Which tasks become ready?",
        graph.READY_AFTER_FIRST,
        graph.ready_after_first,
        "Ready means: pending, and everything it depends on is finished. 4 and 6 wait for 2 or 3.",
        "complete",
    ),
    _about_tasks(
        "one-of-two",
        f"{_NEEDS} 1 and 2 are completed. Can 4 start?",
        graph.STILL_BLOCKED,
        graph.one_of_two,
        "A task is ready when all its dependencies are finished, not when one is.",
        "ready",
    ),
    _about_tasks(
        "reopen",
        f"{_NEEDS} Both are completed, then 2 is reopened. What about 4?",
        graph.REOPENED,
        graph.reopened,
        "blockedBy is derived from the status of the dependencies each time, so it is never out of date.",
        "reopen",
    ),
    _about_tasks(
        "cycle",
        "Task 7 waits, by way of others, for task 1. You let task 1 wait for 7. What happens?",
        graph.REFUSED_OR_NOT,
        graph.cycle,
        "In a cycle nothing could ever start, so the edge is refused and the cycle is named.",
        "cycles",
    ),
    _about_tasks(
        "blocked",
        "Task 5 waits for 4, which is open. Somebody completes 5. What happens?",
        graph.REFUSED_OR_NOT,
        graph.blocked,
        "A blocked task cannot be completed: complete what it waits for, or remove the dependency.",
        "may_finish",
    ),
    _about_tasks(
        "stale",
        "ada's lease ran out, and bob claimed the task. Then ada completes it with her old token. What happens?",
        graph.REFUSED_OR_NOT,
        graph.stale_token,
        "Each claim has a higher token. An old one shows that the work was given to another.",
        "may_act",
    ),
    _about_tasks(
        "expired",
        "A worker died and its lease ran out. Who may claim its task?",
        graph.EXPIRED,
        graph.expired,
        "A lease that ran out no longer protects the task. No clean-up is needed.",
        "lease",
    ),
    _about_tasks(
        "twice",
        "A task is completed, and a retry completes it once more. What changes?",
        graph.TWICE,
        graph.twice,
        "Completing is safe to repeat, so a worker that is not sure may simply do it again.",
        "complete",
    ),
    _about_tasks(
        "cancel",
        "Release (7) waits for the manual (6). You cancel 6. What about 7?",
        graph.CANCELLED,
        graph.cancelled,
        "A cancelled task will not be done, so nothing waits for it.",
        "cancel",
    ),
    _about_tasks(
        "ids",
        "You delete task 7 and create a new one. Which number does it get?",
        graph.IDS,
        graph.ids,
        "Other files, logs and people may still speak of number 7, so it never means something else.",
        "create",
    ),
    _about_tasks(
        "best",
        "A worker claims without naming a task. Which one does it get?",
        graph.BEST,
        graph.best,
        "The store picks the most urgent ready task, and gives it to exactly one worker.",
        "claim",
    ),
)

FOUR = ("spool", "micro", "auto", "reactive")
FOLDING = ("spool", "snip", "collapse", "reactive")
SHRINKING = ("spool", "micro", "collapse", "auto")
SHORTENING = ("spool", "snip", "collapse", "auto")

SESSION_QUESTIONS = (
    _about_sessions(
        "next-agent",
        LIST,
        "Tomorrow another agent opens this project and has to know what is open. What do you use?",
        graph.TODO_OR_TASK,
        session.next_agent,
        "A new session begins with an empty conversation. Tasks belong to the project.",
        "state",
    ),
    _about_sessions(
        "tonight",
        LIST,
        "The conversation is compacted tonight, and you want the list in view afterwards. What do you use?",
        graph.TODO_OR_TASK,
        session.after_compaction,
        "Open tasks are rendered from their store into every request; text is folded.",
        "state",
    ),
    _about_sessions(
        "right-now",
        LIST,
        "Three small steps, done in the next minute, that nobody else needs. What is enough?",
        graph.TODO_OR_TASK,
        session.right_now,
        "What is recent stays in the window as it is. A list for a minute needs no file.",
        "ladder",
    ),
    _about_sessions(
        "large",
        RUNG,
        "A log arrives that does not fit into the window beside what must stay. Which rung answers?",
        FOUR,
        session.rung_named("spool", FOUR),
        "The model gets a preview and a handle; the whole log is on disk.",
        "spool",
    ),
    _about_sessions(
        "full",
        RUNG,
        "The window fills up. The oldest turns become one digest. Which rung is that?",
        FOLDING,
        session.rung_named("collapse", FOLDING),
        "Whole turns fold: what was asked, done, decided, and the best lines.",
        "ladder",
    ),
    _about_sessions(
        "asked",
        RUNG,
        "You type /compact. Which rung is that?",
        FOUR,
        session.rung_named("auto", FOUR),
        "All but the recent tail is folded, because somebody asked.",
        "asked",
    ),
    _about_sessions(
        "refused",
        RUNG,
        "The provider refuses a request as too long, and the smaller one after it too. Which rung answers?",
        FOUR,
        session.rung_named("reactive", FOUR),
        "An emergency pass goes down to the least that must stay.",
        "refused",
    ),
    _about_sessions(
        "headers",
        RUNG,
        "Old tool results shrink to a header and their best lines; the calls stay in place. Which rung?",
        SHRINKING,
        session.rung_named("micro", SHRINKING),
        "Results are most of a window, and most of their lines are never needed again.",
        "ladder",
    ),
    _about_sessions(
        "long-text",
        RUNG,
        "A long old text of the agent keeps its beginning, its end and a handle. Which rung?",
        SHORTENING,
        session.rung_named("snip", SHORTENING),
        "Long old texts are shortened before anything is folded.",
        "ladder",
    ),
    _about_sessions(
        "front",
        RUNG,
        "Which rung changes nothing that the model has read before, so that the provider's cache stays whole?",
        ("spool", "micro", "collapse", "auto"),
        session.keeps_front,
        "It only touches what has just arrived.",
        "keeps_front",
    ),
    _about_sessions(
        "todo-20k",
        SURVIVES,
        "A window of 20,000 tokens, at the end of the session. Where is the agent's to-do list?",
        session.PLACES,
        lambda: session.at_window("todo", 20_000),
        "The agent's words are folded with the turns that held them.",
        "fates",
    ),
    _about_sessions(
        "asked-6k",
        SURVIVES,
        "A window of 6,000 tokens. Where is what the user asked, word for word?",
        session.PLACES,
        lambda: session.at_window("asked", 6_000),
        "The user's own words stay verbatim through every rung.",
        "words",
    ),
    _about_sessions(
        "rule-floor",
        SURVIVES,
        "After the emergency pass. Where is the standing instruction “Never touch vendor/”?",
        session.PLACES,
        lambda: session.after_rung("rule", "reactive"),
        "Standing instructions are state, and state is never summarised.",
        "state",
    ),
    _about_sessions(
        "decision-auto",
        SURVIVES,
        "After /compact. Where is the decision that the agent wrote half-way?",
        session.PLACES,
        lambda: session.after_rung("decision", "auto"),
        "An agent's words are folded. What must stay belongs in a task, a plan or a memory.",
        "asked",
    ),
    _about_sessions(
        "detail-24k",
        SURVIVES,
        f"A window of 24,000 tokens. Where is the line {recording.DETAIL!r}, read early in a file?",
        session.PLACES,
        lambda: session.at_window("detail", 24_000),
        "A folded result keeps the lines that are likely to be needed again.",
        "fates",
    ),
    _about_sessions(
        "detail-8k",
        SURVIVES,
        f"The same line {recording.DETAIL!r}, at a window of 8,000 tokens?",
        session.PLACES,
        lambda: session.at_window("detail", 8_000),
        "A line unlike the rest of its result is kept in a small window, too. A handle leads to the whole file.",
        "fates",
    ),
    _about_sessions(
        "tasks-4k",
        SURVIVES,
        "The smallest window, 4,000 tokens. Where are the open tasks?",
        session.PLACES,
        lambda: session.at_window("tasks", 4_000),
        "Tasks are read from disk and rendered into every request.",
        "state",
    ),
    _about_sessions(
        "log-spool",
        SURVIVES,
        "A large log was spooled when it arrived. Where is a line from its middle?",
        session.PLACES,
        lambda: session.after_rung("log", "spool"),
        "A preview shows the beginning and the end; the handle has all of it.",
        "spool",
    ),
    _about_sessions(
        "later-words",
        SURVIVES,
        "The user mentioned something on the way. Where is it at a window of 8,000 tokens?",
        session.PLACES,
        lambda: session.at_window("later", 8_000),
        "Users' words are the cheapest and the most valuable tokens.",
        "words",
    ),
    _about_sessions(
        "restart",
        SURVIVES,
        "The process is ended and started again. What does the next request look like?",
        ("The same as before, byte for byte", "It begins without the conversation"),
        session.after_restart,
        "The request is a function of the log, and the log is on disk.",
        "resume",
    ),
    _about_sessions(
        "swap",
        SURVIVES,
        "Another agent goes on in a new session. Where is what the user asked the first one?",
        ("In its window", "In the log of the first session, by handle", "Nowhere any more"),
        session.users_words_after_swap,
        "Conversations belong to a session. Tasks and memories belong to the project.",
        "resume",
    ),
    _about_sessions(
        "recall",
        SURVIVES,
        "You recall a handle of a file that left the window. What do you get?",
        ("The file exactly as it was read", "A summary of the file"),
        session.recalled,
        "A handle is a page of the log, and the log is never rewritten.",
        "pages",
    ),
    _about_sessions(
        "undo",
        SURVIVES,
        "You take back a pass. What does the model see?",
        ("What it saw before the pass, exactly", "The digest, with the old messages below it"),
        session.undone,
        "A pass is an event that changes how the log is shown. Another event takes it back.",
        "undo",
    ),
    _about_sessions(
        "log-grows",
        SURVIVES,
        "What does a compaction do to the log on disk?",
        ("It adds to it", "It makes it shorter"),
        session.log_after_pass,
        "The log is append-only: a pass appends an event that says how to show what is there.",
        "undo",
    ),
)

BANK = {question.id: question for question in (*GRAPH_QUESTIONS, *SESSION_QUESTIONS)}
