//! Whatever a client sends: the parser neither panics nor reads past what is there, and it does not matter in what
//! pieces the bytes came.
#![no_main]

use libfuzzer_sys::fuzz_target;
use postroom::protocol::{Limits, Op, Parsed, Violation, encode_one, encode_run, parse, take_pubs};

fuzz_target!(|input: (u8, &[u8])| {
    let (cut, data) = input;
    let limits = Limits { max_control_line: 512, max_payload: 4096, headers: true };
    let whole = operations(data, &limits);
    // A part of it holds the first of the same operations, and is wrong only where the whole is.
    let part = &data[..data.len() * usize::from(cut) / 255];
    let (some, violation) = operations(part, &limits);
    assert_eq!(some[..], whole.0[..some.len()]);
    assert!(violation.is_none() || (some.len() == whole.0.len() && whole.1.is_some()));
    // The fast way finds what the thorough way finds.
    let mut ops = Vec::new();
    let stopped = take_pubs(data, 0, &limits, &mut ops, |_, _| true);
    let (mut at, mut out) = (0, Vec::new());
    for op in &ops {
        let Parsed::Op(Op::Pub(same), next) = parse(data, at, &limits) else { panic!("only the fast way found it") };
        assert_eq!(
            (same.subject(data), same.reply(data), same.payload(data)),
            (op.subject(data), op.reply(data), op.payload(data))
        );
        encode_one(&mut out, data, op, b"1", true);
        at = next;
    }
    assert_eq!(at, stopped);
    for run in ops.chunk_by(|_, next| next.has_same_subject()) {
        let (mut one_by_one, mut together) = (Vec::new(), Vec::new());
        run.iter().for_each(|op| encode_one(&mut one_by_one, data, op, b"sid", true));
        encode_run(&mut together, data, run, b"sid", true);
        assert_eq!(one_by_one, together);
    }
});

fn operations(data: &[u8], limits: &Limits) -> (Vec<Op>, Option<Violation>) {
    let (mut ops, mut at) = (Vec::new(), 0);
    loop {
        match parse(data, at, limits) {
            Parsed::Op(op, next) => {
                assert!(next > at && next <= data.len());
                if let Op::Pub(op) = &op {
                    let mut out = Vec::new();
                    encode_one(&mut out, data, op, b"sid", false);
                    encode_one(&mut out, data, op, b"sid", true);
                }
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
