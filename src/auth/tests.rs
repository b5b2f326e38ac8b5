use super::*;
use crate::protocol::Connect;

fn connect(json: &str) -> Connect {
    Connect::parse(json.as_bytes()).expect("valid CONNECT")
}

fn listed(users: &[(&str, &str)], no_auth_user: &str) -> AuthSettings {
    let user = |&(user, password): &(&str, &str)| UserSettings { user: user.into(), password: password.into() };
    AuthSettings { users: users.iter().map(user).collect(), no_auth_user: no_auth_user.into(), ..Default::default() }
}

fn single(user: &str, password: &str) -> AuthSettings {
    AuthSettings { user: user.into(), password: password.into(), ..Default::default() }
}

fn token(token: &str) -> AuthSettings {
    AuthSettings { token: token.into(), ..Default::default() }
}

/// bcrypt of `secret`, at the lowest cost there is.
fn hashed(version: bcrypt::Version) -> String {
    bcrypt::hash_with_salt("secret", 4, [7; 16]).expect("a valid cost").format_for_version(version)
}

#[test]
fn an_open_server_asks_nobody() {
    let users = Users::new(&AuthSettings::default()).expect("no conflict");
    assert!(!users.is_required() && !users.has_plaintext());
    for json in ["{}", r#"{"user":"x","pass":"y"}"#, r#"{"auth_token":"t"}"#] {
        let identity = users.check(&connect(json)).expect("open");
        assert_eq!((identity.method, identity.authorized_user(), identity.label()), (Method::Open, "", None));
    }
    assert!(users.without_connect().is_some());
}

#[test]
fn a_token_is_only_taken_as_token() {
    let users = Users::new(&token("tok")).expect("no conflict");
    assert!(users.is_required() && users.has_plaintext() && users.without_connect().is_none());
    let identity = users.check(&connect(r#"{"auth_token":"tok"}"#)).expect("right");
    assert_eq!((identity.authorized_user(), identity.label().as_deref()), ("[REDACTED]", Some("token")));
    assert_eq!(users.check(&connect(r#"{"auth_token":"to"}"#)), Err(Denied::Token));
    assert_eq!(users.check(&connect(r#"{"user":"tok"}"#)), Err(Denied::User("tok".into())));
    assert_eq!(users.check(&connect("{}")), Err(Denied::Anonymous));
}

#[test]
fn a_single_user() {
    let users = Users::new(&single("u", "p")).expect("no conflict");
    let identity = users.check(&connect(r#"{"user":"u","pass":"p"}"#)).expect("right");
    assert_eq!((identity.authorized_user(), identity.label().as_deref()), ("u", Some("user:u")));
    let bare = Users::new(&single("u", "")).expect("no conflict");
    assert!(bare.check(&connect(r#"{"user":"u"}"#)).is_ok());
    assert!(bare.check(&connect(r#"{"user":"u","pass":"p"}"#)).is_err() && bare.check(&connect("{}")).is_err());
    for wrong in [r#"{"user":"u"}"#, r#"{"user":"u","pass":"q"}"#, r#"{"user":"U","pass":"p"}"#, r#"{"pass":"p"}"#] {
        assert!(users.check(&connect(wrong)).is_err(), "{wrong}");
    }
}

#[test]
fn a_list_of_users_and_who_is_meant_by_nobody() {
    let users = Users::new(&listed(&[("a", "x"), ("b", "y")], "b")).expect("no conflict");
    assert!(!users.is_required());
    assert_eq!(users.check(&connect(r#"{"user":"a","pass":"x"}"#)).expect("right").method, Method::User);
    assert!(users.check(&connect(r#"{"nkey":"UAB","sig":"x","jwt":"x"}"#)).is_ok());
    assert!(users.check(&connect(r#"{"user":"a","pass":"x","auth_token":"t"}"#)).is_ok());
    assert!(users.check(&connect(r#"{"pass":"y"}"#)).is_err() && users.check(&connect(r#"{"user":"b"}"#)).is_err());
    let nobody = users.check(&connect("{}")).expect("taken for b");
    assert_eq!((nobody.method, nobody.authorized_user()), (Method::NoAuthUser, "b"));
    assert_eq!(users.without_connect(), Some(nobody));
    assert!(users.check(&connect(r#"{"user":"b","pass":"x"}"#)).is_err());
    assert!(users.check(&connect(r#"{"auth_token":"x"}"#)).is_err());
    let strict = Users::new(&listed(&[("a", "x")], "")).expect("no conflict");
    assert!(strict.is_required() && strict.without_connect().is_none() && strict.check(&connect("{}")).is_err());
}

#[test]
fn hashes_are_told_from_plain_texts() {
    for version in ["2a", "2b", "2x", "2y"] {
        assert!(is_bcrypt_hash(&format!("${version}$04$abc")), "{version}");
    }
    for plain in ["", "$2a$", "$2c$04$", "$2a$4$x", "$2a$04", "2a$04$x", "$2a$0x$y"] {
        assert!(!is_bcrypt_hash(plain), "{plain}");
    }
}

#[test]
fn every_kind_of_hash_is_compared() {
    for version in [bcrypt::Version::TwoA, bcrypt::Version::TwoB, bcrypt::Version::TwoX, bcrypt::Version::TwoY] {
        let users = Users::new(&listed(&[("a", &hashed(version))], "")).expect("no conflict");
        assert!(!users.has_plaintext());
        let right = users.attempt(&connect(r#"{"user":"a","pass":"secret"}"#));
        assert!(right.is_bcrypt() && right.run().is_ok());
        assert!(users.check(&connect(r#"{"user":"a","pass":"Secret"}"#)).is_err());
        assert!(!users.attempt(&connect(r#"{"user":"b","pass":"secret"}"#)).is_bcrypt());
    }
    let broken = Users::new(&token("$2a$04$nonsense")).expect("no conflict");
    assert!(broken.check(&connect(r#"{"auth_token":"$2a$04$nonsense"}"#)).is_err());
}

#[test]
fn an_attempt_runs_elsewhere_and_shows_no_secret() {
    let users = Users::new(&single("u", "hidden1")).expect("no conflict");
    let attempt = users.attempt(&connect(r#"{"user":"u","pass":"hidden2"}"#));
    assert!(!format!("{attempt:?} {users:?}").contains("hidden"));
    let verdict = std::thread::spawn(move || attempt.run()).join().expect("no panic");
    assert_eq!(verdict, Err(Denied::User("u".into())));
}

#[test]
fn refusals_are_logged_in_known_words() {
    let log = |denied: Denied| denied.to_string();
    assert_eq!(log(Denied::User("x".into())), "authentication error - User \"x\"");
    assert_eq!(log(Denied::Nkey("UX".into())), "authentication error - Nkey \"UX\"");
    assert_eq!(log(Denied::Token), "authentication error - Token \"[REDACTED]\"");
    assert_eq!(log(Denied::Anonymous), "authentication error");
}

#[test]
fn contradictions_are_told() {
    let conflict = |settings: AuthSettings| Users::new(&settings).expect_err("a conflict").to_string();
    let both = AuthSettings { token: "t".into(), ..single("u", "p") };
    assert_eq!(conflict(both), "Cannot have a user/pass and token");
    let both = AuthSettings { users: listed(&[("a", "x")], "").users, ..single("u", "p") };
    assert_eq!(conflict(both), "Can not have a single user/pass and a users array");
    let both = AuthSettings { users: listed(&[("a", "x")], "").users, ..token("t") };
    assert_eq!(conflict(both), "Can not have a token and a users array");
    assert_eq!(conflict(AuthSettings { token: "t".into(), ..single("", "p") }), "Cannot have a user/pass and token");
    assert_eq!(conflict(single("", "p")), "a password without a user would let everybody in");
    assert!(Users::new(&AuthSettings { users: listed(&[("a", "x")], "").users, ..single("", "p") }).is_ok());
    assert_eq!(conflict(listed(&[("a", "x"), ("a", "y")], "")), "Duplicate user \"a\" detected");
    assert_eq!(
        conflict(listed(&[("a", "x")], "z")),
        "no_auth_user: \"z\" not present as user or nkey in authorization block or account configuration"
    );
    assert_eq!(conflict(listed(&[], "z")), "no_auth_user: \"z\" present, but users/nkeys are not defined");
}
