"""A long session: what a pass remembers of the one before never shows, and what was folded takes little room."""

import gc

import msgspec

from outlive import events as ev
from outlive.context.engine import Engine
from outlive.context.policy import Policy
from outlive.messages import ToolCall
from tests.context.story import Story, body, long_story

WINDOW = 40_000
EAGER = Policy(name="eager", engage=0.5, tail_tokens=1500, tail=0.1)


def wall(number: int) -> str:
    """More of the user's words than there is room for, rules among them."""
    rows = [f"remark_{number}_{n} about src/file_{n % 7}.py and more words besides" for n in range(40)]
    return "\n".join([f"Please go on with part_{number}.", *rows, f"Never rename value_{number}.", *rows])


def listing(name: str, first: int) -> str:
    return "\n".join(f"{n:5d}\tdef {name}_{n}(request): return {name}.value_{n}" for n in range(first, first + 30))


def busy_story(rounds: int) -> Story:
    """Walls of text, files looked at again and again and written now and then, open tasks that change."""
    story = long_story(1)
    for number in range(rounds):
        if number % 12 == 0:
            story.user(wall(number))
            task = ev.OpenTask(number, f"Repair value_{number} in file_{number % 5}.py", "in_progress")
            story.add(ev.TasksSeen, tasks=(task,))
        look = f"src/file_{number % 5}.py"
        call = ToolCall(f"look{number}", "read_file", {"path": look})
        story.add(ev.AssistantSaid, blocks=(call,))
        story.add(ev.ToolFinished, call_id=call.id, text=listing(f"file_{number % 5}", number % 90))
        if number % 9 == 0:
            call = ToolCall(f"write{number}", "bash", {"command": f"sed -i s/a/b/ src/file_{number % 4}.py"})
            story.add(ev.AssistantSaid, blocks=(call,))
            story.add(ev.ToolFinished, call_id=call.id, text="")
        story.step(body(number, 12))
    return story


def test_a_pass_after_many_others_is_the_one_that_a_fresh_reader_of_the_log_would_make() -> None:
    live, log, digests = Engine(WINDOW, EAGER), list[ev.Event](), list[str]()
    for event in busy_story(240).events:
        if isinstance(event, ev.AssistantSaid) and live.due():
            fresh = Engine(WINDOW, EAGER) if len(digests) % 5 == 4 else None
            if fresh:
                fresh.extend(ev.decode(ev.encode(kept)) for kept in log)
            request = live.next_request()
            if fresh:
                assert msgspec.json.encode(request) == msgspec.json.encode(fresh.next_request())
            log.extend(request.new_events)
            digests += [f"{made.words}\n{made.digest}" for made in request.passes]
        moved = msgspec.structs.replace(event, id=live.history.last_id + 1)
        live.append(moved)
        log.append(moved)
    assert len(digests) > 20
    assert any("[shortened; whole text:" in digest for digest in digests)


def test_a_pass_that_was_taken_back_can_be_made_again_to_the_letter() -> None:
    engine = Engine(WINDOW, EAGER)
    events = busy_story(160).events
    for number, event in enumerate(events):
        if isinstance(event, ev.AssistantSaid) and number < len(events) - 40:
            engine.next_request()
        engine.append(msgspec.structs.replace(event, id=engine.history.last_id + 1))
    first = engine.compact()
    assert first is not None
    assert first.receipt.units_folded
    assert first.receipt.lines_kept
    engine.append(ev.Undone(id=first.id + 1, time=first.time, target=first.id))
    second = engine.compact()
    assert second is not None
    assert (second.digest, second.edits, second.fold_to) == (first.digest, first.edits, first.fold_to)


def test_what_a_session_keeps_is_little_for_the_collector_of_garbage() -> None:
    """Units, pieces, lines and events are very many, and a full collection would look at each of them."""
    tracked: list[int] = []
    engine = Engine(WINDOW, EAGER)
    for number, event in enumerate(long_story(320).events):
        if isinstance(event, ev.AssistantSaid):
            engine.next_request()
        engine.append(msgspec.structs.replace(event, id=engine.history.last_id + 1))
        if number in (320, 640):
            gc.collect()
            tracked.append(len(gc.get_objects()))
    assert engine.history.index.lines > 15_000
    assert tracked[1] - tracked[0] < 5 * 160  # in 160 steps


def test_the_pool_of_folded_lines_does_not_grow_with_the_session() -> None:
    engine, sizes = Engine(WINDOW, EAGER), list[int]()
    for number, event in enumerate(long_story(320).events):
        if isinstance(event, ev.AssistantSaid):
            engine.next_request()
        engine.append(msgspec.structs.replace(event, id=engine.history.last_id + 1))
        if number in (320, 640):
            sizes.append(len(engine.pool()))
    assert 0 < sizes[1] < 1.5 * sizes[0]
