"""First tutorial: store events in a stream, replay them, and find them again after a restart and after a crash."""
import re

from cli import Broker, Cli, expect, expect_equal, field

EVENTS = [("events.page_loaded", "start page"), ("events.input_focused", "name"), ("events.page_loaded", "second page")]
RECEIVED = re.compile(r"^\[#(\d+)\] Received JetStream message: stream: EVENTS seq: (\d+) / pending: (\d+) / subject: (\S+) / .*\n(.*)$", re.M)


def create_stream(_: Broker, cli: Cli):
    """create a stream for events.>"""
    expect(cli.run("stream", "add", "EVENTS", "--subjects", "events.>", "--defaults"),
           r"^Stream EVENTS was created$", field("Subjects", r"events\.>"), field("Storage", "File"), field("Retention", "Limits"),
           field("Messages", "0"), field("First Sequence", "0"), field("Last Sequence", "0"), field("Active Consumers", "0"))


def publish(_: Broker, cli: Cli):
    """publish three events and see each stored"""
    for number, (subject, text) in enumerate(EVENTS, 1):
        expect(cli.run("pub", "--jetstream", subject, text),
               rf'Published {len(text)} bytes to "{re.escape(subject)}"', rf"Stored in Stream: EVENTS Sequence: {number}$")


def info(_: Broker, cli: Cli):
    """stream info shows them"""
    expect(cli.run("stream", "info", "EVENTS"), r"^Information for Stream EVENTS created ", field("Messages", "3"),
           field("First Sequence", "1 @ .*"), field("Last Sequence", "3 @ .*"), field("Number of Subjects", "2"))


def replay(_: Broker, cli: Cli):
    """replay them in order, twice"""
    wanted = [(str(n), str(n), str(len(EVENTS) - n), subject, text) for n, (subject, text) in enumerate(EVENTS, 1)]
    for _ in range(2):
        expect_equal("replayed", RECEIVED.findall(cli.run("sub", "events.>", "--all", "--terminate-at-end")), wanted)


def restart(broker: Broker, cli: Cli):
    """the same after a restart"""
    broker.restart()
    info(broker, cli)
    replay(broker, cli)


def crash(broker: Broker, cli: Cli):
    """the same after kill -9"""
    broker.crash()
    info(broker, cli)
    replay(broker, cli)
    expect(cli.run("pub", "--jetstream", "events.page_loaded", "last"), r"Stored in Stream: EVENTS Sequence: 4$")


STEPS = [create_stream, publish, info, replay, restart, crash]
