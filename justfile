# Everyday commands; `just` alone lists them.

server := "target/release/postroom"
venv := "target/ci/venv/bin"

default:
    @just --list --unsorted

# rewrite the code in the project's format
fmt:
    cargo fmt --all

# what CI says about the code itself
lint:
    cargo fmt --all --check
    cargo clippy --all-targets -- -D warnings
    cargo clippy --manifest-path fuzz/Cargo.toml --target-dir target -- -D warnings
    RUSTDOCFLAGS="-D warnings" cargo doc --no-deps

# unit and integration tests; `just test NAME` runs those with NAME in their name
test *args:
    cargo test {{args}}

release:
    cargo build --release

# the client tools and libraries that the steps below need, into target/ci
tools:
    .ci/run tools

# side by side with nats-server; `just bench --only "1 -> 1" --runs 1`, `just bench --write` updates docs/performance.md
bench *args: reference
    cargo bench --bench compare -- {{args}}

# what one more connection, subscription, stream, message costs; options as for bench
cost *args: reference
    cargo bench --bench cost -- {{args}}

# behaviour compared with nats-server, all scenarios or those named: `just oracle core_queue`, `just oracle @tests/oracle-passing.txt`
oracle *scenarios: release reference
    {{venv}}/python ../shared/oracle/oracle.py --server {{server}} --reference {{venv}}/nats-server {{scenarios}}

# break it while it works: `just faults kill`, also powerloss, bitflip, truncate, diskfull
faults fault="kill" *args: release
    python3 ../shared/faults/faults.py {{fault}} --server {{server}} {{args}}

# bytes from outside, made up: parse, conf, json, journal, record (needs nightly and `cargo install cargo-fuzz`)
fuzz target="parse" seconds="60":
    cargo +nightly fuzz run {{target}} -- -max_total_time={{seconds}} -rss_limit_mb=1024 -timeout=10

# the two tutorials with the real `nats` command line
tutorials: release
    PATH="$PWD/target/ci/bin:$PATH" python3 tests/tutorials/run.py --server {{server}}

# Python, Node and C clients
interop: release
    NODE_PATH="$PWD/target/ci/node/node_modules" {{venv}}/python tests/interop/run.py --server {{server}} --c-source ../shared/interop/js_tutorial.c

# licences, sources, known vulnerabilities
deny:
    cargo deny check

# everything that must hold before a change lands
ci:
    .ci/run

[private]
reference:
    @test -x {{venv}}/nats-server || .ci/run tools
