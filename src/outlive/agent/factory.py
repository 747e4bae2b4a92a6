"""Builds agents: combines settings, stores, model, tools and permissions."""

import os
import platform
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack, suppress
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, cast, get_args, get_type_hints

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import asdict

from outlive.agent.commands.orphans import OrphanChoice, orphans_of
from outlive.agent.context_window import ContextWindow, context_window, keep_window
from outlive.agent.log.session_log import SessionOptions
from outlive.agent.memory.consolidation_scheduler import Consolidation
from outlive.agent.memory.session_memory import Extraction, SessionMemory
from outlive.agent.parts import AgentParts, Summaries
from outlive.agent.policies import policy_named, without_cold_passes
from outlive.agent.prompt import system_prompt
from outlive.agent.runtime import Runtime
from outlive.agent.session import Session
from outlive.agent.spending import Spending
from outlive.agent.subagents import Subagents
from outlive.agent.toolset import is_lean, toolset
from outlive.config import Workspace, default_owner, home
from outlive.config.dotenv import DotEnv
from outlive.config.home import project_folder
from outlive.config.keyring_keys import keys_from_keyring
from outlive.config.mcp_servers import configured_servers, untrusted_notice
from outlive.config.settings import MIN_WINDOW
from outlive.context.engine import Engine
from outlive.errors import ConfigError
from outlive.events import Event
from outlive.limits import Limit, run_limits
from outlive.memory.memories import Memories
from outlive.messages import call_file, is_writing
from outlive.models.effort import VARIABLE as EFFORT
from outlive.models.effort import split_effort
from outlive.models.errors import ModelNotSetUp
from outlive.models.local_servers import ServedModel
from outlive.models.protocol import Model, Price, Usage, found_at
from outlive.models.resolve import offered, resolve
from outlive.regular import real_path
from outlive.secrets import Masker
from outlive.stores import Stores, open_stores
from outlive.stores.logs.protocol import UnknownSession
from outlive.tasks.graph import TaskGraph
from outlive.tools.builtin.memory import MEMORIES_KEY
from outlive.tools.builtin.task_context import catch_up
from outlive.tools.builtin.web_fetch import HOSTS_KEY
from outlive.tools.changes.recorder import ChangeRecorder
from outlive.tools.changes.snapshot import Snapshots
from outlive.tools.custom_commands import CustomCommands
from outlive.tools.files.atomic_edit import sweep
from outlive.tools.hooks import CommandHooks
from outlive.tools.instructions import Instructions
from outlive.tools.mcp.servers import McpServers
from outlive.tools.mcp.tools import mcp_tools
from outlive.tools.permissions.added_folders import added_folders, remember_folder
from outlive.tools.permissions.asking import Asker, PermissionMode
from outlive.tools.permissions.fence import Fence, protected_paths
from outlive.tools.permissions.gate import Permissions
from outlive.tools.permissions.modes import NARROW, opened_here, remember_mode, resumed_mode
from outlive.tools.permissions.sandbox import Sandbox
from outlive.tools.permissions.trust import Settings, remember, settings
from outlive.tools.protocol import Tool
from outlive.tools.skills import Skills


class AgentOptions(Struct, frozen=True, kw_only=True):
    """Options that override the settings; None or empty means as in the settings."""

    model: str | None = None
    fallback: str | None = None
    mode: PermissionMode | None = None
    window: Annotated[int, Meta(ge=MIN_WINDOW)] | None = None
    policy: str | None = None
    summary: Summaries | None = None
    """Who writes the summary of a pass, and when."""
    cold_pass: bool | None = None
    """Whether a pass is made because the provider's cache has expired."""
    allow: Sequence[str] = ()
    deny: Sequence[str] = ()
    add_dirs: Sequence[str] = ()
    sandbox: bool | None = None
    network: bool = False
    tools: str | None = None
    """`all`, `lean`, or the names of tools with commas between them; by default what fits the window."""
    max_turns: Annotated[int, Meta(ge=1)] | None = None
    default_turns: Annotated[int, Meta(ge=1)] | None = None
    """Requests of one run at most if neither an option nor a setting says so."""
    max_cost: Annotated[float, Meta(ge=0)] | None = None
    max_tokens: Annotated[int, Meta(ge=1)] | None = None
    max_time: Annotated[float, Meta(ge=0)] | None = None
    orphans: OrphanChoice | None = None
    """What happens to commands that still run when a session is resumed."""


class AgentFactory:
    """Opens the agents of a workspace, one session at a time."""

    def __init__(
        self,
        workspace: Workspace,
        options: AgentOptions | None = None,
        *,
        model: Model | None = None,
        tools: Iterable[Tool[Any]] = (),
        stores: Stores | None = None,
    ) -> None:
        """`stores` are those of the workspace, opened by somebody else who closes them."""
        self.workspace = workspace
        self.options = options = _checked(options or AgentOptions())
        self.settings: Settings = settings(workspace)
        self._context = workspace.context_settings()
        self.dotenv = DotEnv(workspace)
        self._mcp = [server for server in configured_servers(workspace) if server.counts]
        tokens = {name: value for server in self._mcp for name, value in server.secrets().items()}
        self._secrets = {**self.dotenv.secrets, **tokens, **os.environ}
        self.masker = Masker(self._secrets)
        self.keyring: tuple[str, ...] = ()
        """The keys that came from the system's keyring."""
        self._model = model
        self._tools = tuple(tools)
        self._notices: list[str] = []
        add = [*self.settings.agent.get("add_dirs", ()), *options.add_dirs]
        self._extra = [_folder(workspace.root, name) for name in add]
        with ExitStack() as undo:
            self.logs = (stores or open_stores(**workspace.store)).logs
            if stores is None:
                undo.callback(self.logs.close)
            self.graph = TaskGraph((stores or open_stores(**workspace.store)).tasks)
            undo.pop_all()
        self._owns_stores = stores is None

    def resolve_model(self, spec: str | None = None) -> Model:
        """Resolve a model by name, with the fallback of the settings. It may end with an effort: `NAME high`."""
        spec, effort = split_effort(spec or "")
        wanted = spec or self.options.model or self.settings.agent.get("model")
        fallback = self.options.fallback or self.settings.agent.get("fallback")
        environment = self.environment(effort)
        try:
            try:
                return resolve(wanted, environment=environment, fallback=fallback)
            except ModelNotSetUp:
                if not (keys := keys_from_keyring(environment, os.environ)):
                    raise
            self.keyring = tuple(keys)
            self.masker = Masker({**self._secrets, **keys})
            return resolve(wanted, environment=environment | keys, fallback=fallback)
        except ModelNotSetUp as error:
            hint = "\n".join(filter(None, [error.hint, self.dotenv.notice()]))
            raise ModelNotSetUp(error.message, hint=hint, code=error.code, **error.data) from None

    def named_models(self) -> list[str]:
        """The models that the options and the settings name."""
        agent = self.settings.agent
        named = (self.options.model, agent.get("model"), agent.get("fallback"))
        return [str(name) for name in named if name]

    def offered_model(self) -> ServedModel | None:
        """A model of a local server that may be used if the user agrees, because none is set up."""
        return offered(self.options.model or self.settings.agent.get("model"), self.environment())

    def environment(self, effort: str = "") -> dict[str, str]:
        """The variables that decide about models and their providers."""
        thinking = self.settings.agent.get("thinking")
        wanted = {"OUTLIVE_THINKING": thinking} if thinking else {}
        return self.dotenv.environment() | wanted | ({EFFORT: effort} if effort else {})

    def open(
        self, session: str | None = None, *, asker: Asker | None = None, take_over: bool = False, begin: str = ""
    ) -> Runtime:
        """Open an agent in a new session, which may get the id `begin`, or in the session with that id; `take_over`
        fences out who has it open."""
        self.settings.rules(self.options.allow, self.options.deny)  # a wrong one is refused before there is a session
        with ExitStack() as undo:
            memories = self._memories()
            undo.callback(memories.close)
            model = self._model or self.resolve_model()
            opened = self._resume(session, model, take_over=take_over) if session else self._start(model, begin)
            undo.callback(opened.close)
            orphans = orphans_of(opened.id, opened.started, self.logs) if session else []
            interrupted = any(call.name.startswith("task_") for call in opened.engine.history.waiting)
            started = tuple(opened.started.unanswered)
            opened.settle(but={orphan.call for orphan in orphans})
            agent = self._agent(opened, model, memories, asker)
            catch_up(agent.context, interrupted=interrupted)
            agent.orphans, agent.orphan_choice = tuple(orphans), self.options.orphans
            agent.interrupted_calls = started
            if notice := _cold(opened.engine, model.price, passes=self._cold_pass):
                agent.notices.append(notice)
            agent.notices += [
                f"still running from before: {orphan.text} (process group {orphan.pid})" for orphan in orphans
            ]
            undo.pop_all()
            return agent

    # -- the session

    def _start(self, model: Model, id: str = "") -> Session:
        root = str(self.workspace.root)
        session = Session.start(self.logs, id=id, model=model.name, folder=root, **self._session_options(model))
        keep_window(session, model)
        return session

    def _resume(self, id: str, model: Model, *, take_over: bool = False) -> Session:
        options = self._session_options(model)
        session = Session.resume(
            self.logs,
            id,
            take_over=take_over,
            window_of=lambda events: self.context_window(model, events).tokens,
            **options,
        )
        keep_window(session, model)
        for call in filter(is_writing, session.engine.history.waiting):
            sweep(self._fence(), call_file(call))
        return session

    def _session_options(self, model: Model) -> SessionOptions:
        context = self._context
        window = self.context_window(model).tokens
        policy = policy_named(self.options.policy or str(context.get("policy", "rich")), context["policies"])
        if not self._cold_pass:
            policy = without_cold_passes(policy)
        return {"window": window, "policy": policy, "mask": self.masker}

    @property
    def _cold_pass(self) -> bool:
        chosen = self.options.cold_pass
        return bool(self._context.get("cold_pass", True)) if chosen is None else chosen

    @property
    def _wanted_tools(self) -> str:
        return self.options.tools or str(self.settings.agent.get("tools", ""))

    def context_window(self, model: Model, events: Iterable[Event] = ()) -> ContextWindow:
        """Tokens of the window of a session, and where the number comes from."""
        return context_window(model, self.options.window, self._context, events)

    # -- its parts

    def _agent(self, session: Session, model: Model, memories: Memories, asker: Asker | None) -> Runtime:
        root, mine = self.workspace.root, home()
        self._notices = []
        rules = self.settings.rules(self.options.allow, self.options.deny)
        skills, instructions = Skills(root, mine), Instructions(root, mine)
        memory = self._session_memory(session, memories)
        fence = self._fence()
        agent: Runtime  # the gate asks for the mode of the agent that it guards
        gate = Permissions(lambda: agent.mode, rules, asker, lambda rule: remember(self.workspace.project, rule))
        mcp = McpServers(self._mcp, root, session.note, self.masker) if self._mcp else None
        more = [*self._tools, *(mcp_tools(mcp) if mcp else ())]
        parts = AgentParts(
            root=root,
            model=model,
            toolbox=toolset(self._wanted_tools, session.engine.window, rules, more, skills=bool(skills.found())),
            graph=self.graph,
            fence=fence,
            sandbox=self._sandbox(),
            skills=skills,
            gate=gate,
            hooks=CommandHooks(self.settings.hooks, root, session=session.id, mask=self.masker),
            system=self._system(session, skills, instructions, memory.index, mcp, fence),
            limits=self._limits,
            summaries=self.options.summary or cast(Summaries, self._context.get("summary", "asked")),
            chose_mode=lambda id, mode: self._remember_mode(agent, id, mode),
            owner=default_owner() or f"session {session.id}",
            added_folder=lambda id, folder: remember_folder(self.workspace.project, id, folder),
            commands=CustomCommands(root),
            mcp=mcp,
            changes=self._changes(session, fence),
            mask=self.masker,
        )
        agent = Runtime(session, parts, owns_model=model is not self._model)
        agent.memory = agent.context.extras[MEMORIES_KEY] = memory
        for name, digest in session.files_seen().items():
            agent.context.read_tracker.restore(real_path(root / name), digest)
        agent.context.extras[HOSTS_KEY] = rules.allowed_hosts()
        for folder in added_folders(self.workspace.project, self._line(session.id)):
            if folder.is_dir():
                agent.use_folder(folder)
            else:
                self._notice(session, f"the folder {folder}, which you added to this session, is gone")
        agent.context.rules_of = instructions.nested
        agent.context.subagent = Subagents(agent, lambda id: self._start(model, id))
        agent.set_mode(self.options.mode or self._mode(session))
        dotenv = "" if self._model else self.dotenv.notice()
        for notice in (self.settings.notice, dotenv, *untrusted_notice(self.workspace)):
            if notice:
                self._notice(session, notice)
        agent.window_origin = self.context_window(model, session.events).origin
        if server := found_at(model):
            self._notices.append(f"{model.name} is asked, which {server} has: it was found on this machine")
        agent.notices += self._notices
        return agent

    def _notice(self, session: Session, text: str) -> None:
        session.note(text)
        self._notices.append(session.masked(text))

    def _mode(self, session: Session) -> PermissionMode:
        """The mode of the settings for a new session; for an old one its own, if the user chose it."""
        if not session.state.mode:
            return cast(PermissionMode, self.settings.agent.get("mode", "ask"))
        mode = resumed_mode(self.workspace.project, self._line(session.id), session.state.mode)
        if mode != session.state.mode:
            notice = f"the log says permission mode {session.state.mode}, but nobody chose it here: it is {mode}"
            self._notice(session, notice)
        return mode

    def _changes(self, session: Session, fence: Fence) -> ChangeRecorder | None:
        if not self.settings.agent.get("checkpoints", True):
            return None
        snapshots = Snapshots(self.workspace.root, project_folder(self.workspace.root) / "files.db")
        return ChangeRecorder(fence, snapshots, session.log, self.logs, self.masker)

    def _fence(self) -> Fence:
        return Fence(self.workspace.root, self._extra, protect=protected_paths(self.workspace))

    def _sandbox(self) -> Sandbox:
        asked = self.options.sandbox
        on = bool(self.settings.agent.get("sandbox")) if asked is None else asked
        network = self.options.network or bool(self.settings.agent.get("network"))
        protected = protected_paths(self.workspace)
        sandbox = Sandbox(self.workspace.root, self._extra, on=on, network=network, protected=protected)
        if on and (problem := sandbox.problem()):
            raise ConfigError(
                f"there is no sandbox here: {problem}",
                hint="switch it off to run commands as they are",
                code="sandbox",
            )
        return sandbox

    def _memories(self) -> Memories:
        """Open the memories. The search index is loaded in parallel with the model's SDK, which takes longer."""
        memories = Memories.open(**self.workspace.store)
        if memories.all():
            from outlive.memory.retrieval.dense import prepare

            prepare()
        return memories

    def _session_memory(self, session: Session, memories: Memories) -> SessionMemory:
        memories.actor = f"session {session.id}"
        wanted = self.workspace.memory_settings()
        extraction = cast(Extraction, wanted.get("extract", "auto"))
        memory = SessionMemory(
            memories,
            session,
            self.logs,
            extraction,
            consolidation=cast(Consolidation, wanted.get("consolidate", "auto")),
            rerank=bool(wanted.get("rerank", False)),
            own=self._own,
        )
        if problem := memory.problem():
            self._notice(session, problem)
        if session.engine.history.units and not self._own(session.id):
            notice = "this session was not begun here: what its log says the user said is not remembered"
            self._notice(session, notice)
            memory.begin_here()
        return memory

    def _own(self, session: str) -> bool:
        """Whether the user worked in this session on this machine, or in one that it was forked from."""
        return opened_here(self.workspace.project, self._line(session))

    def _line(self, session: str) -> list[str]:
        """A session and its fork ancestors."""
        line = [session]
        with suppress(UnknownSession):
            while (older := self.logs.info(line[-1]).forked_from) and older not in line:
                line.append(older)
        return line

    def _system(
        self,
        session: Session,
        skills: Skills,
        instructions: Instructions,
        remembered: Callable[[], str],
        mcp: McpServers | None,
        fence: Fence,
    ) -> Callable[[], str]:
        began = datetime.fromtimestamp(session.began).date()

        def text() -> str:
            listed = skills.listing()
            more = ", ".join(map(str, fence.extra))
            return system_prompt(
                folder=self.workspace.root,
                day=began,
                platform=platform.platform(terse=True),
                git=(self.workspace.root / ".git").exists(),
                lean=is_lean(self._wanted_tools, session.engine.window),
                sections=[
                    f"Other folders that your tools may use: {more}" if more else "",
                    instructions.text(),
                    f"Skills (load_skill reads one)\n{listed}" if listed else "",
                    mcp.listing if mcp else "",
                    remembered(),
                ],
            )

        return text

    def _limits(self, spending: Spending) -> Sequence[Limit]:
        options, agent = self.options, self.settings.agent
        return run_limits(
            spending,
            turns=options.max_turns or agent.get("max_turns"),
            default_turns=options.default_turns,
            tokens=options.max_tokens or agent.get("max_tokens"),
            cost=agent.get("max_cost") if options.max_cost is None else options.max_cost,
            seconds=agent.get("max_time") if options.max_time is None else options.max_time,
        )

    def _remember_mode(self, agent: Runtime, session: str, mode: PermissionMode) -> None:
        """Apply the user's choice, even if it cannot be saved for later."""
        try:
            remember_mode(self.workspace.project, session, mode)
        except ConfigError as error:
            if mode in NARROW:  # it is believed anyway
                return
            text = f"{error}; mode {mode} holds until this session is closed"
            agent.session.note(text)
            agent.notices.append(text)

    def close(self) -> None:
        if self._owns_stores:
            self.logs.close()
            self.graph.store.close()


def _checked(options: AgentOptions) -> AgentOptions:
    """Return the options, each checked for type and bounds. Raises ConfigError that names what is accepted."""
    try:
        return msgspec.convert(asdict(options), AgentOptions)
    except msgspec.ValidationError as error:
        problem, _, name = str(error).partition(" - at `$.")
        name = name.partition("`")[0].partition("[")[0]
        value = getattr(options, name, None)
        choices = [choice for part in get_args(get_type_hints(AgentOptions)[name]) for choice in get_args(part)]
        takes = f"it is one of {', '.join(choices)}" if value and isinstance(value, str) and choices else problem
        raise ConfigError(f"{name} = {value!r}: {takes}") from None


def _cold(engine: Engine, price: Price | None, *, passes: bool) -> str:
    """What the next request costs as it is and after a pass, if the provider's cache has expired and a pass would
    save enough; else empty."""
    now = time.time()
    as_is, after = engine.used, engine.left_by_cold_pass
    if not engine.is_cold(now) or as_is - after < engine.budget.gain or (passes and engine.due(now) != "cold"):
        return ""

    def dollars(tokens: int) -> str:
        return f" (${price.of(Usage(cache_write=tokens)):.2f})" if price else ""

    if passes:
        saves = f"about {after:,} tokens{dollars(after)} instead of {as_is:,}{dollars(as_is)}"
        return f"the provider's cache has expired, so a pass comes before the next request: {saves} (--no-cold-pass)"
    costs = f"about {as_is:,} tokens{dollars(as_is)}, after a pass {after:,}{dollars(after)} (/compact makes one)"
    return f"the provider's cache has expired, so the next request is written to it whole: {costs}"


def _folder(root: Path, name: str) -> Path:
    path = real_path(root / Path(name).expanduser())
    if not path.is_dir():
        raise ConfigError(f"add_dirs: there is no such folder {name!r}", code="add_dirs")
    return path
