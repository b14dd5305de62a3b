from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from multiprocessing.connection import Connection
from pathlib import Path

import psutil
import pytest

from engine import host, wire
from engine.client import EngineClient
from engine.errors import BackendUnavailable
from engine.host_process import HostProcess
from engine.types import EngineOptions, Finished, SamplingOptions, Turn
from tests.engine.fake_engine import INFO, FakeEngine

FAKES = "tests.engine.fake_engine:"
PARENT = """
import sys, time
from pathlib import Path
from engine.client import EngineClient
from engine.types import EngineOptions, Turn

if __name__ == "__main__":
    folder = Path(sys.argv[1])
    options = EngineOptions(Path("none.gguf"), cache_dir=folder)
    client = EngineClient(options, factory="tests.engine.fake_engine:" + sys.argv[2])
    if sys.argv[3] == "asks":
        for event in client.ask("c", Turn("?")):
            print(client.pid, flush=True)
    client.start()
    print(client.pid, flush=True)
    if sys.argv[3] == "ends":
        sys.exit()
    time.sleep(60)
"""


class Ends:
    """Both ends of a pipe, with a host that serves one of them on a thread."""

    def __init__(self, engine: FakeEngine, serve: bool = True) -> None:
        self.connection, self._theirs = multiprocessing.Pipe()
        self.host = host.Host(self._theirs)
        self._thread = threading.Thread(target=self.host.serve, args=(engine,))
        if serve:
            self.serve()

    def serve(self) -> None:
        self._thread.start()

    def send(self, frame: wire.Frame) -> None:
        self.connection.send_bytes(wire.pack(frame))

    def receive(self) -> wire.Frame:
        assert self.connection.poll(20)
        return wire.unpack(self.connection.recv_bytes())

    def answer(self, call: int) -> list[wire.Frame]:
        """Frames up to the end of `call`."""
        frames = []
        while True:
            frames.append(self.receive())
            if isinstance(frames[-1], wire.Result | wire.Failed) and frames[-1].id == call:
                return frames

    def close(self) -> None:
        self.send(wire.Bye())
        self._thread.join(20)
        assert not self._thread.is_alive()
        self.connection.close()
        self._theirs.close()


@pytest.fixture
def exits(monkeypatch) -> list[int]:
    """Codes with which the host would have ended this process."""
    codes: list[int] = []
    monkeypatch.setattr(host.os, "_exit", codes.append)
    monkeypatch.setattr(host, "_SECONDS_TO_CLOSE", 0.2)
    return codes


@pytest.fixture
def engine(tmp_path) -> FakeEngine:
    return FakeEngine(EngineOptions(Path("none.gguf"), cache_dir=tmp_path))


@pytest.fixture
def ends(engine, exits) -> Iterator[Ends]:
    made = Ends(engine)
    yield made
    made.close()


def ask(conversation: str = "c", user: str = "?") -> tuple[object, ...]:
    return (conversation, Turn(user), SamplingOptions(), True)


def test_an_ask_tells_the_turns_there_are_then_its_events_then_its_end(ends):
    ends.send(wire.Call(1, "ask", ask()))
    first = ends.answer(1)
    ends.send(wire.Call(2, "ask", ask()))
    second = ends.answer(2)
    assert first[0] == wire.Begun(1, 0)
    assert second[0] == wire.Begun(2, 1)
    assert isinstance(first[-2], wire.Item)
    assert isinstance(first[-2].event, Finished)
    assert first[-1] == wire.Result(1)


def test_a_method_that_is_not_the_engines_is_refused(ends):
    ends.send(wire.Call(1, "close"))
    (frame,) = ends.answer(1)
    assert isinstance(frame, wire.Failed)
    assert frame.fault.name == "InvalidRequest"


def test_a_frame_that_cannot_be_read_is_passed_over(ends):
    ends.connection.send_bytes(b"nonsense")
    ends.send(wire.Call(1, "count_tokens", ("a b",)))
    assert ends.answer(1) == [wire.Result(1, 2)]


def test_a_stop_that_comes_before_the_ask_has_begun(engine, exits):
    ends = Ends(engine, serve=False)
    ends.send(wire.Call(1, "ask", ask()))
    ends.send(wire.Call(2, "ask", ask("d")))
    ends.send(wire.Stop("c"))
    ends.send(wire.Cancel(2))
    ends.send(wire.Cancel(77))
    time.sleep(0.2)
    ends.serve()
    for call in (1, 2):
        item, result = ends.answer(call)
        assert item.event.reason == "stopped"
        assert item.event.text == ""
        assert result == wire.Result(call)
    assert engine.turns("c") == []
    ends.close()


def test_looking_calls_do_not_overtake_changes(ends):
    ends.send(wire.Call(1, "ask", ask()))
    assert ends.receive() == wire.Begun(1, 0)
    ends.send(wire.Call(2, "prefill_speed"))
    ends.send(wire.Call(3, "delete", ("c",)))
    ends.send(wire.Call(4, "conversations"))
    frames = ends.answer(4)
    ended = [frame for frame in frames if isinstance(frame, wire.Result)]
    assert [frame.id for frame in ended] == [2, 1, 3, 4]
    assert ended[-1].value == []


def test_a_process_that_does_not_end_by_itself_is_ended(engine, exits):
    ends = Ends(engine)
    ends.close()
    deadline = time.monotonic() + 5
    while not exits and time.monotonic() < deadline:
        time.sleep(0.01)
    assert exits == [1]


def test_a_reply_to_a_parent_that_is_gone_is_lost_in_silence(engine, exits):
    ours, theirs = multiprocessing.Pipe()
    served = host.Host(theirs)
    ours.close()
    served.send(wire.Result(1))
    served.serve(engine)  # returns at once
    theirs.close()


def start_parent(folder: Path, factory: str, what: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", PARENT, str(folder), factory, what],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
    )


@pytest.mark.parametrize("what", ["waits", "asks"])
def test_the_process_ends_with_its_parent(tmp_path, what):
    with start_parent(tmp_path, "make", what) as parent:
        assert parent.stdout is not None
        process = psutil.Process(int(parent.stdout.readline()))
        parent.kill()
        process.wait(20)
    assert not process.is_running()
    assert (tmp_path / "closed").exists()
    assert bool(list(tmp_path.glob("c.json"))) is (what == "asks")


def test_the_process_ends_with_its_parents_last_line(tmp_path):
    with start_parent(tmp_path, "make", "ends") as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        assert parent.wait(20) == 0
    assert not psutil.pid_exists(pid)
    assert (tmp_path / "closed").exists()


def test_ctrl_c_is_the_parents(tmp_path):
    client = EngineClient(
        EngineOptions(Path("none.gguf"), cache_dir=tmp_path), factory=FAKES + "make"
    )
    client.start()
    before = client.pid
    os.kill(before, signal.SIGINT)
    assert client.count_tokens("a b") == 2
    assert client.pid == before
    client.close()


def test_one_thread_waits_for_the_process(tmp_path, monkeypatch, caplog):
    """Of two, one would be told that it lives on, and kill what has closed as it should."""
    options = EngineOptions(Path("none.gguf"), cache_dir=tmp_path)
    hosted = HostProcess(options, FAKES + "make", None)
    waiting, join = [], hosted._process.join

    def watched(timeout: float | None = None) -> None:
        waiting.append(threading.current_thread().name)
        join(timeout)

    monkeypatch.setattr(hosted._process, "join", watched)
    hosted.watch(lambda dead: None)
    hosted.close()
    assert waiting == ["engine-reader"]
    assert hosted._process.exitcode == 0
    assert (tmp_path / "closed").exists()
    assert not caplog.records


def test_a_process_that_hangs_while_closing_is_killed(tmp_path):
    options = EngineOptions(Path("none.gguf"), cache_dir=tmp_path)
    hosted = HostProcess(options, FAKES + "hangs_when_closed", None)
    hosted.watch(lambda dead: None)
    process = psutil.Process(hosted.pid)
    hosted.close(timeout=0.3)
    assert not process.is_running()
    assert not hosted.alive


def test_a_start_that_is_given_up_leaves_no_process(tmp_path, monkeypatch):
    before = set(psutil.Process().children())

    def interrupted(connection: Connection) -> bytes:
        raise KeyboardInterrupt

    monkeypatch.setattr(Connection, "recv_bytes", interrupted)
    with pytest.raises(KeyboardInterrupt):
        HostProcess(EngineOptions(Path("none.gguf"), cache_dir=tmp_path), FAKES + "make", None)
    _gone, left = psutil.wait_procs(set(psutil.Process().children()) - before, timeout=20)
    assert left == []


def test_the_hosts_entry_point_in_this_process(tmp_path, monkeypatch, exits):
    """As the process runs it: start, serve, close; and a start that fails."""
    monkeypatch.setattr(host.signal, "signal", lambda *args: None)
    for factory, log in (("make", tmp_path / "a.log"), ("no_library", None)):
        ours, theirs = multiprocessing.Pipe()
        options = EngineOptions(Path("none.gguf"), cache_dir=tmp_path)
        thread = threading.Thread(target=host.run_host, args=(theirs,))
        thread.start()
        ours.send_bytes(wire.pack(wire.Start(options, FAKES + factory, log)))
        reply = wire.unpack(ours.recv_bytes())
        if factory == "make":
            assert reply == wire.Ready(INFO)
            ours.send_bytes(wire.pack(wire.Bye()))
        else:
            assert isinstance(reply, wire.Failed)
            assert type(wire.error_of(reply.fault)) is BackendUnavailable
        thread.join(20)
        assert not thread.is_alive()
        ours.close()
        theirs.close()
    assert (tmp_path / "closed").exists()
    assert (tmp_path / "a.log").exists()


def test_a_parent_that_ends_before_it_says_what_to_start(monkeypatch):
    monkeypatch.setattr(host.signal, "signal", lambda *args: None)
    ours, theirs = multiprocessing.Pipe()
    ours.close()
    assert host.run_host(theirs) is None
    theirs.close()


def test_the_first_frame_must_be_start(monkeypatch):
    monkeypatch.setattr(host.signal, "signal", lambda *args: None)
    ours, theirs = multiprocessing.Pipe()
    ours.send_bytes(wire.pack(wire.Bye()))
    with pytest.raises(wire.WireError, match="first frame"):
        host.run_host(theirs)
    ours.close()
    theirs.close()
