"""A key from the system's keyring, at a real terminal. The keyring is a backend of the package, without a desktop."""

from pathlib import Path

from outlive.testing import Simulator, say
from tests.cli.chat.test_terminal import pytestmark as needs_tmux
from tests.e2e.terminal import window

pytestmark = needs_tmux
BACKEND = """
from keyring.backend import KeyringBackend

class Ring(KeyringBackend):
    priority = 1
    def get_password(self, service, username):
        return "test-key" if (service, username) == ("outlive", "ANTHROPIC_API_KEY") else None
    def set_password(self, service, username, password): ...
    def delete_password(self, service, username): ...
"""


def test_a_session_runs_with_a_key_that_only_the_keyring_has(folder: Path) -> None:
    tools = folder.parent / "tools"
    tools.mkdir()
    (tools / "ring.py").write_text(BACKEND)
    nothing = {"ANTHROPIC_API_KEY": "", "OPENAI_API_KEY": "", "OPENAI_BASE_URL": "", "MODEL_ID": ""}
    ring = {"PYTHON_KEYRING_BACKEND": "ring.Ring", "PYTHONPATH": str(tools)}
    with Simulator([say("I hear you.")]) as sim, window(sim, folder, **nothing, **ring) as shown:
        shown.type("Hello?")
        shown.until("I hear you.")
    (log,) = (folder / ".transcripts").glob("*.jsonl")
    assert "test-key" not in log.read_text()
