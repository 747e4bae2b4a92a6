"""The picture of the terminal in the README, drawn from the real program: `python -m tests.e2e.picture [FILE]`."""

import io
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from rich.console import Console
from rich.text import Text

from outlive.testing import Simulator, call, say
from outlive.testing.simulator import Step
from tests.e2e.terminal import window
from tests.engines import ROOT

COLUMNS, ROWS = 100, 42
CODE = "def total(prices):\n    return sum(prices) / len(prices)\n"
TEST = "from shop import total\n\n\ndef test_total():\n    assert total([2, 3]) == 5\n"
SCRIPT: list[Step] = [
    call("bash", command="pytest -q --no-header --tb=no"),
    call("read_file", path="shop.py"),
    call("edit_file", path="shop.py", old_text="sum(prices) / len(prices)", new_text="sum(prices)"),
    call("bash", command="pytest -q --no-header"),
    say("`total` divided by the number of prices. It adds them up now, and **the test passes**."),
]


def main(target: Path) -> None:
    folder = Path(tempfile.mkdtemp()) / "shop"
    folder.mkdir()
    subprocess.run(["git", "init", "--quiet", str(folder)], check=True)  # so that caches are ignored
    (folder / "shop.py").write_text(CODE)
    (folder / "test_shop.py").write_text(TEST)
    prompt = "fix the failing test in @test_shop.py"
    with Simulator(SCRIPT) as sim, window(sim, folder, "--allow", "bash(pytest*)", prompt) as shown:
        shown.tmux("resize-window", "-t", "main", "-x", str(COLUMNS), "-y", str(ROWS))
        shown.until("y yes")
        time.sleep(1.5)  # a question takes no key at first
        shown.keys("y")
        shown.until("adds them up")
        shown.type("/rewind")
        shown.until("1 of 1")
        screen = shown.screen("-e")
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), color_system="truecolor", force_terminal=True)
    console.print(Text.from_ansi(screen.strip("\n")), soft_wrap=True)
    console.save_svg(str(target), title="outlive", unique_id="outlive")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "terminal.svg")
