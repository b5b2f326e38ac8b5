mod acks;
mod bench;
mod config;
mod floor;
mod lifecycle;
mod pulls;
mod pushes;
