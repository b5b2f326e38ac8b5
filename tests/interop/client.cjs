// The JavaScript client against a broker: `client.cjs URL before`, then, after a restart of the broker, `client.cjs URL after`.
"use strict";
const assert = require("node:assert/strict");
const { connect, headers, AckPolicy, DeliverPolicy, StringCodec } = require("nats");

const WAIT = 10_000;
const text = StringCodec();

function check(what, got, wanted) {
  assert.deepEqual(got, wanted, what);
  console.log(`  ok   node: ${what}`);
}

async function failsWith(promise) {
  try {
    return `gave ${await promise}`;
  } catch (error) {
    return error.api_error ? error.api_error.err_code : error.code;
  }
}

/** The next `count` messages of a subscription or consumer iterator. */
async function take(source, count) {
  const taken = [];
  if (count === 0) return taken;
  const late = setTimeout(() => source.stop ? source.stop() : source.unsubscribe(), WAIT);
  for await (const message of source) {
    taken.push(message);
    if (taken.length === count) break;
  }
  clearTimeout(late);
  return taken;
}

async function core(nc) {
  const sub = nc.subscribe("greet.*");
  const head = headers();
  head.set("Lang", "en");
  nc.publish("greet.joe", text.encode("hello"), { headers: head });
  const [message] = await take(sub, 1);
  check("publish and subscribe", [message.subject, message.string()], ["greet.joe", "hello"]);
  check("headers", message.headers.get("Lang"), "en");

  const service = nc.subscribe("upper", { callback: (_, m) => m.respond(text.encode(m.string().toUpperCase())) });
  check("request and reply", (await nc.request("upper", text.encode("abc"), { timeout: WAIT })).string(), "ABC");
  check("no responders", await failsWith(nc.request("nobody.here", undefined, { timeout: WAIT })), "503");
  service.unsubscribe();

  const shares = [0, 0];
  let all;
  const done = new Promise((resolve) => (all = resolve));
  const member = (n) => ({ queue: "group", callback: () => (shares[n]++, shares[0] + shares[1] === 200 && all()) });
  const members = [nc.subscribe("work", member(0)), nc.subscribe("work", member(1))];
  for (let n = 0; n < 200; n++) nc.publish("work");
  await nc.flush();
  await done;
  check("queue group: both members work", [shares[0] + shares[1], shares[0] > 0 && shares[1] > 0], [200, true]);
  members.forEach((one) => one.unsubscribe());
}

async function jetstream(nc) {
  const manager = await nc.jetstreamManager({ timeout: WAIT });
  const js = nc.jetstream({ timeout: WAIT });
  await manager.streams.add({ name: "PARCELS", subjects: ["parcels.>"] });
  for (let n = 1; n <= 10; n++) {
    const ack = await js.publish(`parcels.${n % 2}`, text.encode(`parcel ${n}`));
    assert.deepEqual([ack.stream, ack.seq, ack.duplicate], ["PARCELS", n, false]);
  }
  check("JetStream publish", (await manager.streams.info("PARCELS")).state.messages, 10);
  check("duplicate detected", [
    (await js.publish("parcels.1", "once", { msgID: "id-1" })).duplicate,
    (await js.publish("parcels.1", "once", { msgID: "id-1" })).duplicate,
  ], [false, true]);
  check("expected last sequence", await failsWith(js.publish("parcels.1", "", { expect: { lastSequence: 99 } })), 10071);
  check("no such stream", await failsWith(manager.streams.info("NOWHERE")), 10059);

  await manager.consumers.add("PARCELS", { durable_name: "puller", ack_policy: AckPolicy.Explicit });
  const puller = await js.consumers.get("PARCELS", "puller");
  const batch = await take(await puller.fetch({ max_messages: 4, expires: WAIT }), 4);
  check("pull", batch.map((m) => [m.string(), m.info.pending]), [1, 2, 3, 4].map((n) => [`parcel ${n}`, 11 - n]));
  check("confirmed acks", await Promise.all(batch.map((m) => m.ackAck({ timeout: WAIT }))), [true, true, true, true]);

  const inbox = "pushed.parcels";
  const pushed = nc.subscribe(inbox, { max: 5 });
  await manager.consumers.add("PARCELS", {
    durable_name: "pusher", deliver_subject: inbox, ack_policy: AckPolicy.None, filter_subject: "parcels.0", deliver_policy: DeliverPolicy.All,
  });
  check("push with a filter", (await take(pushed, 5)).map((m) => m.string()), [2, 4, 6, 8, 10].map((n) => `parcel ${n}`));

  const ordered = await js.consumers.get("PARCELS");
  check("ordered consumer", (await take(await ordered.consume(), 11)).map((m) => m.seq), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
}

async function buckets(nc) {
  const kv = await nc.jetstream({ timeout: WAIT }).views.kv("parameters", { history: 3 });
  check("KV put", [await kv.put("colour", "red"), await kv.put("colour", "green")], [1, 2]);
  check("KV get", await kv.get("colour").then((e) => [e.string(), e.revision]), ["green", 2]);
  check("KV update", await kv.update("colour", "blue", 2), 3);
  check("KV update on an old revision", await failsWith(kv.update("colour", "grey", 2)), 10071);
  const watch = await kv.watch({ key: "colour" });
  const seen = take(watch, 2);
  await kv.put("colour", "white");
  check("KV watch", (await seen).map((e) => e.string()), ["blue", "white"]);
  await kv.put("size", "10");
  await kv.delete("size");
  check("KV delete", await kv.get("size").then((e) => [e.operation, e.length]), ["DEL", 0]);
}

async function afterRestart(nc) {
  const manager = await nc.jetstreamManager({ timeout: WAIT });
  const js = nc.jetstream({ timeout: WAIT });
  const { state } = await manager.streams.info("PARCELS");
  check("after the restart: the stream", [state.messages, state.first_seq, state.last_seq], [11, 1, 11]);
  const puller = await js.consumers.get("PARCELS", "puller");
  const batch = await take(await puller.fetch({ max_messages: 7, expires: WAIT }), 7);
  check("after the restart: the consumer goes on where it was", batch.map((m) => m.seq), [5, 6, 7, 8, 9, 10, 11]);
  const kv = await js.views.kv("parameters");
  check("after the restart: KV", (await kv.get("colour")).string(), "white");
  for (const name of ["PARCELS", "KV_parameters"]) await manager.streams.delete(name);
  check("delete streams", (await manager.getAccountInfo()).streams, 0);
}

async function main(url, phase) {
  const nc = await connect({ servers: url, reconnect: false });
  if (phase === "before") {
    await core(nc);
    await jetstream(nc);
    await buckets(nc);
  } else {
    await afterRestart(nc);
  }
  await nc.close();
}

main(...process.argv.slice(2)).catch((error) => {
  console.error(error);
  process.exit(1);
});
