#!/usr/bin/env python3
"""The two tutorials, step by step, with the real `nats` command line against a running broker.

    run.py                                        target/release/postroom, started from a TOML file
    run.py --server nats-server --reference-style checks these steps themselves on the reference
"""
import sys
import time

import articles
import events
from cli import Broker, Cli, Failure

sys.path.insert(0, __file__.rsplit("/", 2)[0] + "/support")
from broker import arguments  # noqa: E402


def play(name: str, steps: list, options) -> int:
    """Plays one tutorial on a fresh broker; returns the number of steps done. Stops at the first that fails."""
    print(name, flush=True)
    done = 0
    with Broker(options.server, options.reference_style) as broker:
        cli = Cli(broker, options.nats)
        for step in steps:
            begun = time.monotonic()
            try:
                step(broker, cli)
            except Failure as failure:
                print(f"  FAIL {step.__doc__}\n{failure}\n--- the broker's log ends with\n{broker.log_tail()}", flush=True)
                raise
            done += 1
            print(f"  ok   {step.__doc__} ({time.monotonic() - begun:.1f} s)", flush=True)
    return done


def main() -> int:
    parser = arguments(__doc__)
    parser.add_argument("--nats", default="nats", help="the nats command line")
    options = parser.parse_args()
    passed = failed = 0
    for name, steps in (("events", events.STEPS), ("articles", articles.STEPS)):
        try:
            passed += play(name, steps, options)
        except Failure as failure:
            print(f"{name}: {str(failure).splitlines()[0]}", file=sys.stderr)
            failed += 1
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
