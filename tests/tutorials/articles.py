"""Second tutorial: a stream of articles, read by a live subscriber, a pull consumer, and push consumers of both kinds."""
import re
import time

from cli import Broker, Cli, Failure, expect, expect_equal, field, table_rows

STREAM, SUBJECT = "python_articles", "hello.python"
ARTICLES = [f"article {n}" for n in range(1, 8)]
PULLED = re.compile(r"subj: (\S+) / tries: (\d+) / cons seq: (\d+) / str seq: (\d+) / pending: (\d+)\n+(.*)\n+Acknowledged message")
PUSHED = re.compile(r'Received on "(\S+)" with reply "\$JS\.ACK\.python_articles\.(\S+?)\.1\.(\d+)\.\d+\.\d+\.(\d+)"\n(.*)$', re.M)
# An ephemeral push consumer goes 5 s after its last subscriber.
EPHEMERAL_LIMIT = 30


def account(_: Broker, cli: Cli):
    """account info"""
    expect(cli.run("account", "info"), r"^Account Information$", field("Account", r"\$G.*"), field("Headers Supported", "true"),
           field("Maximum Payload", r"1\.0 MiB"), field("Connected URL", r"nats://.*"), r"^JetStream Account Information:$",
           field("Storage", "0 B"), field("Memory", "0 B"), field("Streams", "0"), field("Consumers", "0"))


def create_stream(_: Broker, cli: Cli):
    """create the stream"""
    expect(cli.run("stream", "add", STREAM, "--subjects", SUBJECT, "--defaults"), rf"^Stream {STREAM} was created$",
           field("Subjects", re.escape(SUBJECT)))


def publish_five(_: Broker, cli: Cli):
    """publish five articles without waiting for an answer"""
    for text in ARTICLES[:5]:
        expect(cli.run("pub", SUBJECT, text), rf'Published {len(text)} bytes to "{re.escape(SUBJECT)}"')


def stream_ls(_: Broker, cli: Cli):
    """stream ls shows one stream with five messages"""
    rows = table_rows(cli.run("stream", "ls"))
    expect_equal("streams", [(row[0], row[3]) for row in rows], [(STREAM, "5")])


def stream_view(_: Broker, cli: Cli):
    """stream view shows the messages"""
    text = cli.run_on_terminal("stream", "view", STREAM)
    expect(text, *(pattern for n, article in enumerate(ARTICLES[:5], 1)
                   for pattern in (rf"\[{n}\] Subject: {re.escape(SUBJECT)} Received: ", rf"^ *{article} *$")))


def stream_get(_: Broker, cli: Cli):
    """stream get of the second"""
    expect(cli.run("stream", "get", STREAM, "2"), rf"^Item: {STREAM}#2 received .* on Subject {re.escape(SUBJECT)}$", r"^article 2$")


def live_subscriber(_: Broker, cli: Cli):
    """a live subscriber sees the new messages only, the stream stores them too"""
    with cli.live("sub", SUBJECT) as subscriber:
        subscriber.wait_for(r"Subscribing on hello\.python")
        ready(cli, subscriber)
        for text in ARTICLES[5:]:
            cli.run("pub", SUBJECT, text)
            subscriber.wait_for(rf"(?m)^{text}$")
        received = re.findall(r"^article \d+$", subscriber.stop(), re.M)
    expect_equal("received live", received, ARTICLES[5:])
    expect(cli.run("stream", "info", STREAM), field("Messages", "7"), field("Last Sequence", "7 @ .*"))


def ready(cli: Cli, subscriber) -> None:
    """`nats sub` says that it subscribes a moment before it does, and nothing tells from outside when it has: wait well over that."""
    time.sleep(0.5)
    cli.run("rtt")
    if subscriber.process.poll() is not None:
        raise Failure(f"the subscriber left:\n{subscriber.text()}")


def pull_consumer(_: Broker, cli: Cli):
    """create a pull consumer with explicit acks"""
    expect(cli.run("consumer", "add", STREAM, "reader", "--pull", "--ack", "explicit", "--deliver", "all", "--replay", "instant", "--defaults"),
           rf"^Information for Consumer {STREAM} > reader created ", field("Pull Mode", "true"), field("Deliver Policy", "All"),
           field("Ack Policy", "Explicit"), field("Ack Wait", r"30\.00s"), field("Outstanding Acks", "0 out of maximum 1,000"),
           field("Unprocessed Messages", "7"))
    expect_equal("consumers", consumers(cli), {"reader": ("0", "7")})


def pull(_: Broker, cli: Cli):
    """consumer next delivers all seven, acknowledges each, then times out"""
    text = cli.run("consumer", "next", STREAM, "reader", "--count", "10", "--wait", "2s", status=1)
    wanted = [(SUBJECT, "1", str(n), str(n), str(7 - n), article) for n, article in enumerate(ARTICLES, 1)]
    expect_equal("pulled", PULLED.findall(text), wanted)
    expect(text, r"no message received: nats: timeout")


def nothing_left(_: Broker, cli: Cli):
    """nothing is unprocessed, and the stream still holds all"""
    expect_equal("consumers", consumers(cli), {"reader": ("0", "0")})
    expect(cli.run("consumer", "info", STREAM, "reader"), field("Acknowledgment Floor", "Consumer sequence: 7 Stream sequence: 7 .*"),
           field("Outstanding Acks", "0 out of maximum 1,000"), field("Redelivered Messages", "0"), field("Unprocessed Messages", "0"))
    expect(cli.run("stream", "info", STREAM), field("Messages", "7"), field("First Sequence", "1 @ .*"), field("Active Consumers", "1"))


def durable_push(_: Broker, cli: Cli):
    """a durable push consumer delivers what is stored, then each new message as it comes"""
    expect(cli.run("consumer", "add", STREAM, "archive", "--target", "hello.archive", "--ack", "none", "--deliver", "all",
                   "--replay", "instant", "--defaults"),
           field("Name", "archive"), field("Delivery Subject", r"hello\.archive"), field("Ack Policy", "None"),
           field("Unprocessed Messages", "7"), field("Active Interest", "No interest"))
    with cli.live("sub", "hello.archive") as subscriber:
        subscriber.wait_for(r"(?m)^article 7$")
        expect(cli.run("consumer", "info", STREAM, "archive"), field("Unprocessed Messages", "0"), field("Active Interest", "Active.*"))
        for text in ("article 8", "article 9"):
            expect(cli.run("pub", "--jetstream", SUBJECT, text), rf"Stored in Stream: {STREAM} Sequence: {text[-1]}$")
            subscriber.wait_for(rf"(?m)^{text}$")
        received = PUSHED.findall(subscriber.stop())
    pending = [6, 5, 4, 3, 2, 1, 0, 0, 0]
    wanted = [(SUBJECT, "archive", str(n), str(pending[n - 1]), f"article {n}") for n in range(1, 10)]
    expect_equal("archived", received, wanted)


def ephemeral_push(_: Broker, cli: Cli):
    """an ephemeral push consumer lives as long as its subscriber, the durable ones stay"""
    with cli.live("sub", "hello.others") as subscriber:
        subscriber.wait_for(r"Subscribing on hello\.others")
        ready(cli, subscriber)
        text = cli.run("consumer", "add", STREAM, "--ephemeral", "--target", "hello.others", "--ack", "none", "--deliver", "all",
                       "--replay", "instant", "--defaults")
        name = re.search(rf"Information for Consumer {STREAM} > (\S+) created", text)
        if not name:
            raise Failure(f"no name in:\n{text}")
        subscriber.wait_for(r"(?m)^article 9$")
        expect_equal("consumers with it", sorted(consumers(cli)), sorted([name[1], "archive", "reader"]))
    deadline = time.monotonic() + EPHEMERAL_LIMIT
    while name[1] in (there := consumers(cli)):
        if time.monotonic() > deadline:
            raise Failure(f"the ephemeral consumer is still there {EPHEMERAL_LIMIT} s after its subscriber left")
        time.sleep(0.5)
    expect_equal("consumers that stay", sorted(there), ["archive", "reader"])


def purge(_: Broker, cli: Cli):
    """purge the stream"""
    expect(cli.run("stream", "purge", STREAM, "--force"), field("Messages", "0"), field("First Sequence", "10.*"),
           field("Last Sequence", "9.*"), field("Active Consumers", "2"))
    expect_equal("consumers", {name: left for name, (_, left) in consumers(cli).items()}, {"archive": "0", "reader": "0"})


def remove(_: Broker, cli: Cli):
    """remove it: no streams are left"""
    cli.run("stream", "rm", STREAM, "--force")
    expect(cli.run("stream", "ls"), r"No Streams defined")


def consumers(cli: Cli) -> dict[str, tuple[str, str]]:
    """Name -> (ack pending, unprocessed)."""
    return {row[0]: (row[3], row[4]) for row in table_rows(cli.run("consumer", "ls", STREAM))}


STEPS = [account, create_stream, publish_five, stream_ls, stream_view, stream_get, live_subscriber, pull_consumer, pull, nothing_left,
         durable_push, ephemeral_push, purge, remove]
