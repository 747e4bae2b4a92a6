"""Where the workspace is and which store it uses. The only module that reads our environment variables."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from outlive.errors import ConfigError
from outlive.regular import UnusableFile, read_regular

MARKERS = ("outlive.toml", ".tasks", ".transcripts", ".memory", ".git")
DEFAULT_STORE = "files:.tasks"
SECTIONS = ("store", "context", "agent", "permissions", "hooks", "memory")
SUMMARIES = ("asked", "always", "never")
SMALLEST_WINDOW = 1000
EXTRACTIONS = ("auto", "always", "never")
CONSOLIDATIONS = ("auto", "rules", "never")
LARGEST_FILE = 2**20
DURABILITIES = ("full", "process")
CREDENTIALS = {"ANTHROPIC": ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"), "OPENAI": ("OPENAI_API_KEY",)}
"""Which keys go to the address in `…_BASE_URL`."""
THIS_MACHINE = ("localhost", "127.0.0.1", "::1")
AGENT: Mapping[str, type] = {
    "model": str,
    "fallback": str,
    "mode": str,
    "thinking": str,
    "sandbox": bool,
    "network": bool,
    "add_dirs": list,
    "max_turns": int,
    "max_tokens": int,
}
"""The settings of [agent] and their kinds. What they may be is checked where they are used."""
HOOK_EVENTS = ("UserPromptSubmit", "PreToolUse", "PostToolUse", "PreCompact", "PostCompact", "Stop")


class Workspace:
    """The folder that outlive works in, found like git finds its root, and its settings."""

    def __init__(
        self,
        root: Path,
        *,
        store_url: str = DEFAULT_STORE,
        store_chosen: bool = False,
        durability: str = "full",
        context: Mapping[str, object] | None = None,
        agent: Mapping[str, object] | None = None,
        permissions: Mapping[str, Sequence[str]] | None = None,
        hooks: Mapping[str, Sequence[Mapping[str, object]]] | None = None,
        memory: Mapping[str, object] | None = None,
        digest: str = "",
    ) -> None:
        self.root = root
        self.agent = agent or {}
        self.permissions = permissions or {}
        self.hooks = hooks or {}
        """The sections [agent], [permissions] and [[hooks.EVENT]] as this file has them: whether they count is a
        question of trust (`tools/trust.py`), for the file may come from a stranger."""
        self.memory = memory or {}
        self.digest = digest
        """Of the very bytes that were read; empty without a file."""
        self.context = context or {}
        """The section [context] as it was written: policy, window, policies."""
        self.store_url = store_url
        self.store_chosen = store_chosen
        """Whether the user named the store; else it is the file's or the usual one."""
        self.durability = durability
        """`full`: acknowledged means on disk. `process`: survives the death of the process, not of the machine."""

    @classmethod
    def find(cls, start: Path | None = None, *, store: str | None = None) -> "Workspace":
        """Settings from `store`, else OUTLIVE_STORE, else `outlive.toml`, else the default."""
        return cls.read(_root(start or Path.cwd()), store=store)

    @classmethod
    def read(cls, root: Path, *, store: str | None = None) -> "Workspace":
        """The settings of this very folder; of the user's home, for example."""
        path = root / "outlive.toml"
        form, digest = _load(path)
        settings = _store(path, form)
        chosen = store or os.environ.get("OUTLIVE_STORE")
        return cls(
            root,
            store_url=chosen or settings.get("url", DEFAULT_STORE),
            store_chosen=bool(chosen),
            durability=settings.get("durability", "full"),
            context=_context(path, form),
            agent=_agent(path, form),
            permissions=_permissions(path, form),
            hooks=_hooks(path, form),
            memory=_memory(path, form),
            digest=digest,
        )


def home() -> Path:
    """Where the user's own settings are, for all projects: OUTLIVE_HOME, else `~/.outlive`."""
    return Path(os.environ.get("OUTLIVE_HOME") or "~/.outlive").expanduser()


def environment(root: Path) -> dict[str, str]:
    """The variables of the process, and below them those of `.env` in the workspace. Nothing is exported.

    A folder may come from anywhere, so its `.env` must not lead a key of the user to an address of its own: a key
    that is not in the same file is withheld from a server on this machine, and any other address is refused.
    """
    ours = {name: value for name, value in os.environ.items() if value}
    path = root / ".env"
    theirs = _dotenv(path)
    found = {**theirs, **ours}
    for provider, keys in CREDENTIALS.items():
        address = f"{provider}_BASE_URL"
        if address not in theirs or address in ours:
            continue
        exported = [key for key in keys if key in ours]
        if exported and not any(key in theirs for key in keys):
            _keep_apart(path, address, theirs[address], exported[0])
        for key in exported:
            del found[key]
        found |= {key: theirs[key] for key in keys if key in theirs}
    return found


def addresses(root: Path) -> list[str]:
    """Servers elsewhere that the `.env` of the workspace leads a model's requests to, and the user does not."""
    theirs = _dotenv(root / ".env")
    named = [(f"{provider}_BASE_URL", theirs.get(f"{provider}_BASE_URL")) for provider in CREDENTIALS]
    return [url for name, url in named if url and not os.environ.get(name) and _host(url) not in THIS_MACHINE]


def default_owner() -> str | None:
    return os.environ.get("OUTLIVE_OWNER") or None


def default_actor() -> str | None:
    return os.environ.get("OUTLIVE_ACTOR") or None


def _dotenv(path: Path) -> dict[str, str]:
    """What a `.env` file says. Its values are secrets: they appear in no message."""
    raw = None if path.is_dir() else _read(path)  # some keep a virtual environment under that name
    if raw is None:
        return {}
    from io import StringIO

    from dotenv import dotenv_values

    try:
        found = dotenv_values(stream=StringIO(raw.decode("utf-8")), interpolate=False)
    except UnicodeDecodeError:
        raise ConfigError(f"{path}: is not UTF-8 text") from None
    return {name: value for name, value in found.items() if value}


def _keep_apart(path: Path, address: str, url: str, key: str) -> None:
    """Refuse an address that is not on this machine, when the key for it is the user's own."""
    if _host(url) not in THIS_MACHINE:
        raise ConfigError(
            f"{path}: {address} would be sent the {key} of your environment; "
            f"put the key for it beside it, or export {address} yourself"
        )


def _host(url: str) -> str | None:
    from urllib.parse import urlsplit

    try:
        return urlsplit(url).hostname
    except ValueError:
        return None


def _root(start: Path) -> Path:
    """The nearest folder upwards that is marked as one, else `start`."""
    start = start.resolve()
    marked = (folder for folder in (start, *start.parents) if any(_is_mark(folder / mark) for mark in MARKERS))
    return next(marked, start)


def _is_mark(path: Path) -> bool:
    return path.exists() and not (path.name == "outlive.toml" and _is_placeholder(path))


def _is_placeholder(path: Path) -> bool:
    """An empty folder has the name of a file that is missing while a sandboxed command runs, so that it cannot be
    created (tools/sandbox_protection.py)."""
    return path.is_dir() and not path.is_symlink() and not any(path.iterdir())


def _load(path: Path) -> tuple[dict[str, object], str]:
    """What `outlive.toml` says, by section, and the digest of its bytes."""
    raw = None if _is_placeholder(path) else _read(path)
    if raw is None:
        return {}, ""
    import tomllib
    from hashlib import sha256

    try:
        form = tomllib.loads(raw.decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: {error}") from None
    for name, section in form.items():
        if name not in SECTIONS or not isinstance(section, dict):
            sections = ", ".join(f"[{known}]" for known in SECTIONS)
            raise ConfigError(f"{path}: {name!r} is not a section; the sections are: {sections}")
    return form, sha256(raw).hexdigest()


def _read(path: Path) -> bytes | None:
    """A file of settings, None if there is none. A link counts only in the user's own folder."""
    try:
        return read_regular(path, LARGEST_FILE, follow=path.parent == home())
    except FileNotFoundError:
        return None
    except UnusableFile as error:
        raise ConfigError(str(error)) from None
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read ({error.strerror})") from None


def _context(path: Path, form: Mapping[str, object]) -> Mapping[str, object]:
    """The settings of the context engine; the numbers of a policy are checked where policies are known."""
    context = form.get("context", {})
    assert isinstance(context, dict)  # noqa: S101 - `_load` lets nothing else through
    kinds = {"policy": str, "window": int, "policies": dict, "summary": str}
    for key, value in context.items():
        if key not in kinds or not isinstance(value, kinds[key]):
            raise ConfigError(f"{path}: [context] {key} = {value!r} is not a setting; it takes {', '.join(kinds)}")
    window = context.get("window", SMALLEST_WINDOW)
    if isinstance(window, bool) or window < SMALLEST_WINDOW:
        raise ConfigError(f"{path}: [context] window = {window!r}; it is tokens, from {SMALLEST_WINDOW:,} up")
    if context.get("summary", SUMMARIES[0]) not in SUMMARIES:
        raise ConfigError(f"{path}: [context] summary = {context['summary']!r}; it is one of {', '.join(SUMMARIES)}")
    return context


def _store(path: Path, form: Mapping[str, object]) -> dict[str, str]:
    """The settings of the store, checked."""
    store = form.get("store", {})
    assert isinstance(store, dict)  # noqa: S101 - `_load` lets nothing else through
    for key, value in store.items():
        if key not in ("url", "durability") or not isinstance(value, str):
            raise ConfigError(f"{path}: [store] {key} = {value!r} is not a setting; it takes url and durability")
    if store.get("durability", "full") not in DURABILITIES:
        raise ConfigError(f"{path}: durability must be one of {', '.join(DURABILITIES)}, not {store['durability']!r}")
    return store


def _agent(path: Path, form: Mapping[str, object]) -> Mapping[str, object]:
    """The settings of the agent, each of its kind."""
    agent = form.get("agent", {})
    assert isinstance(agent, dict)  # noqa: S101 - `_load` lets nothing else through
    for key, value in agent.items():
        if key not in AGENT or type(value) is not AGENT[key]:
            kinds = ", ".join(f"{name} ({kind.__name__})" for name, kind in AGENT.items())
            raise ConfigError(f"{path}: [agent] {key} = {value!r} is not a setting; it takes {kinds}")
    if not _all_text(agent.get("add_dirs", [])):
        raise ConfigError(f"{path}: [agent] add_dirs must be a list of folders")
    return agent


def _permissions(path: Path, form: Mapping[str, object]) -> Mapping[str, Sequence[str]]:
    """Lists of rules; what a rule is is known where they are used."""
    permissions = form.get("permissions", {})
    assert isinstance(permissions, dict)  # noqa: S101 - `_load` lets nothing else through
    for key, value in permissions.items():
        if key not in ("allow", "deny") or not _all_text(value):
            raise ConfigError(
                f"{path}: [permissions] {key} = {value!r} is not a setting; it takes allow and deny, lists"
            )
    return permissions


def _hooks(path: Path, form: Mapping[str, object]) -> Mapping[str, Sequence[Mapping[str, object]]]:
    """The user's commands by event: `command`, and perhaps `matcher` and `timeout`."""
    hooks = form.get("hooks", {})
    assert isinstance(hooks, dict)  # noqa: S101 - `_load` lets nothing else through
    kinds: Mapping[str, tuple[type, ...]] = {"command": (str,), "matcher": (str,), "timeout": (int, float)}
    for event, entries in hooks.items():
        if event not in HOOK_EVENTS or not isinstance(entries, list):
            raise ConfigError(f"{path}: [[hooks.{event}]] is not a hook; the events are: {', '.join(HOOK_EVENTS)}")
        for entry in entries:
            wrong = not isinstance(entry, dict) or any(type(v) not in kinds.get(k, ()) for k, v in entry.items())
            if wrong or not entry.get("command"):
                raise ConfigError(
                    f"{path}: [[hooks.{event}]] {entry!r} is not a hook; it takes command, matcher?, timeout?"
                )
    return hooks


def _memory(path: Path, form: Mapping[str, object]) -> Mapping[str, object]:
    """When a model looks for what was learned and brings it into order, and whether it has a second look at what was
    found."""
    memory = form.get("memory", {})
    assert isinstance(memory, dict)  # noqa: S101 - `_load` lets nothing else through
    choices: Mapping[str, tuple[str, ...]] = {"extract": EXTRACTIONS, "consolidate": CONSOLIDATIONS}
    for key, value in memory.items():
        if value not in choices.get(key, ()) and not (key == "rerank" and isinstance(value, bool)):
            words = (f"{name} ({', '.join(choice)})" for name, choice in choices.items())
            takes = f"{', '.join(words)} and rerank (true, false)"
            raise ConfigError(f"{path}: [memory] {key} = {value!r} is not a setting; it takes {takes}")
    return memory


def _all_text(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)
