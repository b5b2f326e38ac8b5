use actix_rt::{Arbiter, System};
use postroom::actor::{House, Timers, launch};
use postroom::auth::Users;
use postroom::connection::{self, ListenerOptions, bind, launch_listener};
use postroom::protocol::ServerInfo;
use postroom::router::{self, launch_routers};
use postroom::settings::flags::{self, Command};
use std::sync::Arc;

fn main() {
    let Ok(Command::Run(source)) = flags::parse(std::env::args().skip(1)) else { panic!("flags") };
    let settings = source.load().map_err(|e| e.to_string()).unwrap().settings;
    postroom::logging::start(&settings.log).ok();
    let n = std::env::var("ARBITERS").ok().and_then(|n| n.parse().ok()).unwrap_or(1usize);
    let system = System::new();
    system.block_on(async move {
        let house = House::default();
        let bound = bind(&settings.server.host, settings.server.port, 1024).unwrap_or_else(|e| panic!("{e}"));
        let arbiters: Vec<_> = (0..n)
            .map(|i| {
                let arbiter = Arbiter::new().handle();
                let timers = launch(&arbiter, &house, move |_| Timers::new(i.to_string()));
                (arbiter, timers)
            })
            .collect();
        let routers = launch_routers(&arbiters, &house, router::Options::from(&settings));
        let info = ServerInfo {
            server_id: "NTEST".into(),
            server_name: "test".into(),
            version: "2.15.1".into(),
            proto: 1,
            host: settings.server.host.clone(),
            port: bound.address().port(),
            api_lvl: 5,
            ..ServerInfo::default()
        };
        let options = connection::Options::new(&settings, info, Users::open(), std::time::Duration::from_secs(2));
        let options = ListenerOptions {
            name: "client".into(),
            connections: Arc::new(options),
            max_connections: settings.server.max_connections,
            first_id: 5,
            id_step: 1,
            arbiters: arbiters.clone(),
            registry: None,
        };
        launch_listener(&arbiters[0], &house, bound, routers, options);
    });
    system.run().ok();
}
