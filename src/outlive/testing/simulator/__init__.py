"""A strict simulator of the APIs of Anthropic and OpenAI: a real HTTP server on loopback, for tests and demos.

with Simulator(script=[call("bash", command="ls"), say("Done.")]) as sim:
    client = anthropic.Anthropic(base_url=sim.url, api_key="test-key")
    …
sim.verify()
"""

from outlive.testing.simulator.faults import Fault
from outlive.testing.simulator.models import SimulatedModel
from outlive.testing.simulator.schedule import Faults
from outlive.testing.simulator.seen import ReportedUsage, SeenCall, SeenRequest, SeenResult
from outlive.testing.simulator.simulator import Brain, Simulator
from outlive.testing.simulator.steps import Call, Say, Step, Think, call, calls, say, think
from outlive.testing.simulator.verdict import Refusal

__all__ = [
    "Brain",
    "Call",
    "Fault",
    "Faults",
    "Refusal",
    "ReportedUsage",
    "Say",
    "SeenCall",
    "SeenRequest",
    "SeenResult",
    "SimulatedModel",
    "Simulator",
    "Step",
    "Think",
    "call",
    "calls",
    "say",
    "think",
]
