#!/usr/bin/env python3
"""Client libraries of other languages against a running broker, with a restart in between.

    run.py                                        all of them against target/release/postroom
    run.py --only python --server nats-server --reference-style

Python needs nats-py in the interpreter that runs this, Node the `nats` package (NODE_PATH tells where). The C program is a
separate one: `--only c --c-source FILE.c` compiles it against libnats and compares what it prints with `FILE.expected.txt`.
"""
import difflib
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
from broker import Broker, Failure, arguments  # noqa: E402

CLIENTS = {"python": [sys.executable, str(HERE / "client.py")], "node": ["node", str(HERE / "client.cjs")]}
CLIENT_LIMIT = 120


def run(command: list[str], broker: Broker) -> str:
    """Runs a client to its end and shows what it prints; returns that."""
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              timeout=CLIENT_LIMIT, env=broker.environment())
    except subprocess.TimeoutExpired as late:
        printed = (late.stdout or b"").decode(errors="replace")
        raise Failure(f"{command[0]} did not end within {CLIENT_LIMIT} s:\n{printed}") from None
    print(done.stdout, end="", flush=True)
    if done.returncode:
        raise Failure(f"{' '.join(command)} ended with {done.returncode}; the broker's log ends with\n{broker.log_tail()}")
    return done.stdout


def library(name: str, options) -> None:
    with Broker(options.server, options.reference_style) as broker:
        run([*CLIENTS[name], broker.url, "before"], broker)
        broker.restart()
        run([*CLIENTS[name], broker.url, "after"], broker)


def c_program(options) -> None:
    source = options.c_source
    if not source or not source.is_file():
        raise Failure(f"--c-source names no file: {source}")
    expected = source.with_suffix(".expected.txt").read_text()
    with tempfile.TemporaryDirectory() as folder, Broker(options.server, options.reference_style) as broker:
        program = f"{folder}/program"
        run(["gcc", "-Wall", "-O1", "-o", program, str(source), "-lnats"], broker)
        printed = run([program, broker.url], broker)
    difference = list(difflib.unified_diff(expected.splitlines(), printed.splitlines(), "expected", "printed", lineterm=""))
    if difference:
        raise Failure("\n".join(difference))


def main() -> int:
    parser = arguments(__doc__)
    parser.add_argument("--only", action="append", choices=["python", "node", "c"])
    parser.add_argument("--c-source", type=pathlib.Path, help="the C program, with FILE.expected.txt beside it")
    options = parser.parse_args()
    passed = failed = 0
    for name in options.only or ["python", "node", "c"]:
        print(name, flush=True)
        try:
            c_program(options) if name == "c" else library(name, options)
            passed += 1
        except Failure as failure:
            print(f"FAIL {name}: {failure}", flush=True)
            failed += 1
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
