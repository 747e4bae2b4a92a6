"""`python -m bench.memory`: evidence recall, the gate, the speed of retrieval and of whole operations, as tables."""

import argparse
import sys
import tempfile
from pathlib import Path

from bench.memory import gate, operations, recall, speed
from bench.memory.locomo import DATA, load
from bench.postgres import postgres
from outlive.memory.retrieval.dense import missing


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.memory", description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA, help="a LoCoMo file")
    parser.add_argument("--size", type=int, default=10_000, help="memories for the speed part (default 10,000)")
    parser.add_argument("--only", choices=["recall", "gate", "speed", "operations"], help="one of the four parts")
    options = parser.parse_args()
    ways = {"ours": False}
    if missing():
        print("the extra dense is not installed: measured without it", file=sys.stderr)
    else:
        ways["ours, with dense"] = True
    with tempfile.TemporaryDirectory(prefix="outlive-bench-") as name:
        folder = Path(name)
        if options.only in (None, "recall", "gate"):
            conversations = load(options.data)
            if options.only in (None, "recall"):
                recall.measure(conversations, ways, folder / "locomo")
            if options.only in (None, "gate"):
                gate.measure(conversations, ways, folder / "locomo")
        if options.only in (None, "speed"):
            speed.measure(ways, options.size, folder)
        if options.only in (None, "operations"):
            with postgres() as server:
                operations.measure(server, options.size, folder, dense=len(ways) > 1)


if __name__ == "__main__":
    main()
