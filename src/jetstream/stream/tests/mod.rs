mod bench;
mod consumers;
mod failures;
mod model;
mod publishing;
mod requests;
mod world;
