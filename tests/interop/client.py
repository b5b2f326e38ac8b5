"""The Python client against a broker: `client.py URL before`, then, after a restart of the broker, `client.py URL after`."""
import asyncio
import sys

import nats
from nats.errors import NoRespondersError, TimeoutError
from nats.js.api import AckPolicy, ConsumerConfig, DeliverPolicy
from nats.js.errors import APIError, BadRequestError, KeyNotFoundError, NotFoundError

WAIT = 10


def check(what: str, got, wanted) -> None:
    if got != wanted:
        raise AssertionError(f"{what}: {got!r}, not {wanted!r}")
    print(f"  ok   python: {what}", flush=True)


async def fails_with(kind, awaitable) -> str:
    try:
        return f"gave {await awaitable!r}"
    except kind:
        return kind.__name__


async def core(nc) -> None:
    sub = await nc.subscribe("greet.*")
    await nc.publish("greet.joe", b"hello", headers={"Lang": "en", "Tone": "kind"})
    msg = await sub.next_msg(WAIT)
    check("publish and subscribe", (msg.subject, msg.data), ("greet.joe", b"hello"))
    check("headers", dict(msg.headers), {"Lang": "en", "Tone": "kind"})

    await sub.unsubscribe()
    await nc.publish("greet.joe", b"unheard")
    await nc.flush()
    check("unsubscribe", sub.pending_msgs, 0)

    async def answer(question):
        await question.respond(question.data.upper())
    service = await nc.subscribe("upper", cb=answer)
    check("request and reply", (await nc.request("upper", b"abc", timeout=WAIT)).data, b"ABC")
    check("no responders", await fails_with(NoRespondersError, nc.request("nobody.here", b"", timeout=WAIT)), "NoRespondersError")
    await service.unsubscribe()

    shares = {"a": [], "b": []}

    def member(name):
        async def take(msg):
            shares[name].append(msg.data)
        return take
    members = [await nc.subscribe("work", queue="group", cb=member(name)) for name in shares]
    await nc.flush()
    for number in range(200):
        await nc.publish("work", b"%d" % number)
    for _ in range(WAIT * 100):
        if sum(map(len, shares.values())) >= 200:
            break
        await asyncio.sleep(0.01)
    check("queue group: each message once", sorted(shares["a"] + shares["b"], key=int), [b"%d" % n for n in range(200)])
    check("queue group: both members work", all(shares.values()), True)
    for one in members:
        await one.unsubscribe()

    big = bytes(range(256)) * 2000
    echo = await nc.subscribe("big")
    await nc.publish("big", big)
    check("half a megabyte arrives whole", (await echo.next_msg(WAIT)).data == big, True)


async def jetstream(js) -> None:
    await js.add_stream(name="ORDERS", subjects=["orders.>"])
    for number in range(1, 11):
        ack = await js.publish(f"orders.{number % 2}", b"order %d" % number, headers={"Number": str(number)})
        if (ack.stream, ack.seq) != ("ORDERS", number):
            raise AssertionError(f"PubAck {ack}")
    check("JetStream publish", (await js.stream_info("ORDERS")).state.messages, 10)

    first = await js.publish("orders.1", b"once", headers={"Nats-Msg-Id": "id-1"})
    again = await js.publish("orders.1", b"once", headers={"Nats-Msg-Id": "id-1"})
    check("duplicate detected", (first.duplicate, again.duplicate, again.seq), (None, True, 11))
    wrong = js.publish("orders.1", b"", headers={"Nats-Expected-Last-Sequence": "99"})
    check("expected last sequence", await fails_with(BadRequestError, wrong), "BadRequestError")
    check("no such stream", await fails_with(NotFoundError, js.stream_info("NOWHERE")), "NotFoundError")

    puller = await js.pull_subscribe("orders.>", durable="puller")
    batch = await puller.fetch(4, timeout=WAIT)
    check("pull", [m.data for m in batch], [b"order %d" % n for n in range(1, 5)])
    check("pull: metadata", [(m.metadata.sequence.stream, m.metadata.num_pending, m.metadata.num_delivered) for m in batch],
          [(n, 11 - n, 1) for n in range(1, 5)])
    for msg in batch:
        await msg.ack_sync(WAIT)

    refuser = await js.pull_subscribe("orders.>", durable="refuser")
    await (await refuser.fetch(1, timeout=WAIT))[0].nak()
    tries = {}
    while len(tries) < 11 or tries[1] < 2:
        for msg in await refuser.fetch(11, timeout=WAIT):
            tries[msg.metadata.sequence.stream] = msg.metadata.num_delivered
            await msg.ack()
    check("nak delivers again", tries, {1: 2} | {n: 1 for n in range(2, 12)})

    pushed = []
    done = asyncio.Event()

    async def take(msg):
        pushed.append(msg.data)
        await msg.ack()
        if len(pushed) == 5:
            done.set()
    sub = await js.subscribe("orders.0", durable="pusher", cb=take, manual_ack=True)
    await asyncio.wait_for(done.wait(), WAIT)
    check("push with a filter", pushed, [b"order %d" % n for n in (2, 4, 6, 8, 10)])
    await sub.drain()

    ordered = await js.subscribe("orders.>", ordered_consumer=True)
    check("ordered consumer", [(await ordered.next_msg(WAIT)).metadata.sequence.stream for _ in range(11)], list(range(1, 12)))
    await ordered.unsubscribe()

    late = await js.pull_subscribe("orders.>", durable="late", config=ConsumerConfig(deliver_policy=DeliverPolicy.LAST, ack_policy=AckPolicy.EXPLICIT))
    check("deliver last", [m.data for m in await late.fetch(1, timeout=WAIT)], [b"once"])
    check("nothing more: timeout", await fails_with(TimeoutError, late.fetch(1, timeout=1)), "TimeoutError")

    check("get a message", ((await js.get_msg("ORDERS", 3)).data, (await js.get_last_msg("ORDERS", "orders.0")).seq), (b"order 3", 10))
    check("delete a message", (await js.delete_msg("ORDERS", 5), await fails_with(NotFoundError, js.get_msg("ORDERS", 5))), (True, "NotFoundError"))


async def buckets(js) -> None:
    kv = await js.create_key_value(bucket="settings", history=3)
    check("KV put", [await kv.put("colour", value) for value in (b"red", b"green")], [1, 2])
    check("KV get", ((await kv.get("colour")).value, (await kv.get("colour")).revision), (b"green", 2))
    check("KV update", await kv.update("colour", b"blue", last=2), 3)
    check("KV update on an old revision", await fails_with(APIError, kv.update("colour", b"grey", last=2)), "APIError")
    watcher = await kv.watch("colour")
    seen = [(await watcher.updates(WAIT)).value, await watcher.updates(WAIT)]
    await kv.put("colour", b"white")
    seen.append((await watcher.updates(WAIT)).value)
    check("KV watch", seen, [b"blue", None, b"white"])
    await watcher.stop()
    await kv.put("size", b"10")
    check("KV keys", sorted(await kv.keys()), ["colour", "size"])
    await kv.delete("size")
    check("KV delete", await fails_with(KeyNotFoundError, kv.get("size")), "KeyNotFoundError")
    check("KV history", [e.value for e in await kv.history("colour")], [b"green", b"blue", b"white"])

    store = await js.create_object_store(bucket="files")
    body = bytes(range(256)) * 2000
    await store.put("image", body)
    check("object store", (await store.get("image")).data == body, True)


async def after_restart(js) -> None:
    state = (await js.stream_info("ORDERS")).state
    check("after the restart: the stream", (state.messages, state.first_seq, state.last_seq, state.num_deleted), (10, 1, 11, 1))
    puller = await js.pull_subscribe_bind("puller", "ORDERS")
    batch = await puller.fetch(6, timeout=WAIT)
    check("after the restart: the consumer goes on where it was", [m.metadata.sequence.stream for m in batch], [6, 7, 8, 9, 10, 11])
    kv = await js.key_value("settings")
    check("after the restart: KV", ((await kv.get("colour")).value, await kv.keys()), (b"white", ["colour"]))
    check("after the restart: object store", len((await (await js.object_store("files")).get("image")).data), 512_000)
    for name in ("ORDERS", "KV_settings", "OBJ_files"):
        await js.delete_stream(name)
    check("delete streams", (await js.account_info()).streams, 0)


async def main(url: str, phase: str) -> None:
    nc = await nats.connect(url, allow_reconnect=False)
    js = nc.jetstream(timeout=WAIT)
    if phase == "before":
        await core(nc)
        await jetstream(js)
        await buckets(js)
    else:
        await after_restart(js)
    await nc.close()


asyncio.run(main(*sys.argv[1:]))
