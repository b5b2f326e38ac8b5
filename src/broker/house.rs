use super::access;
use super::actor::{Broker, Children};
use super::jetstream;
use super::{API_LEVEL, Identity, PROTOCOL_VERSION, StartError, VERSION};
use crate::account::AccountId;
use crate::actor::{House, Mailbox, Place, Timers, launch, launch_here};
use crate::connection::{self, ListenerOptions, bind, launch_listener};
use crate::protocol::ServerInfo;
use crate::router::messages::ServiceId;
use crate::router::{self, launch_routers};
use crate::settings::Settings;
use crate::stats::{self, Audience, SYSTEM_PREFIX, Stats};
use crate::system::{ServerStamp, System};
use actix_rt::{Arbiter, ArbiterHandle};
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::sync::oneshot;

/// The number of the first client, as on the reference, where others of the house come before.
const FIRST_CLIENT: u64 = 5;
/// The first number of the Stats actor's services; far from those of clients.
const STATS_SERVICE: u64 = 4 << 60;
/// The number of the System actor's service.
const SYSTEM_SERVICE: u64 = 5 << 60;

/// A house that stands.
pub struct Standing {
    pub broker: Mailbox<Broker>,
    pub clients: SocketAddr,
}

/// Brings everything up, from the bottom: clocks, routers, storage, streams, and last the door. Runs on the main arbiter.
pub async fn build(settings: Settings, identity: Identity, ended: oneshot::Sender<()>) -> Result<Standing, StartError> {
    // What can fail comes before anything is started.
    let users = access::users(&settings.auth)?;
    let bound = bind(&settings.server.host, settings.server.port, settings.network.backlog)?;
    let clients = bound.address();

    let main = Arbiter::current();
    let stats_options = stats_options(&settings, &identity);
    let stats = launch_here(&House::default(), |own| Stats::new(own, stats_options));
    let house = House { stats: settings.stats.enabled.then(|| stats.outlet()), ended: None };
    let here = with_clock(main, &house, "main");

    let mut arbiters = Vec::new();
    let network = places(settings.network.arbiters(), "network", &house, &mut arbiters);
    let routers = launch_routers(&network, &house, router::Options::from(&settings));
    if settings.stats.enabled {
        stats.send(stats::Open { switchboard: routers.switchboard(), timers: here.1.clone() });
    }

    let info = server_info(&settings, &identity, clients);
    let switchboard = routers.switchboard();
    let server = ServerStamp::new(&info);
    let system = launch_here(&house, |own| System::new(own, switchboard, ServiceId(SYSTEM_SERVICE), server));

    let streams = match settings.jetstream.enabled {
        false => None,
        true => {
            let storage = places(settings.store.arbiters(), "storage", &house, &mut arbiters);
            let (switchboard, registry) = (routers.switchboard(), system.outlet());
            Some(jetstream::build(&settings, &identity, &house, storage, switchboard, registry).await?)
        }
    };

    let auth_timeout = settings.auth.timeout;
    let connections = Arc::new(connection::Options::new(&settings, info, users, auth_timeout));
    let options = ListenerOptions {
        name: "client".into(),
        connections,
        max_connections: settings.server.max_connections,
        first_id: FIRST_CLIENT,
        id_step: 1,
        arbiters: network,
        registry: Some(system.outlet()),
    };
    let listener = launch_listener(&here, &house, bound, routers, options);
    tracing::info!("Listening for client connections on {clients}");

    let children = Children { listener, streams, arbiters };
    let broker = launch_here(&house, |own| Broker::new(own, settings, children, here.1, ended));
    Ok(Standing { broker, clients })
}

/// Starts so many arbiters, each with its clock. `arbiters` are those to be stopped in the end.
fn places(count: usize, kind: &str, house: &House, arbiters: &mut Vec<Arbiter>) -> Vec<Place> {
    let place = |number| {
        let arbiter = Arbiter::new();
        let place = with_clock(arbiter.handle(), house, &format!("{kind}-{number}"));
        arbiters.push(arbiter);
        place
    };
    (0..count).map(place).collect()
}

fn with_clock(arbiter: ArbiterHandle, house: &House, name: &str) -> Place {
    let name = name.to_string();
    let timers = launch(&arbiter, house, move |_| Timers::new(name));
    (arbiter, timers)
}

fn stats_options(settings: &Settings, identity: &Identity) -> stats::Options {
    let system = Audience { account: AccountId::SYSTEM, prefix: SYSTEM_PREFIX.into() };
    let audiences = vec![system, Audience::from_setting(AccountId::GLOBAL, &settings.stats.subject)];
    stats::Options {
        server: identity.name.clone(),
        interval: settings.stats.interval,
        audiences,
        first_service: STATS_SERVICE,
    }
}

fn server_info(settings: &Settings, identity: &Identity, clients: SocketAddr) -> ServerInfo {
    let server = &settings.server;
    let mut info = ServerInfo {
        server_id: identity.id.clone(),
        server_name: identity.name.clone(),
        version: PROTOCOL_VERSION.into(),
        proto: 1,
        go: "rust".into(),
        git_commit: VERSION.into(),
        host: server.host.clone(),
        port: clients.port(),
        jetstream: settings.jetstream.enabled,
        domain: settings.jetstream.domain.clone().filter(|_| settings.jetstream.enabled).unwrap_or_default(),
        api_lvl: API_LEVEL as i32,
        xkey: identity.xkey.clone(),
        postroom: VERSION.into(),
        ..ServerInfo::default()
    };
    if let Some((host, port)) = server.client_advertise.as_deref().and_then(|a| a.rsplit_once(':')) {
        info.host = host.to_string();
        info.port = port.parse().unwrap_or(info.port);
        info.connect_urls = vec![format!("{host}:{}", info.port)];
    }
    info
}
