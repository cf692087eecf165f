//! System: facts about this program and this computer, and the environment.

use super::{Row, Shared, define_table, os_string, symbol_of_os};
use language::{NONE, ONE, TWO, Value, Vm};

pub fn install(vm: &mut Vm, granted: bool) {
    let system = if granted { vm.hand_in("System") } else { vm.prototype("System") };
    define_table(vm, system, TABLE, granted, "system");
    define_table(vm, system, MACHINE_TABLE, true, "");
    for (name, text) in [("version", env!("CARGO_PKG_VERSION")), ("distribution", "telos")] {
        let text = vm.symbol(text);
        vm.set_slot(system, name, text);
    }
}

const TABLE: &[Row] = &[
    ("platform", NONE, |vm, _| {
        let name = rustix::system::uname();
        Ok(vm.symbol(&name.sysname().to_string_lossy()))
    }),
    ("platformVersion", NONE, |vm, _| {
        let name = rustix::system::uname();
        Ok(vm.symbol(&name.release().to_string_lossy()))
    }),
    ("activeCpus", NONE, |_, _| {
        let count = std::thread::available_parallelism().map_or(1, |count| count.get());
        Ok(Value::number(count as f64))
    }),
    ("installPrefix", NONE, |vm, _| {
        let program = std::env::current_exe().ok();
        let prefix = program.as_deref().and_then(|program| program.parent()?.parent());
        Ok(prefix.map_or(Value::NIL, |prefix| symbol_of_os(vm, prefix.as_os_str())))
    }),
];

/// What concerns this machine only, and needs no permission.
const MACHINE_TABLE: &[Row] = &[
    ("symbols", NONE, |vm, _| {
        let symbols: Vec<Value> = vm.heap().symbols().map(Value::object).collect();
        vm.charge(symbols.len())?;
        Ok(vm.list(symbols))
    }),
    // Nothing is recycled here: the heap reuses places by itself.
    ("recycledObjectCount", NONE, |_, _| Ok(Value::number(0.0))),
    ("maxRecycledObjects", NONE, |_, _| Ok(Value::number(0.0))),
    ("setMaxRecycledObjects", ONE, |_, args| Ok(args.target)),
    ("setLobby", ONE, |vm, _| Err(vm.raise("'setLobby' is not supported: the Lobby is the root of this machine"))),
    ("daemon", NONE, |vm, _| Err(vm.raise("'daemon' is not supported: start the program with setsid or a service"))),
    ("errorNumber", NONE, |_, _| Ok(Value::NIL)),
];

pub fn install_environment(vm: &mut Vm, granted: bool) {
    let system = vm.prototype("System");
    define_table(vm, system, ENVIRONMENT_TABLE, granted, "environment");
}

const ENVIRONMENT_TABLE: &[Row] = &[
    ("getEnvironmentVariable", ONE, |vm, args| {
        let name = os_string(args.bytes(vm, 0)?);
        let own = vm.extra::<Shared>().and_then(|shared| shared.environment.get(&name).cloned());
        match own.or_else(|| variable(&name)) {
            Some(text) => Ok(symbol_of_os(vm, &text)),
            None => Ok(Value::NIL),
        }
    }),
    ("setEnvironmentVariable", TWO, |vm, args| {
        let (name, text) = (args.bytes(vm, 0)?, args.bytes(vm, 1)?);
        if name.is_empty() || name.iter().any(|byte| b"=\0".contains(byte)) || text.contains(&0) {
            return Err(vm.raise("the name of a variable is not empty and without '=', and no NUL is in name or text"));
        }
        if let Some(shared) = vm.extra::<Shared>() {
            shared.environment.insert(os_string(name), os_string(text));
        }
        Ok(args.target)
    }),
];

/// Of this process. Names that no variable can have are looked up in vain, where the standard library would panic.
fn variable(name: &std::ffi::OsStr) -> Option<std::ffi::OsString> {
    let bytes = name.as_encoded_bytes();
    if bytes.is_empty() || bytes.iter().any(|byte| b"=\0".contains(byte)) { None } else { std::env::var_os(name) }
}
