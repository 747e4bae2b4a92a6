"""procrastinate as a contender: `python -m bench.fleet.procrastinate_jobs COMMAND URL NUMBER…`."""

import asyncio
import functools
import random
import time
from collections.abc import Awaitable, Callable
from typing import Any

import procrastinate

from bench.fleet.worker import Meter, report, run, wait_for_end, wait_for_start

BATCH = 1000
JOB = "job"


def application(url: str, connections: int = 2) -> procrastinate.App:
    """As many connections as workers: its default of four a process would hold it back."""
    return procrastinate.App(
        connector=procrastinate.PsycopgConnector(conninfo=url, min_size=connections, max_size=connections)
    )


def setup(url: str) -> None:
    async def work() -> None:
        async with application(url).open_async() as app:
            await app.schema_manager.apply_schema_async()

    asyncio.run(work())


def fill(url: str, size: int) -> None:
    async def work() -> None:
        async with application(url).open_async() as app:
            rows = await app.connector.execute_query_all_async(
                "SELECT count(*) AS count FROM procrastinate_jobs WHERE status = 'todo'"
            )
            missing = size - rows[0]["count"]
            deferrer = app.configure_task(JOB)
            for start in range(0, missing, BATCH):
                await deferrer.batch_defer_async(*({"sent": 0} for _ in range(min(BATCH, missing - start))))

    asyncio.run(work())


def drain(url: str, concurrency: int, seconds: float) -> None:
    meter = Meter()

    async def work() -> None:
        app = application(url, concurrency + 1)

        @app.task(name=JOB)
        async def job(sent: float) -> None:
            return

        async with app.open_async():
            manager = app.job_manager
            manager.fetch_job = _timed(manager.fetch_job, meter.claimed)
            manager.finish_job = _timed(manager.finish_job, meter.finished)
            await asyncio.to_thread(wait_for_start)
            worker = asyncio.create_task(app.run_worker_async(concurrency=concurrency, wait=False))
            await asyncio.wait([worker], timeout=seconds)
            worker.cancel()
            await asyncio.gather(worker, return_exceptions=True)

    asyncio.run(work())
    meter.claims = meter.claims[: len(meter.finishes)]  # the last ones found nothing
    meter.report()


def _timed(method: Callable[..., Awaitable[Any]], note: Callable[[float], None]) -> Callable[..., Awaitable[Any]]:
    @functools.wraps(method)
    async def wrapper(*args: Any, **kwargs: Any) -> Any:
        began = time.time()
        result = await method(*args, **kwargs)
        note(began)
        return result

    return wrapper


def wait(url: str, concurrency: int) -> None:
    ages: list[float] = []

    async def work() -> None:
        app = application(url, concurrency + 1)

        @app.task(name=JOB)
        async def job(sent: float) -> None:
            ages.append(time.time() - sent)

        async with app.open_async():
            worker = asyncio.create_task(app.run_worker_async(concurrency=concurrency))
            await asyncio.sleep(1)
            await asyncio.to_thread(wait_for_start)
            await asyncio.to_thread(wait_for_end, ages)
            worker.cancel()
            await asyncio.gather(worker, return_exceptions=True)

    asyncio.run(work())


def send(url: str, count: int, pause: float) -> None:
    async def work() -> None:
        async with application(url).open_async() as app:
            for _ in range(count):
                await asyncio.sleep(pause * random.uniform(0.5, 1.5))
                await app.configure_task(JOB).defer_async(sent=time.time())

    asyncio.run(work())


def beat(url: str, workers: int, concurrency: int) -> None:
    """Its heartbeat belongs to a worker process and says nothing of the job."""
    times: list[float] = []

    async def work() -> float:
        async with application(url, concurrency).open_async() as app:
            ids = [await app.job_manager.register_worker() for _ in range(workers)]
            gate = asyncio.Semaphore(concurrency)

            async def one(worker_id: int) -> None:
                async with gate:
                    began = time.time()
                    await app.job_manager.update_heartbeat(worker_id)
                    times.append(time.time() - began)

            await asyncio.gather(*map(one, ids))
            times.clear()
            await asyncio.to_thread(wait_for_start)
            began = time.time()
            await asyncio.gather(*map(one, ids))
            return time.time() - began

    seconds = asyncio.run(work())
    report(seconds=seconds, times=times, processor=time.process_time() - Meter.started)


if __name__ == "__main__":
    run({"setup": setup, "fill": fill, "drain": drain, "wait": wait, "send": send, "beat": beat})
