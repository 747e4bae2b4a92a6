"""Conversations to play at a real terminal: `python -m tests.cli.chat.scenes NAME FOLDER`."""

import os
import sys
import tomllib
from pathlib import Path

from outlive.cli.chat.picker.catalog import CatalogEntry
from outlive.messages import Text, Thinking, ToolCall
from outlive.models.errors import ModelNotSetUp
from outlive.models.protocol import Price, Reply
from outlive.testing import call, calls, say
from outlive.tools.protocol import Tool, ToolContext, ToolOutcome
from tests.cli.chat.stage import PlanInput, Scene, Stage, act

PROSE = """\
I looked at the **parser** and found two things.

## What is wrong

1. `parse_header` splits at the *first* colon only when there is no space.
2. The test expects `"a: b"` to give a value without the space.

```python
def parse_header(line: str) -> tuple[str, str]:
    \"\"\"Name and value.\"\"\"
    name, _, value = line.partition(":")
    return name.strip(), value.strip()
```

| case | before | after |
|---|---|---|
| `a:b` | fine | fine |
| `a: b` | `" b"` | `"b"` |

> Nothing else depends on it: see [the tracker](https://example.org/issues/7).

表示幅の広い文字 also fit. 🎉 Done.
"""
COLLECT = "for i in 1 2 3 4 5 6; do echo collecting $i; sleep 0.3; done; echo FAILED test_space; exit 1"
LONG_CODE = (
    "```python\n" + "".join(f"value_{n} = compute({n})  # line {n}\n" for n in range(1, 61)) + "```\n\nThat is all."
)


def work(root: Path) -> Stage:
    """A whole run: thinking, parallel calls, a failure, an edit, a plan, prose."""
    (root / "parser.py").write_text(
        "def parse_header(line):\n    name, _, value = line.partition(':')\n    return name, value\n"
    )
    stage = Stage(root, pause=0.02)
    task = stage.graph.create("Write the release notes")
    stage.graph.create("Publish", blocked_by=[task.id])
    stage.turns = [
        Reply(
            (
                Thinking("The user wants the failing test fixed. Let me look at the tests first."),
                Text("I will look at the tests first."),
                ToolCall("a", "bash", {"command": COLLECT}),
                ToolCall("b", "bash", {"command": "sleep 1.2; ls"}),
            ),
            stop="tools",
        ),
        calls(call("update_plan", steps=["Find the cause", "Fix the parser", "Run the tests"], current=2)),
        say("The value keeps its space.")
        + call(
            "edit_file",
            path="parser.py",
            old_text="    return name, value\n",
            new_text="    # a value has no spaces around it\n    return name.strip(), value.strip()\n",
        ),
        calls(call("bash", command="sleep 0.5; echo 12 passed")),
        say(PROSE),
        say("You are welcome."),
        say("Anything else?"),
    ]
    return stage


def asking(root: Path) -> Stage:
    """A command and an edit that need leave."""
    stage = work(root)
    stage.asks = True
    stage.previews = {
        "edit_file": "@@ parser.py @@\n-    return name, value\n+    return name.strip(), value.strip()"
    }
    stage.turns = [
        calls(call("bash", command="echo allowed > allowed.txt")),
        stage.turns[2],
        say("All done."),
        say("Good bye."),
    ]
    return stage


def slow(root: Path) -> Stage:
    """A tool that takes long, then words."""
    stage = Stage(root, pause=0.01)
    stage.turns = [calls(call("bash", command="echo started; sleep 30")), say("I heard you."), say("And again.")]
    return stage


def short(root: Path) -> Stage:
    """A short tool, then words twice: time to queue something."""
    stage = Stage(root, pause=0.01)
    stage.turns = [calls(call("bash", command="sleep 2; echo ready")), say("I heard both."), say("Third.")]
    return stage


def code(root: Path) -> Stage:
    """More code than fits on the screen."""
    stage = Stage(root, pause=0.01)
    stage.turns = [say(LONG_CODE), say("Yes.")]
    return stage


def rambling(root: Path) -> Stage:
    """Words for long enough to do something meanwhile."""
    stage = Stage(root, pause=0.01)
    stage.turns = [
        say("\n\n".join(f"Paragraph {n} " + "has a good number of words in it " * 5 for n in range(1, 15)))
    ]
    return stage


def quick(root: Path) -> Stage:
    """Two answers, the first with a command that fails."""
    stage = Stage(root)
    stage.turns = [calls(call("bash", command="echo 1; false")), say("First."), say("Second.")]
    return stage


def models(root: Path) -> Stage:
    """Models to choose from."""
    stage = quick(root)
    stage.catalog = [
        CatalogEntry("scripted:opus", "Tests", 300_000, Price(3.0, 3.75, 0.3, 15.0)),
        CatalogEntry("scripted:haiku", "Tests"),
    ]
    return stage


def failing(root: Path) -> Stage:
    """A model that is not there."""
    stage = Stage(root)
    stage.turns = [ModelNotSetUp("no such model")]
    return stage


def prose(root: Path) -> Stage:
    """An answer with everything that Markdown has."""
    stage = Stage(root)
    stage.turns = [say(PROSE)]
    return stage


def evil(root: Path) -> Stage:
    """A model and a tool that try to take over the terminal."""
    attack = "\x1b]0;owned\x07\x1b]2;owned\x1b\\\x1b]52;c;ZXZpbA==\x07\x1b[2J\x9b2J visible \u202e"
    stage = Stage(root)
    (root / "attack").write_text(attack)
    stage.turns = [say(attack) + call("bash", command="cat attack; false"), say("The end.")]
    return stage


class Noise(Tool[PlanInput]):
    """A tool that uses a library with bad manners."""

    name = "noise"
    description = "Print."
    input = PlanInput

    async def run(self, given: PlanInput, context: ToolContext) -> ToolOutcome:
        print("a library prints")
        print("\x1b[31mand warns", file=sys.stderr)
        return ToolOutcome("ok")


def noisy(root: Path) -> Stage:
    stage = Stage(root)
    stage.tools = [Noise()]
    stage.turns = [calls(call("noise", steps=[])), say("First.")]
    return stage


SCENES: dict[str, Scene] = {
    scene.__name__: scene
    for scene in (work, asking, slow, short, code, rambling, quick, models, failing, prose, evil, noisy)
}

if __name__ == "__main__":
    act(
        SCENES[sys.argv[1]](Path(sys.argv[2])),
        session=sys.argv[3] if len(sys.argv) > 3 else None,
        terminal=tomllib.loads(os.environ.get("SCENE_TERMINAL", "")),
    )
