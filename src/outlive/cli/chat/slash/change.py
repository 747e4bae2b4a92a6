"""Commands that change something: compact, undo, mode, model, new, renew, resume, fork, export, continue, quit."""

from pathlib import Path

from rich.console import RenderableType
from rich.text import Text

from outlive.agent.log.forking import fork as fork_session
from outlive.agent.rewind import prompts
from outlive.cli.chat.slash import look
from outlive.cli.chat.slash.base import WrongUsage, command
from outlive.cli.chat.talk import AT_TERMINAL, Talk
from outlive.cli.chat.words import counted, short_session
from outlive.cli.session.rewind import listed, outcome, told
from outlive.errors import StoreUnavailable
from outlive.events import encode
from outlive.printable import one_line
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


@command("[EVENT]", "take back the last pass, or everything after an event", resting=True)
async def undo(talk: Talk, words: str) -> RenderableType:
    if words and not words.isdigit():
        raise WrongUsage(f"/undo takes the number of an event, not {words!r}; /receipts shows those of passes")
    session = talk.agent.session
    if not words and not session.can_undo_pass:
        raise WrongUsage(
            "there is no pass to take back. /undo is about the conversation (/undo EVENT takes back all after an "
            "event); /rewind goes back with the files"
        )
    done = session.undo_to(int(words)) if words else session.undo_pass()
    what = f"everything after event {done.target}" if words else f"the pass of event {done.target}"
    return Text(f"took back {what}", "quiet")


@command("[EVENT [files|conversation]]", "go back to before a message, in conversation and files", resting=True)
async def rewind(talk: Talk, words: str) -> RenderableType:
    if words == "revert":
        return Text("\n".join(told(await talk.agent.revert_restore())), "quiet")
    points = prompts(talk.agent.session)
    event, _, only = words.partition(" ")
    if not points or not words:
        hint = "\n/rewind EVENT goes back to before that message; /rewind revert puts files back"
        return Text("\n".join(map(listed, points)) + hint if points else "nothing was said yet", "quiet")
    if not event.isdecimal() or only not in ("", "files", "conversation"):
        raise WrongUsage("/rewind takes the number of a message, and maybe files or conversation: /rewind 12 files")
    parts = {"conversation": only != "files", "files": only != "conversation"}
    rewound = await talk.agent.rewind(int(event), **parts)
    if rewound.conversation:
        talk.give_back(rewound.point.text)
    return Text("\n".join(outcome(rewound)), "quiet")


@command("[MODE]", "show or change the permission mode")
async def mode(talk: Talk, words: str) -> RenderableType | None:
    if not words:
        now = talk.agent.mode
        rows = (f"{'▸' if mode == now else ' '} {mode}: {MODE_WORDS[mode]}" for mode in MODES)
        return Text("\n".join(rows))
    found = [mode for mode in MODES if mode.startswith(words)]
    if len(found) != 1:
        raise WrongUsage(f"there is no mode {words!r}; the modes are {', '.join(MODES)}")
    talk.agent.set_mode(found[0], by=f"{user_name()} {AT_TERMINAL}")
    return None


@command("[PROVIDER:NAME]", "show or change the model", resting=True)
async def model(talk: Talk, words: str) -> RenderableType:
    if not words:
        return Text(one_line(talk.agent.parts.model.name))
    if talk.setup.choose is None:
        raise WrongUsage("the model cannot be changed here")
    chosen = talk.setup.choose(words)
    await talk.agent.use_model(chosen)
    return Text(f"going on with {one_line(chosen.name)}", "quiet")


@command("", "begin a new session; this one can be resumed any time", resting=True)
async def new(talk: Talk, words: str) -> None:
    talk.farewell()
    await talk.open(None)


@command("[WORDS]", "a new sprint: state, tasks and memory stay, the conversation starts fresh", resting=True)
async def renew(talk: Talk, words: str) -> RenderableType:
    talk.agent.session.renew(words)
    return Text("a new sprint begins; goal, plan, instructions and tasks stay, the rest is behind handles", "quiet")


@command("[ID]", "go on with another session; without ID, list them", resting=True)
async def resume(talk: Talk, words: str) -> RenderableType | None:
    found = [info.id for info in talk.sessions()]
    here = talk.agent.session.id
    if not words:
        if found in ([], [here]):
            raise UnknownSession("there is no other session here")
        return await look.sessions(talk, "")
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
