"""The queue of tasks in a directory, under several processes at once."""

import subprocess
import sys
import threading
from pathlib import Path
from queue import Empty

import pytest
from celery.signals import worker_shutting_down
from kombu import Connection

import gateway.celery  # noqa: F401 - connects to the signals of workers
from gateway.core.jobs import filequeue
from gateway.run.options import PROJECT_DIR
from tests.support.concurrency import PATIENCE_SECONDS

MESSAGES = 200
WRITER = """
import sys
from tests.run.test_filequeue import connect
with connect(sys.argv[1]) as connection:
    queue = connection.SimpleQueue("jobs")
    for number in range(int(sys.argv[2])):
        queue.put({"number": number, "filler": "x" * 20000})
    for reader in range(int(sys.argv[3])):
        queue.put({"number": None})
"""
READER = """
import sys
from tests.run.test_filequeue import connect
with connect(sys.argv[1]) as connection:
    queue = connection.SimpleQueue("jobs")
    while True:
        message = queue.get(timeout=120)
        message.ack()
        if message.payload["number"] is None:
            break
        print(message.payload["number"], flush=True)
"""


def connect(folder: str | Path) -> Connection:
    """Return a connection to the queue in `folder`."""
    filequeue.register()
    options = {"data_folder_in": f"{folder}/messages", "data_folder_out": f"{folder}/messages"}
    options["control_folder"] = f"{folder}/control"
    return Connection("files://localhost", transport_options={**options, "polling_interval": 0.01})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("messages", "control"):
        (tmp_path / name).mkdir()
    return tmp_path


def spawn(program: str, *arguments: object) -> subprocess.Popen[str]:
    """Run a program of this module's in a process of its own."""
    command = [sys.executable, "-c", program, *map(str, arguments)]
    return subprocess.Popen(command, cwd=PROJECT_DIR, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_each_message_reaches_one_reader_whole(folder: Path) -> None:
    processes = [spawn(READER, folder), spawn(READER, folder), spawn(WRITER, folder, MESSAGES, 2)]
    outputs = [process.communicate(timeout=120) for process in processes]
    assert [errors for _, errors in outputs] == ["", "", ""]
    numbers = [int(line) for output, _ in outputs for line in output.split()]
    assert sorted(numbers) == list(range(MESSAGES))
    assert list((folder / "messages").iterdir()) == []


def test_messages_come_in_the_order_in_which_they_went(folder: Path) -> None:
    with connect(folder) as connection:
        queue = connection.SimpleQueue("jobs")
        for number in range(5):
            queue.put({"number": number})
        taken = [queue.get(block=False).payload["number"] for _ in range(5)]
        with pytest.raises(Empty):
            queue.get(block=False)
    assert taken == [0, 1, 2, 3, 4]


def test_a_half_written_message_is_not_seen(folder: Path) -> None:
    with connect(folder) as connection:
        queue = connection.SimpleQueue("jobs")
        (folder / "messages" / ".0123.tmp").write_text('{"body"')
        with pytest.raises(Empty):
            queue.get(block=False)


@pytest.mark.parametrize(
    "content", [b"", bytes(4096), b'{"body": "', b"\xff"], ids=["empty", "zeros", "cut", "no text"]
)
def test_a_file_that_a_loss_of_power_has_damaged_stops_nothing(
    folder: Path, content: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    (folder / "control" / "jobs.exchange").write_bytes(content)
    with connect(folder) as connection:
        connection.transport.state.clear()  # as in a new process
        queue = connection.SimpleQueue("jobs")
        (folder / "messages" / "00000000000000000001-a.jobs.msg").write_bytes(content)
        queue.put({"number": 1})
        message = queue.get(block=False)
        message.ack()
        assert message.payload == {"number": 1}
        with pytest.raises(Empty):
            queue.get(block=False)
    assert list((folder / "messages").iterdir()) == []
    logged = [record.getMessage() for record in caplog.records if record.name == "gateway.messages"]
    assert {line.partition(" ")[0] for line in logged} == {"jobs.exchange", "00000000000000000001-a.jobs.msg"}


def test_a_worker_that_is_to_end_waits_for_no_message(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Celery sends its signal from the handler of SIGTERM, as soon as that comes."""
    monkeypatch.setattr(filequeue.Transport, "is_ending", False)
    monkeypatch.setattr("integrations.operations.heartbeats._shutdowns", [])  # the signal goes there, too
    with connect(folder) as connection:
        queue = connection.SimpleQueue("others")  # kombu remembers the bindings of every folder together
        ended: list[type[Exception]] = []

        def wait() -> None:
            try:
                connection.drain_events(timeout=None)
            except TimeoutError as error:
                ended.append(type(error))

        thread = threading.Thread(target=wait)
        thread.start()
        worker_shutting_down.send(sender="worker@here", sig="SIGTERM", how="Warm", exitcode=0)
        thread.join(PATIENCE_SECONDS)
        assert ended == [TimeoutError]
        queue.put({"number": 1})
        assert queue.get(timeout=PATIENCE_SECONDS).payload == {"number": 1}, "what is there is still delivered"
