/// Keeps sled from running the machine-wide `sync` command at each opening: it looks the command up in `PATH` and does
/// without if it is not there. Nothing else in this process runs commands by name.
///
/// # Safety
/// Changes the environment: to be called first thing in `main`, while there is no other thread.
pub unsafe fn hide_sync_command() {
    // SAFETY: the caller promises that no other thread reads the environment now.
    unsafe { std::env::set_var("PATH", "/nonexistent") };
}
