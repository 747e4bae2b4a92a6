"""How the interface is drawn again: what arrives together, a key at once."""

import asyncio

import pytest
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.layout import Layout
from prompt_toolkit.output import DummyOutput
from prompt_toolkit.widgets import TextArea

from outlive.cli.chat.render.inline import InlineApplication

HOUR = 3600.0


def test_a_key_is_drawn_at_once_while_what_arrives_waits_for_its_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("outlive.cli.chat.render.inline.REDRAW_SECONDS", HOUR)

    async def work() -> None:
        field = TextArea()
        with create_pipe_input() as keys:
            app = InlineApplication(layout=Layout(field), input=keys, output=DummyOutput())
            running = asyncio.ensure_future(app.run_async())
            while not app.render_counter:
                await asyncio.sleep(0)
            app._drawn_at = asyncio.get_running_loop().time()
            before = app.render_counter
            for _ in range(100):
                app.redraw_soon()
                await asyncio.sleep(0)
            assert app.render_counter == before
            keys.send_text("x")
            while field.text != "x" or app.render_counter == before:
                await asyncio.sleep(0)
            app.exit()
            await running

    asyncio.run(asyncio.wait_for(work(), 30))


def test_from_a_thread_and_after_the_end_it_is_no_error() -> None:
    async def work() -> InlineApplication:
        with create_pipe_input() as keys:
            app = InlineApplication(layout=Layout(TextArea()), input=keys, output=DummyOutput())
            running = asyncio.ensure_future(app.run_async())
            while not app.render_counter:
                await asyncio.sleep(0)
            before = app.render_counter
            await asyncio.to_thread(app.redraw_soon)
            while app.render_counter == before:
                await asyncio.sleep(0)
            app.exit()
            await running
            return app

    app = asyncio.run(asyncio.wait_for(work(), 30))
    app.redraw_soon()
