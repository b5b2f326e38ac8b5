mod bench;
mod consumers;
mod failures;
mod model;
mod publishing;
mod recovery;
mod requests;
mod world;
