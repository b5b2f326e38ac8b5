use super::flags::{self, Command, UsageError};
use super::*;
use std::path::{Path, PathBuf};
use std::time::Duration;

const SHIPPED: &str = include_str!("../../config/postroom.toml");
const PAGE: &str = include_str!("../../docs/configuration.md");

fn command(line: &str) -> Result<Command, UsageError> {
    flags::parse(line.split_whitespace().map(String::from))
}

fn source(line: &str) -> ConfigSource {
    match command(line) {
        Ok(Command::Run(source)) => source,
        other => panic!("{line}: {other:?}"),
    }
}

fn file(name: &str, text: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, text).unwrap();
    (folder, path)
}

fn toml(text: &str) -> Result<Settings, String> {
    let (_folder, path) = file("a.toml", text);
    let loaded = ConfigSource::new(Some(path.clone()), Layer::default(), Manner::Own).load();
    loaded.map(|l| l.settings).map_err(|e| e.to_string().replace(&path.display().to_string(), "a.toml"))
}

#[test]
fn the_shipped_file_says_every_default_and_nothing_else() {
    let shipped: Settings = ::toml::from_str(SHIPPED).unwrap();
    assert_eq!(shipped, Settings::default());
    let written: ::toml::Table = SHIPPED.parse().unwrap();
    let defaults = ::toml::Table::try_from(Settings::default()).unwrap();
    assert_eq!(paths(&written), paths(&defaults));
}

#[test]
fn the_page_tells_every_key_with_its_variable() {
    for path in environment::keys().into_keys() {
        let variable = format!("POSTROOM_{}", path.to_uppercase().replace('.', "__"));
        assert!(PAGE.contains(&format!("`{path}`")), "{path}");
        assert!(PAGE.contains(&format!("`{variable}`")), "{variable}");
    }
}

fn paths(table: &::toml::Table) -> Vec<String> {
    let mut paths = Vec::new();
    for (name, value) in table {
        match value {
            ::toml::Value::Table(inner) => {
                paths.push(name.clone());
                paths.extend(paths_below(name, inner));
            }
            _ => paths.push(name.clone()),
        }
    }
    paths.sort();
    paths
}

fn paths_below(name: &str, table: &::toml::Table) -> Vec<String> {
    paths(table).into_iter().map(|path| format!("{name}.{path}")).collect()
}

#[test]
fn settings_survive_a_file() {
    let mut settings = Settings::default();
    settings.server.max_payload = -1;
    settings.server.ping_interval = Duration::from_millis(1500);
    settings.server.metadata.insert("Region.Of".into(), "x".into());
    settings.auth.users = vec![UserSettings {
        user: Some("a".into()),
        password: Some("b".into()),
        permissions: Some(Permissions {
            publish: Some(SubjectPermission { allow: Some(vec![]), deny: vec!["x".into()] }),
            subscribe: None,
            allow_responses: Some(ResponsePermission::default()),
        }),
        ..Default::default()
    }];
    settings.jetstream.max_file = Some(5 << 30);
    assert_eq!(::toml::from_str::<Settings>(&::toml::to_string(&settings).unwrap()).unwrap(), settings);
}

#[test]
fn debug_shows_no_secret() {
    let mut settings = Settings::default();
    settings.auth.password = Some("hunter2".into());
    settings.auth.token = Some("hunter2".into());
    settings.auth.users = vec![UserSettings { password: Some("hunter2".into()), ..Default::default() }];
    assert!(!format!("{settings:?}").contains("hunter2"));
}

#[test]
fn mistakes_in_toml_are_told_by_place_and_key() {
    let cases = [
        ("[server]\nprot = 3\n", "a.toml:2:1: unknown key \"server.prot\", did you mean \"port\"?"),
        ("[sever]\n", "a.toml:1:2: unknown key \"sever\", did you mean \"server\"?"),
        ("[server]\nwholly_else = 3\n", "a.toml:2:1: unknown key \"server.wholly_else\""),
        (
            "[server]\nport = 70000\n",
            "a.toml:2:8: server.port: invalid value: integer `70000`, expected a port from 0 to 65535, or -1 for any free one",
        ),
        (
            "\n[jetstream.limits]\nmax_streams = true\n",
            "a.toml:3:15: jetstream.limits.max_streams: invalid type: boolean `true`, expected a whole number from 0",
        ),
        (
            "[server]\nping_interval = 3\n",
            "a.toml:2:17: server.ping_interval: invalid type: integer `3`, expected a duration, as in \"10s\", \"1m30s\" or \"500ms\"",
        ),
        (
            "[server]\nmax_payload = \"2 MiB\"\nmax_pending = \"1 MiB\"\n",
            "max_payload (2097152) cannot be higher than max_pending (1048576)",
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(toml(text).unwrap_err(), expected);
    }
    assert!(toml("[server\n").unwrap_err().starts_with("a.toml:1:8: "));
}

#[test]
fn flags_go_over_variables_over_the_file() {
    let (_folder, path) = file("a.toml", "[server]\nport = 1\nhost = \"h\"\nname = \"n\"\n");
    let loaded = source(&format!("-c {} -p -1 --addr=::1", path.display())).load().unwrap();
    assert_eq!((loaded.settings.server.port, loaded.settings.server.host.as_str()), (0, "::1"));
    assert_eq!(loaded.settings.server.name.as_deref(), Some("n"));
    assert_eq!(loaded.source.file(), Some(path.as_path()));
    assert!(loaded.source.digest().unwrap().starts_with("sha256:"));
}

#[test]
fn variables_are_read_by_path() {
    let vars = [
        ("POSTROOM_SERVER__TAGS", "A, b"),
        ("POSTROOM_JETSTREAM__LIMITS__MAX_STREAMS", "7"),
        ("POSTROOM_PORT", "tcp://x"),
        ("HOME", "/"),
    ];
    let layer = environment::layer(vars.iter().map(|(k, v)| (k.to_string(), v.to_string()))).unwrap();
    assert!(layer.has("server.tags") && layer.has("jetstream.limits.max_streams") && !layer.has("server.port"));
    let wrong = environment::layer([("POSTROOM_SERVER__PROT".to_string(), String::new())].into_iter()).unwrap_err();
    assert_eq!(wrong.to_string(), "POSTROOM_SERVER__PROT: unknown key \"server.prot\", did you mean \"server.port\"?");
}

#[test]
fn jetstream_is_on_by_itself_and_off_in_the_manner_of_the_reference() {
    let on = |line: &str| source(line).load().unwrap().settings.jetstream.enabled;
    let (_conf, conf) = file("a.conf", "debug: false");
    let (_js, js) = file("a.conf", "jetstream {}");
    let (_toml, toml) = file("a.toml", "");
    let (conf, js, toml) = (conf.display(), js.display(), toml.display());
    assert!(on(""));
    assert!(!on("-a 127.0.0.1 -p 4222"));
    assert!(on("-a 127.0.0.1 -p 4222 -js -sd x"));
    assert!(!on(&format!("-c {conf}")));
    assert!(on(&format!("-c {conf} -js")));
    assert!(on(&format!("-c {js}")));
    assert!(!on(&format!("-c {js} -js=false")));
    assert!(on(&format!("-c {toml} -p 4222")));
}

#[test]
fn flags_come_in_the_manner_of_go() {
    for line in ["-DV", "--DV", "-DV=true", "-D -V", "--debug --trace=1"] {
        let log = source(line).load().unwrap().settings.log;
        assert!(log.debug && log.trace, "{line}");
    }
    assert!(!source("-T=false").load().unwrap().settings.log.time);
    assert!(matches!(command("-p 4222 -v"), Ok(Command::Version)));
    assert!(matches!(command("-h"), Ok(Command::Help)));
    assert!(matches!(command("help"), Ok(Command::Help)));
    assert!(matches!(command("-t -c x.conf"), Ok(Command::Check(_))));
    match command("--signal reload=17") {
        Ok(Command::Signal { name, target }) => assert_eq!((name.as_str(), target.as_deref()), ("reload", Some("17"))),
        other => panic!("{other:?}"),
    }
}

#[test]
fn mistakes_on_the_command_line_are_told_as_the_reference_does() {
    let flag = |text: &str| UsageError::Flag(text.into());
    let line = |text: &str| UsageError::Line(text.into());
    let cases = [
        ("--bogus", flag("flag provided but not defined: -bogus")),
        ("-p", flag("flag needs an argument: -p")),
        ("-p x", flag("invalid value \"x\" for flag -p: parse error")),
        ("--debug=maybe", flag("invalid boolean value \"maybe\" for -debug: parse error")),
        ("bogus", line("unrecognized command: \"bogus\"")),
        ("-p 1 extra -D", line("unrecognized command: \"extra\"")),
        ("-t", line("must specify [-c, --config] option to check configuration file syntax")),
        ("--cluster nats://x", line("flag -cluster is not supported yet")),
        ("config", line("expected: config check FILE, or config convert FILE")),
    ];
    for (text, expected) in cases {
        assert_eq!(command(text).unwrap_err(), expected, "{text}");
    }
    let missing = ConfigSource::new(Some("nowhere.conf".into()), Layer::default(), Manner::Reference).load();
    assert_eq!(missing.unwrap_err().to_string(), "open nowhere.conf: no such file or directory");
    assert!(source("-p 99999").load().unwrap_err().to_string().starts_with("flag -p: server.port: "));
}

#[test]
fn settings_that_do_not_fit_are_told() {
    let told = |change: fn(&mut Settings)| {
        let mut settings = Settings::default();
        change(&mut settings);
        settings.mistakes().into_iter().map(|m| m.text).collect::<Vec<_>>().join("; ")
    };
    assert_eq!(told(|_| {}), "");
    assert_eq!(
        told(|s| s.auth.no_auth_user = Some("x".into())),
        "no_auth_user: \"x\" present, but users/nkeys are not defined"
    );
    assert_eq!(
        told(|s| s.server.lame_duck_grace_period = Duration::from_secs(120)),
        "lame duck grace period (2m0s) should be strictly lower than lame duck duration (2m0s)"
    );
    assert_eq!(
        told(|s| {
            let user = UserSettings { user: Some("a".into()), ..Default::default() };
            s.auth.users = vec![user.clone(), user];
        }),
        "Duplicate user \"a\" detected"
    );
    assert_eq!(
        told(|s| s.auth.users = vec![UserSettings { nkey: Some("U".into()), ..Default::default() }]),
        "auth: \"nkey\" is not supported yet"
    );
    assert_eq!(told(|s| s.network.read_buffer = 0), "network.read_buffer must be more than zero");
}

#[test]
fn a_file_is_ours_by_its_name() {
    assert!(source::is_toml(Path::new("a.TOML")));
    assert!(!source::is_toml(Path::new("a.conf")));
}

mod written {
    use super::units::*;
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn sizes() {
        let cases =
            [("4096", 4096), ("64 MiB", 64 << 20), ("10G", 10 << 30), ("1kb", 1024), ("-1", -1), ("2t", 2 << 40)];
        for (text, bytes) in cases {
            assert_eq!(parse_size(text), Some(bytes), "{text}");
        }
        for text in ["", "x", "1.5k", "1 xb", "99999999999G", "1-2", "--1"] {
            assert_eq!(parse_size(text), None, "{text}");
        }
    }

    #[test]
    fn durations() {
        let cases = [("2m", 120_000), ("1m30s", 90_000), ("500ms", 500), ("1.5s", 1500), ("0", 0), (".5h", 1_800_000)];
        for (text, millis) in cases {
            assert_eq!(parse_duration(text), Some(Duration::from_millis(millis)), "{text}");
        }
        for text in ["", "5", "s", "1x", "-1s", "1s1", ".s", "99999999999h", "1.2.3s"] {
            assert_eq!(parse_duration(text), None, "{text}");
        }
        let printed = [
            (0, "0s"),
            (120_000, "2m0s"),
            (1_500, "1.5s"),
            (10, "10ms"),
            (3_600_000, "1h0m0s"),
            (90_061_001, "25h1m1.001s"),
        ];
        for (millis, text) in printed {
            assert_eq!(format_duration(Duration::from_millis(millis)), text);
        }
    }

    proptest! {
        #[test]
        fn sizes_read_back(bytes in 0..i64::MAX) {
            prop_assert_eq!(parse_size(&format_size(bytes)), Some(bytes));
        }

        #[test]
        fn durations_read_back(nanos in 0..i64::MAX as u64) {
            let duration = Duration::from_nanos(nanos);
            prop_assert_eq!(parse_duration(&format_duration(duration)), Some(duration));
        }

        #[test]
        fn no_text_is_a_panic(text in ".*") {
            let _ = (parse_size(&text), parse_duration(&text));
        }
    }
}
