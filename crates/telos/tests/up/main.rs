//! An image that is up, its dreams and its merges, through the command line and its socket. One program: each more would be linked anew.

#[path = "../launch/mod.rs"]
mod launch;

mod agent;
mod agent_merge;
mod broker;
mod care;
mod clients;
mod dream;
mod dream_files;
mod dream_hazards;
mod dream_kill;
mod dream_show;
mod end;
mod files;
mod history;
mod kill;
mod limits;
mod locks;
mod merge;
mod merge_files;
mod merge_hostile;
mod merge_json;
mod merge_kill;
mod merge_moving;
mod merge_scenarios;
mod outbox;
mod record;
mod requests;
mod runs;
mod token;
mod turns;
mod verify;
mod verify_same;
mod wake;
mod zygote;
