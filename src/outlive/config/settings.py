"""Every plain setting of `outlive.toml`, as data: `sections.py` checks files by it, `outlive config` shows it."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

MIN_WINDOW = 1000  # not even the state block fits into less
MODE_CHOICES = ("ask", "accept-edits", "plan", "bypass")
KEYS_CHOICES = ("emacs", "vim")
THEME_CHOICES = ("terminal", "dark", "light", "none")
NOTIFY_CHOICES = ("off", "bell", "desktop")
STATUS_PARTS = ("model", "window", "bar", "next_pass", "cost", "tasks", "mode", "session", "folder", "branch")
DEFAULT_STATUS = STATUS_PARTS[:8]
SUMMARY_CHOICES = ("asked", "always", "never", "provider")
KINDS = {str: "text", int: "number", float: "number", bool: "true | false", list: "list of texts", dict: "table"}


class Setting(NamedTuple):
    """One key of a section."""

    section: str
    key: str
    kind: type
    about: str
    default: Any = None
    """None: nothing is set, and `about` says what happens then."""
    choices: tuple[str, ...] = ()
    minimum: float | None = None
    option: str = ""
    """The command-line option that wins over the files."""
    variable: str = ""
    """An environment variable for the same thing."""
    variable_wins: bool = False
    """Whether the variable wins over the files, or counts only if no file has the key."""

    @property
    def name(self) -> str:
        return f"{self.section}.{self.key}"

    @property
    def takes(self) -> str:
        """What a value looks like."""
        if self.choices:
            return ("list of " if self.kind is list else "") + " | ".join(self.choices)
        return KINDS[self.kind] + (f", at least {self.minimum:g}" if self.minimum is not None else "")

    def accepts(self, value: object) -> bool:
        if self.kind is list:
            choices = self.choices
            return isinstance(value, list) and all(
                isinstance(item, str) and (not choices or item in choices) for item in value
            )
        if self.kind is float and type(value) is int:
            value = float(value)
        if type(value) is not self.kind:
            return False
        if self.choices and value not in self.choices:
            return False
        return self.minimum is None or (isinstance(value, int | float) and value >= self.minimum)


SETTINGS = (
    Setting(
        *(
            "store",
            "url",
            str,
            "Where tasks, sessions and memories are: files:FOLDER, sqlite:///FILE or postgresql://…",
        ),
        default="files:.tasks",
        option="--store",
        variable="OUTLIVE_STORE",
        variable_wins=True,
    ),
    Setting(
        "store",
        "durability",
        str,
        "full: what was acknowledged survives a power cut; process: only a crash.",
        default="full",
        choices=("full", "process"),
    ),
    Setting(
        "agent",
        "model",
        str,
        "PROVIDER:NAME. Without one: by the key that is set, else a local server.",
        option="--model",
        variable="MODEL_ID",
    ),
    Setting(
        "agent",
        "fallback",
        str,
        "A second model for when the first does not answer.",
        option="--fallback-model",
        variable="OUTLIVE_FALLBACK",
    ),
    Setting(
        "agent",
        "thinking",
        str,
        "Extended thinking of Claude models: on, off, or a budget in tokens.",
        variable="OUTLIVE_THINKING",
    ),
    Setting(
        "agent",
        "mode",
        str,
        "What runs without asking.",
        default="ask",
        choices=MODE_CHOICES,
        option="--permission-mode",
    ),
    Setting("agent", "sandbox", bool, "Run commands in an OS sandbox.", default=False, option="--sandbox"),
    Setting("agent", "network", bool, "Let sandboxed commands use the network.", default=False, option="--network"),
    Setting("agent", "add_dirs", list, "More folders that tools may use.", default=[], option="--add-dir"),
    Setting(
        "agent",
        "tools",
        str,
        "all, lean (seven, with short descriptions), or names with commas. Without one: lean below 32,000 tokens.",
        option="--tools",
    ),
    Setting(
        "agent",
        "checkpoints",
        bool,
        "Keep what files held before a call changes them, so that a rewind can restore them.",
        default=True,
    ),
    Setting(
        "agent",
        "handover",
        bool,
        "Store the files of a session at the git remote after each batch of edits, so that --resume finds them on "
        "another machine with the same store.",
        default=False,
    ),
    Setting("agent", "max_turns", int, "Requests of one run at most.", minimum=1, option="--max-turns"),
    Setting("agent", "max_tokens", int, "Tokens of one run at most.", minimum=1, option="--max-tokens"),
    Setting("agent", "max_cost", float, "Dollars of one run at most.", minimum=0, option="--max-cost"),
    Setting("agent", "max_time", float, "Seconds of one run at most.", minimum=0, option="--max-time"),
    Setting(
        "context",
        "window",
        int,
        "Tokens of the context window. Without one: what the model has.",
        minimum=MIN_WINDOW,
        option="--context-window",
    ),
    Setting(
        *(
            "context",
            "policy",
            str,
            "When passes are made and what they keep: lean, medium, rich, max, or yours.",
        ),
        default="rich",
        option="--policy",
    ),
    Setting("context", "policies", dict, "Policies of your own, by name.", default={}),
    Setting(
        "context",
        "summary",
        str,
        "Whether a model writes the summary of a pass.",
        default="asked",
        choices=SUMMARY_CHOICES,
        option="--summary",
    ),
    Setting(
        "context",
        "cold_pass",
        bool,
        "When the provider's cache has expired, make a pass before the next request.",
        default=True,
        option="--cold-pass",
    ),
    Setting(
        "memory",
        "extract",
        str,
        "Whether a model looks for what is worth remembering after a run.",
        default="auto",
        choices=("auto", "always", "never"),
    ),
    Setting(
        "memory",
        "consolidate",
        str,
        "Whether memories are merged and retired from time to time.",
        default="auto",
        choices=("auto", "rules", "never"),
    ),
    Setting("memory", "rerank", bool, "Let the model choose among the memories that were found.", default=False),
    Setting("mcp", "defer", bool, "Show the tools of MCP servers only when they are searched for.", default=True),
    Setting(
        "terminal",
        "keys",
        str,
        "Keys of the input. In vim mode Esc goes to normal mode first and stops the agent from there.",
        default="emacs",
        choices=KEYS_CHOICES,
    ),
    Setting(
        "terminal",
        "theme",
        str,
        "Colours: the terminal's own, fixed ones for a dark or a light background, or none (as with NO_COLOR).",
        default="terminal",
        choices=THEME_CHOICES,
        option="--no-color",
    ),
    Setting(
        "terminal",
        "notify",
        str,
        "What tells you that the agent is done or needs you, while you look elsewhere.",
        default="bell",
        choices=NOTIFY_CHOICES,
    ),
    Setting("terminal", "title", bool, "Show in the title of the window what the agent does.", default=True),
    Setting(
        "terminal",
        "status",
        list,
        "The parts of the status line, in their order.",
        default=list(DEFAULT_STATUS),
        choices=STATUS_PARTS,
    ),
    Setting("terminal", "plain", bool, "Only lines of text, for screen readers.", default=False, option="--plain"),
    Setting("work", "slots", int, "Tasks that a worker works on at once.", default=1, minimum=1, option="--slots"),
    Setting("work", "labels", list, "A worker takes only tasks with all of these.", default=[], option="--label"),
    Setting(
        "work",
        "capabilities",
        list,
        "A worker takes only tasks all of whose labels are among these. Without it: any.",
        option="--capability",
    ),
    Setting(
        "work",
        "mode",
        str,
        "What a worker's agents do without asking; nobody can be asked.",
        default="accept-edits",
        choices=MODE_CHOICES,
        option="--permission-mode",
    ),
    Setting(
        "work", "checks", list, "Commands that have to pass before a task is done.", default=[], option="--check"
    ),
    Setting("work", "check_time", float, "Seconds of one check at most.", default=600.0, minimum=1),
    Setting(
        "work", "branch", str, "Where work lands. Without one: the branch that is checked out.", option="--branch"
    ),
    Setting(
        "work",
        "remote",
        str,
        "The git remote that machines share, or empty for none. Without one: that of the branch.",
        option="--remote",
    ),
    Setting("work", "worktrees", str, "The folder of the worktrees. Without one: ~/.outlive-worktrees/PROJECT."),
    Setting(
        "work", "rounds", int, "How often an agent mends failing checks within one attempt.", default=3, minimum=0
    ),
    Setting(
        "work", "attempts", int, "Attempts that may fail before a task waits for a person.", default=3, minimum=1
    ),
    Setting("work", "split", int, "Tasks that agents may make out of one task.", default=20, minimum=0),
    Setting(
        "work", "keys", dict, "How many tasks with the label key:NAME are worked on at once; 1 without.", default={}
    ),
    Setting("work", "lease", float, "Seconds after which a silent worker loses its tasks.", default=60.0, minimum=5),
    Setting(
        "work",
        "grace",
        float,
        "Seconds that running tasks get when a worker ends.",
        default=60.0,
        minimum=0,
        option="--grace",
    ),
    Setting("permissions", "allow", list, "Rules for calls that run without asking.", default=[], option="--allow"),
    Setting("permissions", "deny", list, "Rules for calls that never run.", default=[], option="--deny"),
)


def settings_of(section: str) -> Iterator[Setting]:
    return (setting for setting in SETTINGS if setting.section == section)


def place_of(key: str) -> str:
    """Where a key that is in the wrong place belongs; empty if no section has it."""
    sections = [f"[{setting.section}]" for setting in SETTINGS if setting.key == key]
    return f"{key} is a setting of {' and '.join(sections)}" if sections else ""


def problem_in(section: str, values: Mapping[str, Any], also: tuple[str, ...] = ()) -> str:
    """What is wrong with a section of a file, or nothing. `also`: keys that are checked elsewhere."""
    known = {setting.key: setting for setting in settings_of(section)}
    for key, value in values.items():
        setting = known.get(key)
        if setting is None and key not in also:
            rest = place_of(key) or f"it takes {', '.join([*known, *also])}"
            return f"[{section}] {key} = {value!r} is not a setting; {rest}"
        if setting is not None and not setting.accepts(value):
            return f"[{section}] {key} = {value!r}; it takes {setting.takes}"
    return ""
