use super::messages::*;
use super::*;
use crate::account::AccountId;
use crate::actor::ear::ear;
use crate::actor::{House, Mailbox, Timers, launch_here};
use crate::protocol::{Limits, PubOp, StoredMessage, take_pubs};
use bytes::Bytes;
use std::time::Duration;
use tokio::sync::mpsc::UnboundedReceiver;

const ACCOUNT: AccountId = AccountId::GLOBAL;
const OPTIONS: Options = Options { stall_above: 1000, stall_below: 500, stall_time: Duration::from_millis(10) };

fn router() -> Mailbox<Router> {
    let timers = launch_here(&House::default(), |_| Timers::new("t"));
    launch_here(&House::default(), |own| Router::new(&own, RouterId(0), 1, timers, OPTIONS))
}

struct Service {
    id: ServiceId,
    ingest: UnboundedReceiver<Ingest>,
    receipt: UnboundedReceiver<Receipt>,
    interest: UnboundedReceiver<Interest>,
}

fn service(router: &Mailbox<Router>, id: u64) -> Service {
    let ((to, ingest), (receipts, receipt), (interests, interest)) = (ear(), ear(), ear());
    let port = ServicePort { ingest: to, receipt: Some(receipts), interest: Some(interests) };
    router.send(Enlist { id: ServiceId(id), account: ACCOUNT, port });
    Service { id: ServiceId(id), ingest, receipt, interest }
}

fn client(router: &Mailbox<Router>, id: u64, traits: Traits) -> UnboundedReceiver<FromRouter> {
    let (port, heard) = ear();
    router.send(Enter { id, account: ACCOUNT, port, traits, max_pending: 1 << 20 });
    heard
}

fn subscribe(router: &Mailbox<Router>, id: u64, key: u32, subject: &'static str) {
    let subject = Bytes::from_static(subject.as_bytes());
    let change = Change::Subscribe { key, subject, queue: None, sid: "9".into(), except: Default::default() };
    router.send(Changes { id, list: [change].into() });
}

fn batch(id: u64, data: &str) -> PubBatch {
    let limits = Limits { max_control_line: 4096, max_payload: 1 << 20, headers: true };
    let (buffer, mut ops): (_, Vec<PubOp>) = (data.as_bytes().to_vec(), Vec::new());
    assert_eq!(take_pubs(&buffer, 0, &limits, &mut ops, |_, _| true), buffer.len());
    PubBatch { id, buffer, ops }
}

fn text(heard: FromRouter) -> String {
    match heard {
        FromRouter::Deliver(deliver) => {
            deliver.segments.iter().map(|segment| String::from_utf8_lossy(&segment.bytes).into_owned()).collect()
        }
        FromRouter::Ack(_) => "ack".into(),
        FromRouter::Settled => "settled".into(),
        other => format!("{other:?}"),
    }
}

#[actix_rt::test]
async fn a_service_hears_what_it_listens_to_except_what_it_does_not_want() {
    let router = router();
    let mut service = service(&router, 1);
    let mut publisher = client(&router, 2, Traits::default());
    let except = vec![Bytes::from_static(b"a.no")];
    router.send(Listen { id: service.id, tag: 7, subject: "a.*".into(), except });
    router.send(batch(2, "PUB a.b re 2\r\nhi\r\nPUB a.no 1\r\nx\r\nPUB a.c 0\r\n\r\n"));
    assert_eq!(text(publisher.recv().await.unwrap()), "ack");
    let ingest = service.ingest.recv().await.unwrap();
    let shown: Vec<_> = ingest
        .messages
        .iter()
        .map(|m| {
            (
                m.tag,
                m.client,
                part(&ingest.buffer, &m.subject),
                part(&ingest.buffer, &m.reply),
                part(&ingest.buffer, &m.payload),
            )
        })
        .collect();
    assert_eq!(shown, [(7, 2, &b"a.b"[..], &b"re"[..], &b"hi"[..]), (7, 2, b"a.c", b"", b"")]);
    router.send(Unlisten { id: service.id, tag: 7 });
    router.send(batch(2, "PUB a.b 1\r\nx\r\n"));
    assert_eq!(text(publisher.recv().await.unwrap()), "ack");
    assert!(service.ingest.try_recv().is_err());
}

#[actix_rt::test]
async fn a_service_that_does_not_release_holds_publishers_back_for_a_while() {
    let router = router();
    let mut service = service(&router, 1);
    let mut publisher = client(&router, 2, Traits::default());
    router.send(Listen { id: service.id, tag: 0, subject: "a".into(), except: Vec::new() });
    let load = format!("PUB a 600\r\n{}\r\n", "x".repeat(600)).repeat(2);
    router.send(batch(2, &load));
    let bytes = service.ingest.recv().await.unwrap().bytes;
    assert!(publisher.try_recv().is_err(), "the buffer is kept");
    router.send(Release { id: service.id, bytes });
    assert_eq!(text(publisher.recv().await.unwrap()), "ack");
    router.send(batch(2, &load));
    assert_eq!(text(publisher.recv().await.unwrap()), "ack", "not longer than the stall time");
    assert!(service.ingest.recv().await.is_some());
}

#[actix_rt::test]
async fn a_receipt_names_what_reached_nobody_and_waits_for_room() {
    let router = router();
    let mut service = service(&router, 1);
    let mut reader = client(&router, 2, Traits::default());
    subscribe(&router, 2, 0, "a");
    assert_eq!(text(reader.recv().await.unwrap()), "settled");
    let mut outbox = Outbox::default();
    outbox.message(b"nobody", b"", b"", b"x");
    outbox.message(b"a", b"re", b"", &[b'y'; 1200]);
    router.send(outbox.take(service.id, ACCOUNT, Some(5)).unwrap());
    assert!(text(reader.recv().await.unwrap()).starts_with("MSG a 9 re 1200\r\nyyy"));
    tokio::time::sleep(Duration::from_millis(30)).await;
    assert!(service.receipt.try_recv().is_err(), "services wait as long as it takes");
    router.send(Drained { id: 2, bytes: 1000 });
    let receipt = service.receipt.recv().await.unwrap();
    assert_eq!((receipt.number, receipt.undelivered), (5, vec![0]));
}

#[actix_rt::test]
async fn stored_messages_are_shown_as_they_were_stored() {
    let router = router();
    let service = service(&router, 1);
    let mut rich = client(&router, 2, Traits { headers: true, ..Traits::default() });
    let mut plain = client(&router, 3, Traits::default());
    for id in [2, 3] {
        subscribe(&router, id, 0, "deliver.here");
    }
    let buffer = Bytes::from_static(b"orders.1NATS/1.0\r\nA: b\r\n\r\nbody");
    let stored = StoredMessage::new(1, 0, buffer.clone(), 0..8, 8..26, 26..30).unwrap();
    let bare = StoredMessage::new(2, 0, buffer, 0..8, 8..8, 26..30).unwrap();
    let mut outbox = Outbox::default();
    let shown = Presentation { reply: b"ack", extra_headers: b"X: 1\r\n", headers_only: false };
    outbox.stored(b"deliver.here", stored, shown);
    outbox.stored(b"deliver.here", bare, Presentation { headers_only: true, ..shown });
    router.send(outbox.take(service.id, ACCOUNT, None).unwrap());
    rich.recv().await;
    plain.recv().await;
    let expected = "HMSG orders.1 9 ack 24 28\r\nNATS/1.0\r\nA: b\r\nX: 1\r\n\r\nbody\r\n\
                    HMSG orders.1 9 ack 18 18\r\nNATS/1.0\r\nX: 1\r\n\r\n\r\n";
    assert_eq!(text(rich.recv().await.unwrap()), expected);
    let expected = "MSG orders.1 9 ack 4\r\nbody\r\nMSG orders.1 9 ack 0\r\n\r\n";
    assert_eq!(text(plain.recv().await.unwrap()), expected);
}

#[actix_rt::test]
async fn interest_is_told_at_once_and_at_every_change() {
    let router = router();
    let mut service = service(&router, 1);
    let _reader = client(&router, 2, Traits::default());
    router.send(Watch { id: service.id, tag: 3, subject: "a.b".into(), queue: None });
    let heard = service.interest.recv().await.unwrap();
    assert_eq!((heard.tag, heard.present), (3, vec![false]));
    subscribe(&router, 2, 0, "a.*");
    subscribe(&router, 2, 1, "a.b");
    assert_eq!(service.interest.recv().await.unwrap().present, [true], "a wildcard does not count");
    router.send(AskInterest { id: service.id, tag: 4, subjects: vec!["a.x".into(), "b".into()] });
    let heard = service.interest.recv().await.unwrap();
    assert_eq!((heard.tag, heard.present), (4, vec![true, false]));
    router.send(Leave { id: 2 });
    assert_eq!(service.interest.recv().await.unwrap().present, [false]);
    router.send(Unwatch { id: service.id, tag: 3 });
    router.send(Dismiss { id: service.id });
}

#[actix_rt::test]
async fn deliveries_precede_the_permit_and_cover_the_round() {
    let router = router();
    let mut own = client(&router, 2, Traits { echo: true, ..Traits::default() });
    subscribe(&router, 2, 0, "a");
    assert_eq!(text(own.recv().await.unwrap()), "settled");
    router.send(batch(2, "PUB a 1\r\nx\r\nPUB a 1\r\ny\r\n"));
    assert_eq!(text(own.recv().await.unwrap()), "MSG a 9 1\r\nx\r\nMSG a 9 1\r\ny\r\n");
    assert_eq!(text(own.recv().await.unwrap()), "ack");
}
