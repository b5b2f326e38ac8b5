use super::*;
use proptest::prelude::*;

const LIMITS: Limits = Limits { max_control_line: 4096, max_payload: 1 << 20, headers: true };

fn all(data: &[u8]) -> (Vec<Op>, Option<Violation>) {
    let (mut ops, mut at) = (Vec::new(), 0);
    loop {
        match parse(data, at, &LIMITS) {
            Parsed::Op(op, next) => {
                ops.push(op);
                at = next;
            }
            Parsed::Partial(until) => {
                assert!(until > data.len());
                return (ops, None);
            }
            Parsed::Violation(violation) => return (ops, Some(violation)),
        }
    }
}

fn encoded(data: &str, sid: &str, headers: bool) -> String {
    let (ops, violation) = all(data.as_bytes());
    assert_eq!(violation, None);
    let mut out = Vec::new();
    for op in ops {
        let Op::Pub(op) = op else { panic!("only publishes") };
        encode_one(&mut out, data.as_bytes(), &op, sid.as_bytes(), headers);
    }
    String::from_utf8(out).expect("text")
}

#[test]
fn a_publish_becomes_a_message() {
    assert_eq!(encoded("PUB foo 2\r\nhi\r\n", "7", true), "MSG foo 7 2\r\nhi\r\n");
    assert_eq!(encoded("PUB foo re 2\r\nhi\r\n", "7", true), "MSG foo 7 re 2\r\nhi\r\n");
    let block = "NATS/1.0\r\n\r\n";
    let hpub = format!("HPUB foo re 12 14\r\n{block}hi\r\n");
    assert_eq!(encoded(&hpub, "7", true), format!("HMSG foo 7 re 12 14\r\n{block}hi\r\n"));
    assert_eq!(encoded(&hpub, "7", false), "MSG foo 7 re 2\r\nhi\r\n");
    assert_eq!(encoded("HPUB foo 0 2\r\nhi\r\n", "7", true), "MSG foo 7 2\r\nhi\r\n");
    assert_eq!(encoded("pub \tfoo  re\t2 \nhi\r\n", "7", true), "MSG foo 7 re 2\r\nhi\r\n");
}

#[test]
fn a_503_says_which_subject() {
    let mut out = Vec::new();
    encode_no_responders(&mut out, b"in", b"1", b"a.b");
    assert_eq!(out, b"HMSG in 1 35 35\r\nNATS/1.0 503\r\nNats-Subject: a.b\r\n\r\n\r\n");
}

#[test]
fn the_fast_way_stops_at_what_it_does_not_like() {
    let data = b"PUB a 1\r\nx\r\nPUB a 1\r\ny\r\nPUB b 1\r\nz\r\nPUB $GR.x 1\r\nx\r\n";
    let mut ops = Vec::new();
    let at = take_pubs(data, 0, &LIMITS, &mut ops, |subject, _| !subject.starts_with(b"$"));
    assert_eq!((ops.len(), &data[at..at + 9]), (3, &b"PUB $GR.x"[..]));
    assert_eq!(ops.iter().map(PubOp::has_same_subject).collect::<Vec<_>>(), [false, true, false]);
}

fn operation() -> impl Strategy<Value = Vec<u8>> {
    let blank = prop_oneof![4 => Just(" "), 1 => Just("\t "), 1 => Just("  ")];
    let verb = prop_oneof![8 => Just("PUB"), 1 => Just("pub"), 2 => Just("SUB"), 1 => Just("PING"), 1 => Just("UNSUB"), 1 => Just("PUBX")];
    let payload = proptest::collection::vec(any::<u8>(), 0..80);
    (verb, blank, "[a-c.*>]{1,9}", proptest::option::of("[a-z.]{1,40}"), payload, 0..20u8).prop_map(
        |(verb, blank, subject, reply, payload, slip)| {
            let reply = reply.map(|reply| format!("{reply}{blank}")).unwrap_or_default();
            let mut line = match verb {
                "PING" => b"PING\r\n".to_vec(),
                "SUB" | "UNSUB" => format!("{verb}{blank}{subject}{blank}{reply}1\r\n").into_bytes(),
                _ => format!("{verb}{blank}{subject}{blank}{reply}{}\r\n", payload.len() + usize::from(slip == 0))
                    .into_bytes(),
            };
            if verb.eq_ignore_ascii_case("pub") {
                line.extend_from_slice(&payload);
                line.extend_from_slice(b"\r\n");
            }
            line
        },
    )
}

proptest! {
    #[test]
    fn pieces_do_not_matter(ops in proptest::collection::vec(operation(), 1..12), cut in 0.0..1.0f64) {
        let data = ops.concat();
        let (whole, violation) = all(&data);
        let (some, early) = all(&data[..(data.len() as f64 * cut) as usize]);
        prop_assert_eq!(&some[..], &whole[..some.len()]);
        prop_assert!(early.is_none() || (some.len() == whole.len() && violation.is_some()));
    }

    #[test]
    fn the_fast_way_finds_the_same(ops in proptest::collection::vec(operation(), 1..12), repeat in 1..4usize) {
        let data = ops.iter().flat_map(|op| op.repeat(repeat)).collect::<Vec<u8>>();
        let mut found = Vec::new();
        let stopped = take_pubs(&data, 0, &LIMITS, &mut found, |_, _| true);
        let mut at = 0;
        for op in &found {
            let Parsed::Op(Op::Pub(same), next) = parse(&data, at, &LIMITS) else { panic!("found only by the fast way") };
            prop_assert_eq!(same.subject(&data), op.subject(&data));
            prop_assert_eq!(same.reply(&data), op.reply(&data));
            prop_assert_eq!(same.payload(&data), op.payload(&data));
            prop_assert_eq!(same.tail(&data), op.tail(&data));
            at = next;
        }
        prop_assert_eq!(at, stopped);
    }

    #[test]
    fn a_run_is_its_messages(size in 0..200usize, count in 1..50usize, sid in "[0-9]{1,70}", headers: bool) {
        let line = format!("PUB some.subject {size}\r\n{}\r\n", "x".repeat(size));
        let data = line.repeat(count).into_bytes();
        let mut ops = Vec::new();
        take_pubs(&data, 0, &LIMITS, &mut ops, |_, _| true);
        prop_assert_eq!(ops.len(), count);
        let (mut single, mut run) = (b"before".to_vec(), b"before".to_vec());
        ops.iter().for_each(|op| encode_one(&mut single, &data, op, sid.as_bytes(), headers));
        encode_run(&mut run, &data, &ops, sid.as_bytes(), headers);
        prop_assert_eq!(single, run);
    }

    #[test]
    fn bytes_do_no_harm(data in proptest::collection::vec(any::<u8>(), 0..300)) {
        all(&data);
        take_pubs(&data, 0, &LIMITS, &mut Vec::new(), |_, _| true);
    }
}
