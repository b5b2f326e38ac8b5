"""The `nats` command line as a tutorial's reader uses it, and checks of what it prints."""
from __future__ import annotations

import os
import pathlib
import pty
import re
import shutil
import signal
import subprocess
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from broker import Broker, Failure  # noqa: E402

COMMAND_LIMIT = 60
LIVE_LIMIT = 15


class Cli:
    def __init__(self, broker: Broker, nats: str):
        found = shutil.which(nats)
        if not found:
            raise Failure(f"no program {nats}")
        self.nats, self.broker = found, broker

    def run(self, *args: str, status: int = 0) -> str:
        """One command to its end; what it printed on both outputs. A wrong exit status fails the step."""
        try:
            done = subprocess.run([self.nats, *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  text=True, timeout=COMMAND_LIMIT, env=self.broker.environment())
        except subprocess.TimeoutExpired as late:
            printed = (late.stdout or b"").decode(errors="replace")
            raise Failure(f"nats {' '.join(args)} did not end within {COMMAND_LIMIT} s:\n{printed}") from None
        return self.ended(args, done.returncode, status, done.stdout)

    def run_on_terminal(self, *args: str, status: int = 0) -> str:
        """As `run`, for the commands that insist on a terminal."""
        ours, theirs = pty.openpty()
        process = subprocess.Popen([self.nats, *args], stdin=theirs, stdout=theirs, stderr=theirs, env=self.broker.environment())
        os.close(theirs)
        killer = threading.Timer(COMMAND_LIMIT, process.kill)
        killer.start()
        printed = b""
        try:
            while piece := os.read(ours, 65536):
                printed += piece
        except OSError:
            pass  # The other side of a terminal closes with an input/output error.
        finally:
            os.close(ours)
            process.wait()
            killer.cancel()
        return self.ended(args, process.returncode, status, printed.decode(errors="replace").replace("\r\n", "\n"))

    @staticmethod
    def ended(args: tuple[str, ...], status: int, wanted: int, printed: str) -> str:
        if status != wanted:
            raise Failure(f"nats {' '.join(args)} ended with {status}, not {wanted}:\n{printed}")
        return printed

    def live(self, *args: str) -> Live:
        """A command that goes on until `Live.stop`."""
        return Live([self.nats, *args], self.broker.environment())


class Live:
    def __init__(self, command: list[str], environment: dict[str, str]):
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                        text=True, env=environment)
        self.lines: list[str] = []
        self.reader = threading.Thread(target=lambda: self.lines.extend(iter(self.process.stdout.readline, "")), daemon=True)
        self.reader.start()

    def __enter__(self) -> Live:
        return self

    def __exit__(self, *_) -> None:
        self.stop()

    def wait_for(self, pattern: str) -> None:
        """Until a line like this was printed."""
        deadline = time.monotonic() + LIVE_LIMIT
        while not re.search(pattern, self.text()):
            if time.monotonic() > deadline:
                raise Failure(f"{pattern!r} was not printed within {LIVE_LIMIT} s:\n{self.text()}")
            time.sleep(0.02)

    def text(self) -> str:
        return "".join(list(self.lines))

    def stop(self) -> str:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            try:
                self.process.wait(5)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.reader.join(5)
        return self.text()


def expect(text: str, *patterns: str) -> None:
    """Every pattern is found, each behind the one before it."""
    place = 0
    for pattern in patterns:
        found = re.compile(pattern, re.MULTILINE).search(text, place)
        if not found:
            where = " behind what came before it" if place else ""
            raise Failure(f"no {pattern!r}{where} in:\n{text}")
        place = found.end()


def expect_equal(what: str, got, wanted) -> None:
    if got != wanted:
        raise Failure(f"{what}: {got!r}, not {wanted!r}")


def field(name: str, value: str) -> str:
    """The pattern of a line such as `   Messages: 3`."""
    return rf"^ *{re.escape(name)}: {value} *$"


def table_rows(text: str) -> list[list[str]]:
    """The cells of a table drawn with box characters, without its head."""
    rows = [[cell.strip() for cell in line.strip().strip("│").split("│")] for line in text.splitlines() if "│" in line]
    return [row for row in rows if len(row) > 1][1:]
