use crate::auth::{self, AuthConflict, Users};
use crate::settings::{AuthSettings, Secret};

/// Who may connect, from the settings. The settings themselves know nothing of how it is judged.
pub fn users(settings: &AuthSettings) -> Result<Users, AuthConflict> {
    let text = |secret: &Option<Secret>| secret.as_ref().map(|s| s.expose().to_string()).unwrap_or_default();
    let users = settings
        .users
        .iter()
        .map(|user| auth::UserSettings { user: user.user.clone().unwrap_or_default(), password: text(&user.password) });
    Users::new(&auth::AuthSettings {
        user: settings.user.clone().unwrap_or_default(),
        password: text(&settings.password),
        token: text(&settings.token),
        users: users.collect(),
        no_auth_user: settings.no_auth_user.clone().unwrap_or_default(),
    })
}
