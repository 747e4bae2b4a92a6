"""The stages of a cold start, timed in a process of its own: `python stages.py MODEL` prints them as JSON.

The imports are part of what is measured, so they happen one after the other inside of the function.
"""

import json
import sys
import time


def main(model: str) -> None:
    marks = [("python", time.monotonic())]

    def mark(name: str) -> None:
        marks.append((name, time.monotonic()))

    import outlive.cli.app

    mark("click and the options")
    import outlive.cli.agent.headless
    import outlive.cli.agent.start  # noqa: F401  loading it is what is timed

    mark("our modules")
    from outlive.agent.factory import AgentFactory, AgentOptions
    from outlive.config import Workspace

    agent = AgentFactory(Workspace.find(), AgentOptions(model=model)).open()
    mark("session")
    import asyncio

    asyncio.run(agent.ask("hello"))
    print(json.dumps(marks))


if __name__ == "__main__":
    main(sys.argv[1])
