//! System: facts about this program and this computer, and the environment.

use super::{Row, Shared, bytes_for_host, os_argument, os_string, symbol_of_os};
use language::{NONE, ONE, TWO, Value, Vm};

/// What every machine may know of this program.
pub const PROGRAM_TABLE: &[Row] = &[
    ("version", NONE, |vm, _| Ok(vm.symbol(env!("CARGO_PKG_VERSION")))),
    ("distribution", NONE, |vm, _| Ok(vm.symbol("telos"))),
    ("args", NONE, |vm, _| {
        let arguments = vm.extra::<Shared>().map(|shared| shared.arguments.clone()).unwrap_or_default();
        let arguments: Vec<Value> = arguments.iter().map(|argument| vm.symbol(argument)).collect();
        Ok(vm.list(arguments))
    }),
    ("launchScript", NONE, |vm, _| Ok(launched(vm, |file| &file.0))),
    ("launchPath", NONE, |vm, _| Ok(launched(vm, |file| &file.1))),
];

/// A part of what is known of the file that was started.
fn launched(vm: &mut Vm, part: fn(&(String, String)) -> &String) -> Value {
    let text = vm.extra::<Shared>().and_then(|shared| shared.launch_file.as_ref().map(part).cloned());
    text.map_or(Value::NIL, |text| vm.symbol(&text))
}

pub const TABLE: &[Row] = &[
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

pub const ENVIRONMENT_TABLE: &[Row] = &[
    ("getEnvironmentVariable", ONE, |vm, args| {
        let name = os_argument(vm, &args, 0)?;
        let own = vm.extra::<Shared>().and_then(|shared| shared.environment.get(&name).cloned());
        match own.or_else(|| variable(&name)) {
            Some(text) => Ok(symbol_of_os(vm, &text)),
            None => Ok(Value::NIL),
        }
    }),
    ("setEnvironmentVariable", TWO, |vm, args| {
        let (name, text) = (bytes_for_host(vm, &args, 0)?, bytes_for_host(vm, &args, 1)?);
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
