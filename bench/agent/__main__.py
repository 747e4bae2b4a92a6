"""What the harness costs: a turn, a prompt, a resume, a start.

python -m bench.agent                  all of it, each part in a process of its own
python -m bench.agent --only stack     one part: bare, stack, resume, wire, cold, terminal, outlast
"""

import argparse
import subprocess
import sys
from importlib import import_module

PARTS = ("bare", "stack", "resume", "wire", "cold", "terminal", "outlast")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=PARTS)
    parser.add_argument("--turns", type=int, default=2000)
    options = parser.parse_args()
    if options.only:
        import_module(f"bench.agent.{options.only}").measure(options.turns)
        return
    for part in PARTS:
        command = [sys.executable, "-m", "bench.agent", "--only", part, "--turns", str(options.turns)]
        subprocess.run(command, check=True)


if __name__ == "__main__":
    main()
