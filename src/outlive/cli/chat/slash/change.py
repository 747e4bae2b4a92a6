"""Commands that change something: the conversation, its mode, its model, or which session is open."""

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import get_args

from rich.console import RenderableType
from rich.text import Text

from outlive.agent.log.forking import fork as fork_session
from outlive.cli.chat import choices
from outlive.cli.chat.preferences import Theme
from outlive.cli.chat.slash import look
from outlive.cli.chat.slash.base import WrongUsage, command
from outlive.cli.chat.talk import AT_TERMINAL, Talk
from outlive.cli.chat.words import counted, short_session
from outlive.errors import StoreUnavailable
from outlive.events import encode
from outlive.models.effort import split_effort
from outlive.printable import one_line
from outlive.regular import real_path
from outlive.stores.logs.protocol import UnknownSession
from outlive.stores.logs.reading import full_log
from outlive.tools.permissions.asking import MODE_WORDS, MODES, user_name


@command("[FOCUS]", "make a pass now; FOCUS says what the summary is to keep", resting=True)
async def compact(talk: Talk, words: str) -> None:
    async def work() -> RenderableType | None:
        made = await talk.agent.compact(words)
        return None if made else Text("nothing would be gained by a pass now", "quiet")

    talk.start(work())


@command("WORDS", "keep something for later sessions; outlive memory undo takes it back")
async def remember(talk: Talk, words: str) -> RenderableType:
    if talk.agent.memory is None:
        return Text("there is no memory here", "quiet")
    if not words:
        raise WrongUsage("/remember takes what to remember: /remember we deploy on Mondays")
    return Text(one_line(talk.agent.memory.told(words)))


@command("[MODE]", "show or change the permission mode")
async def mode(talk: Talk, words: str) -> RenderableType | None:
    if not words:
        now = talk.agent.mode
        if talk.pick is None:
            rows = (f"{'▸' if mode == now else ' '} {mode}: {MODE_WORDS[mode]}" for mode in MODES)
            return Text("\n".join(rows))
        row = await talk.pick("permission mode", choices.mode_rows(now))
        if row is None or row.current:
            return None
        words = row.value
    found = [mode for mode in MODES if mode.startswith(words)]
    if len(found) != 1:
        raise WrongUsage(f"there is no mode {words!r}; the modes are {', '.join(MODES)}")
    talk.agent.set_mode(found[0], by=f"{user_name()} {AT_TERMINAL}")
    return None


@command(
    "[PROVIDER:NAME] [EFFORT]",
    "show or change the model, and how much it thinks: off, low, medium, high",
    resting=True,
)
async def model(talk: Talk, words: str) -> RenderableType:
    agent = talk.agent
    here = agent.parts.model.name
    present = Text(one_line(f"{here} {agent.effort}".rstrip()))
    if not words and (talk.pick is None or talk.setup.choose is None):
        return present
    if talk.setup.choose is None:
        raise WrongUsage("the model cannot be changed here")
    if not words and talk.pick is not None:
        entries = await asyncio.to_thread(talk.setup.catalog)
        row = await talk.pick("model", choices.model_rows(entries, agent.session, here))
        if row is None or row.current:
            return present
        words = row.value
    name, effort = split_effort(words)
    effort = effort or agent.effort
    chosen = await asyncio.to_thread(talk.setup.choose, f"{name or here} {effort}".rstrip())  # it may ask a server
    await agent.use_model(chosen, effort)
    return Text(f"going on with {one_line(f'{chosen.name} {effort}'.rstrip())}", "quiet")


@command("[FOLDER]", "let tools use another folder in this session; without FOLDER, say which they may use")
async def add_dir(talk: Talk, words: str) -> RenderableType | None:
    fence = talk.agent.parts.fence
    if words:
        folder = real_path(talk.setup.root / Path(words).expanduser())
        if not folder.is_dir():
            raise WrongUsage(f"there is no folder {words}")
        talk.agent.add_folder(folder)  # a note says that it is there
        return None
    return Text("tools may use " + " and ".join(one_line(str(path)) for path in (fence.root, *fence.extra)), "quiet")


@command("[NAME]", "show or change the colours: terminal, dark, light, none")
async def theme(talk: Talk, words: str) -> RenderableType | None:
    if not words and talk.pick is not None:
        row = await talk.pick("theme", choices.theme_rows(talk.preferences.theme))
        if row is None:
            return None
        words = row.value
    found = next((name for name in get_args(Theme) if words and name.startswith(words)), None)
    if found is None:
        raise WrongUsage(f"the themes are {', '.join(get_args(Theme))}")
    talk.preferences = replace(talk.preferences, theme=found)
    return Text(f'theme {found}; to keep it: theme = "{found}" in [terminal] of ~/.outlive/outlive.toml', "quiet")


@command("", "begin a new session; this one can be resumed any time", resting=True)
async def new(talk: Talk, words: str) -> None:
    talk.farewell()
    await talk.open(None)


@command("[WORDS]", "a new sprint: state, tasks and memory stay, the conversation starts fresh", resting=True)
async def renew(talk: Talk, words: str) -> RenderableType:
    talk.agent.session.renew(words)
    return Text("a new sprint begins; goal, plan, instructions and tasks stay, the rest is behind handles", "quiet")


@command("[ID]", "go on with another session; without ID, choose from a list", resting=True)
async def resume(talk: Talk, words: str) -> RenderableType | None:
    infos = talk.sessions()
    found = [info.id for info in infos]
    here = talk.agent.session.id
    if not words:
        if found in ([], [here]):
            raise UnknownSession("there is no other session here")
        if talk.pick is None:
            return await look.sessions(talk, "")
        row = await talk.pick("session", choices.session_rows(talk.setup.store, infos, here))
        if row is None or row.current:
            return None
        words = row.value
    named = [id for id in found if id == words] or [id for id in found if words in id]
    if not named:
        raise UnknownSession(f"no session has {words!r} in its id; /sessions lists them")
    if len(named) > 1:
        raise WrongUsage(f"{words!r} could be {', '.join(map(short_session, named[:5]))}")
    if named[0] == here:
        raise WrongUsage("this session is open already")
    await talk.open(named[0])
    return None


@command("", "go on in a copy that shares the past; this session stays as it is", resting=True)
async def fork(talk: Talk, words: str) -> None:
    await talk.open(fork_session(talk.setup.store, talk.agent.session.id))


@command("[FILE]", "write the whole session as JSON lines")
async def export(talk: Talk, words: str) -> RenderableType:
    session = talk.agent.session.id
    path = talk.setup.root / Path(words or f"session-{short_session(session)}.jsonl").expanduser()
    if path.exists():
        raise WrongUsage(f"{path} exists already; name another file")
    events = full_log(talk.setup.store, session).events
    try:
        with path.open("xb") as file:
            file.writelines(encode(event) + b"\n" for event in events)
    except OSError as error:
        raise StoreUnavailable(f"cannot write {path}: {error.strerror}") from None
    return Text(f"wrote {counted(len(events), 'event')} to {one_line(str(path))}", "quiet")


@command("", "go on where the last run was cut off", resting=True)
async def continue_(talk: Talk, words: str) -> RenderableType | None:
    if not talk.agent.unfinished:
        return Text("nothing was cut off; say what to do", "quiet")
    talk.start(talk.agent.go_on())
    return None


@command("", "leave; the session can be resumed any time")
async def quit_(talk: Talk, words: str) -> None:
    talk.leaving = True
