mod wire;
use wire::*;

#[test]
fn a_message_reaches_its_subscriber() {
    let core = core();
    assert_eq!(core.wire(Some(QUIET), "SUB foo 1\r\nPUB foo 2\r\nhi\r\n"), ["MSG foo 1 2", "hi"]);
}
