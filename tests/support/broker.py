"""A broker process for tests that drive it from outside: started, killed, started again on the same files."""
from __future__ import annotations

import argparse
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
START_LIMIT = 30
STOP_LIMIT = 15


class Failure(Exception):
    """A step did not do what it should; the text says what was expected and what came."""


def free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Broker:
    """Use it as a context manager: at the end the process is gone and so are its files.

    `reference_style` starts it with nats-server's flags; otherwise it gets a TOML file.
    """

    def __init__(self, binary: str, reference_style: bool):
        found = shutil.which(binary)
        if not found:
            raise Failure(f"no program {binary}")
        self.binary = str(pathlib.Path(found).resolve())
        self.reference_style = reference_style
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="postroom-test-"))
        self.port = free_port()
        self.url = f"nats://127.0.0.1:{self.port}"
        self.process: subprocess.Popen | None = None

    def __enter__(self) -> Broker:
        try:
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_) -> None:
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.dir, ignore_errors=True)

    def command(self) -> list[str]:
        store = self.dir / "store"
        if self.reference_style:
            return [self.binary, "-a", "127.0.0.1", "-p", str(self.port), "-js", "-sd", str(store)]
        config = self.dir / "postroom.toml"
        config.write_text(f'[server]\nhost = "127.0.0.1"\nport = {self.port}\n\n[jetstream]\nstore_dir = "{store}"\n')
        return [self.binary, "--config", str(config)]

    def start(self) -> None:
        """Starts and waits until it greets a client."""
        with open(self.dir / "log", "ab") as log:
            self.process = subprocess.Popen(self.command(), cwd=self.dir, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        deadline = time.monotonic() + START_LIMIT
        while True:
            if self.process.poll() is not None:
                raise Failure(f"the broker left at start with {self.process.returncode}:\n{self.log_tail()}")
            try:
                with socket.create_connection(("127.0.0.1", self.port), timeout=1) as s:
                    s.settimeout(1)
                    if s.recv(5) == b"INFO ":
                        return
            except OSError:
                pass
            if time.monotonic() > deadline:
                raise Failure(f"the broker does not answer:\n{self.log_tail()}")
            time.sleep(0.02)

    def restart(self) -> None:
        """A polite stop, and a start on the same files."""
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(STOP_LIMIT)
        except subprocess.TimeoutExpired:
            raise Failure(f"the broker does not stop on SIGTERM within {STOP_LIMIT} s") from None
        self.start()

    def crash(self) -> None:
        """SIGKILL, and a start on the same files."""
        self.process.kill()
        self.process.wait()
        self.start()

    def log_tail(self) -> str:
        lines = (self.dir / "log").read_text(errors="replace").splitlines()
        return "\n".join(lines[-20:])

    def environment(self, **more: str) -> dict[str, str]:
        """For client programs: the broker's address, and a home without the user's own settings."""
        return os.environ | {"NATS_URL": self.url, "XDG_CONFIG_HOME": str(self.dir / "config"), "TZ": "UTC"} | more


def arguments(description: str) -> argparse.ArgumentParser:
    """The command line that every script here has. From here on SIGTERM ends the script as Ctrl-C does, so that its brokers end too."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("terminated"))
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", default=str(ROOT / "target/release/postroom"), help="the broker under test")
    parser.add_argument("--reference-style", action="store_true",
                        help="start it with nats-server's flags instead of a TOML file, to check the test itself on nats-server")
    return parser
