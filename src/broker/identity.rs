use nkeys::{KeyPair, XKey};

/// The reference whose protocol we speak: what INFO calls `version`.
pub const PROTOCOL_VERSION: &str = "2.15.1";
/// Our own version.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
/// The level of the JetStream API.
pub const API_LEVEL: u32 = 5;

/// Who this server is: new at every start, like the reference's.
#[derive(Clone, Debug)]
pub struct Identity {
    /// A public server nkey, `N` and 55 characters.
    pub id: String,
    /// A public curve key, `X` and 55 characters.
    pub xkey: String,
    /// As configured, else the id.
    pub name: String,
}

impl Identity {
    pub fn new(name: Option<&str>) -> Self {
        let id = KeyPair::new_server().public_key();
        let name = name.filter(|n| !n.is_empty()).map_or_else(|| id.clone(), str::to_string);
        Self { xkey: XKey::new().public_key(), name, id }
    }
}
