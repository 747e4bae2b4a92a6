"""The simulator as a process of its own: `python -m outlive.testing.simulator --brain my.module:function`.

Prints the environment for clients, serves until it is interrupted, and reports what it saw. With a script it exits
with 1 unless the script was played to its end.
"""

import argparse
import signal
import sys
import threading
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

import msgspec

from outlive.testing.simulator.seen import SeenRequest
from outlive.testing.simulator.simulator import BINDINGS, ENFORCED, Brain, Simulator
from outlive.testing.simulator.steps import Step, read_steps, say


def echo(request: SeenRequest) -> Step:
    """The default brain: repeat the user's last words."""
    words = request.user_words()
    return say(f"You said: {words[-1]}" if words else "You said nothing.")


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until SIGINT or SIGTERM."""
    given = _parser().parse_args(arguments)
    try:
        script = read_steps(msgspec.json.decode(Path(given.script).read_bytes())) if given.script else None
        brain = _brain(given.brain) if given.brain else None
    except (OSError, ValueError, ImportError, AttributeError) as error:
        print(f"simulator: {error}", file=sys.stderr)
        return 2
    over = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: over.set())
    thinking = brain or (None if script is not None else echo)
    key = None if given.any_key else given.key
    served = Simulator(script, thinking, window=given.window, key=key, port=given.port, binding=given.binding)
    with served as simulator:
        for name, value in simulator.env().items():
            print(f"export {name}={value}", flush=True)
        over.wait()
    return _report(simulator)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m outlive.testing.simulator", description="A strict API simulator.")
    source = parser.add_mutually_exclusive_group()
    source.add_argument("--brain", metavar="MODULE:FUNCTION", help="decides each answer from the request")
    source.add_argument("--script", metavar="FILE", help='JSON: [[{"say": "…"}, {"call": "bash", "input": {…}}], …]')
    parser.add_argument("--port", type=int, default=0, help="where to listen (a free port)")
    parser.add_argument("--window", type=int, default=200_000, help="tokens that a prompt may have (200000)")
    parser.add_argument("--key", default="test-key", help="the API key that is accepted (test-key)")
    parser.add_argument("--any-key", action="store_true", help="accept any key or none, as local servers do")
    shown = "thinking that fails the binding check is refused, or only reported (enforced)"
    parser.add_argument("--binding", choices=BINDINGS, default=ENFORCED, help=shown)
    return parser


def _brain(where: str) -> Brain:
    module, _, name = where.partition(":")
    if not name:
        raise ValueError(f"--brain {where}: write it as module:function")
    sys.path.insert(0, "")
    brain: Brain = getattr(import_module(module), name)
    return brain


def _report(simulator: Simulator) -> int:
    print(f"{len(simulator.requests)} requests, {len(simulator.refusals)} refused", file=sys.stderr)
    for refusal in simulator.refusals:
        print(f"  {refusal.status} {refusal.path}: {refusal.message}", file=sys.stderr)
    try:
        simulator.verify()
    except AssertionError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
