"""The job: what the user asks for, what the repository holds, and the model that works through it."""

import random
import subprocess
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

from bench.clients.clients import Client
from outlive.testing import say, think
from outlive.testing.simulator import SeenRequest, Step

INSTRUCTIONS = (
    "Always write weights in kilograms, never in pounds.",
    "Never open the folder sealed/, it belongs to the customs office.",
    "Do not commit before Ilse Varga has seen the list.",
    "Name every owner with first and last name.",
    "When a seal is broken, stop and tell me at once.",
)
TASKS = (
    "Check every bay of the north hall",
    "Write the list of owners to owners.csv",
    "Compare the weights with the freight papers",
    "Draft the letter to the customs office",
)
DONE = TASKS[0]
"""The task that is completed half-way; the others stay open."""
EACH_PROMPT = 25
"""Turns between two prompts of the user."""
FIRST_ANSWER = 3.0
"""Seconds until the model answers a prompt, as real ones do; clients connect their MCP servers meanwhile."""
SUMMARY = (
    "<analysis>Some bays were seen.</analysis>\n<summary>The user wants the bays of a warehouse to be looked at, "
    "one after the other. Several were read with cat; no problems so far. Next: go on with the next file.</summary>"
)
"""What the model answers when it is asked for a summary: it says where the work is and loses what was asked for."""
LENGTHS = (60, 62, 113, 157, 242, 504, 992, 1862, 3371, 7489, 28_000)
"""Characters of tool results, every tenth of 11,046 results in 71 recorded sessions (mean 2,845). The last is lower
than recorded: clients cut the output of a command at 30,000."""
CRATE = 55
"""Characters of a line."""
SYLLABLES = "bren dar fal gim hol jor kel lum mor nev ost pra quil rus tam vex".split()


@dataclass
class Job:
    """The files of the repository and the facts in them, the same for the same seed."""

    turns: int
    seed: int = 1
    owners: list[str] = field(init=False)
    """The fact of each part: a name that is nowhere else."""

    def __post_init__(self) -> None:
        chance = random.Random(self.seed)
        self.owners = [f"{_name(chance)} {_name(chance)}" for _ in range(self.turns)]

    @property
    def prompts(self) -> list[str]:
        listed = "\n".join(f"{number}. {task}" for number, task in enumerate(TASKS, 1))
        asked = "Look at every bay of the warehouse: parts/001.txt and so on."
        first = f"{asked}\n{' '.join(INSTRUCTIONS)}\nThe tasks:\n{listed}"
        further = range(EACH_PROMPT + 1, self.turns + 1, EACH_PROMPT)
        return [first, *(f"Go on with the bays from {number:03d}." for number in further)]

    def write(self, repository: Path) -> None:
        """Make the git repository that the client works in."""
        chance = random.Random(self.seed + 1)
        (repository / "parts").mkdir(parents=True)
        for number, owner in enumerate(self.owners, 1):
            lines = [_crate(f"{number:03d}-{one:03d}", chance) for one in range(_length(chance) // CRATE)]
            lines.insert(chance.randrange(len(lines) + 1), f"bay {number:03d} is rented by {owner}")
            (repository / "parts" / f"{number:03d}.txt").write_text("\n".join(lines) + "\n")
        git = ["git", "-C", str(repository), "-c", "user.name=bench", "-c", "user.email=bench@example.org"]
        for arguments in (["init", "-q"], ["add", "."], ["commit", "-qm", "The bays"]):
            subprocess.run([*git, *arguments], check=True)


@dataclass
class Turn:
    """A request of the main conversation, and how many facts had been printed before it."""

    request: SeenRequest
    facts: int


class Worker:
    """The simulated model: records the tasks, reads one part a turn, and loses the thread in its summaries."""

    def __init__(self, job: Job, client: Client) -> None:
        self.turns: list[Turn] = []
        self._job, self._client = job, client
        self._read = 0
        self._steps = list(client.task_steps(TASKS))
        self._stops = 1
        self._fresh = True
        self._lock = threading.Lock()

    @property
    def done(self) -> bool:
        return self._read == self._job.turns and not self._steps

    def __call__(self, request: SeenRequest) -> Step:
        if self._fresh:
            self._fresh = False
            time.sleep(FIRST_ANSWER)
        with self._lock:
            if self._client.asks_for_summary(request):
                return say(SUMMARY)
            if self._client.shell not in request.tools:
                return say("Warehouse")
            self.turns.append(Turn(request, self._read))
            return think(f"Bay {self._read + 1} comes next, nothing else is open here.") + self._next()

    def _next(self) -> Step:
        if self._steps:
            return self._steps.pop(0)
        if self._read == min(self._stops * EACH_PROMPT, self._job.turns):
            self._stops += 1
            self._fresh = True
            return say(f"The bays up to {self._read:03d} are read.")
        self._read += 1
        if self._read == self._job.turns // 2:
            self._steps = list(self._client.task_steps(TASKS, done=DONE))
        return self._client.run(f"cat parts/{self._read:03d}.txt")


def _length(chance: random.Random) -> int:
    """Draw the length of a result from the distribution of recorded sessions."""
    part, rest = divmod(chance.random() * (len(LENGTHS) - 1), 1)
    low, high = LENGTHS[int(part)], LENGTHS[int(part) + 1]
    return int(low * (high / low) ** rest)


def _crate(label: str, chance: random.Random) -> str:
    return f"crate {label} checked, {chance.randrange(100, 999)} kg, seal intact, row {chance.randrange(1, 40)}"


def _name(chance: random.Random) -> str:
    return "".join(chance.choice(SYLLABLES) for _ in range(3)).capitalize()
