//! How a program inside says what it met: in one line, errors by the names that manuals have for them.

use crate::table::Said;
use std::io;

const NAMES: &[(i32, &str)] = &[
    (libc::EPERM, "EPERM"),
    (libc::ENOENT, "ENOENT"),
    (libc::ESRCH, "ESRCH"),
    (libc::ENXIO, "ENXIO"),
    (libc::EBADF, "EBADF"),
    (libc::ECHILD, "ECHILD"),
    (libc::EAGAIN, "EAGAIN"),
    (libc::ENOMEM, "ENOMEM"),
    (libc::EACCES, "EACCES"),
    (libc::EFAULT, "EFAULT"),
    (libc::EBUSY, "EBUSY"),
    (libc::EEXIST, "EEXIST"),
    (libc::EXDEV, "EXDEV"),
    (libc::ENODEV, "ENODEV"),
    (libc::ENOTDIR, "ENOTDIR"),
    (libc::EINVAL, "EINVAL"),
    (libc::EMFILE, "EMFILE"),
    (libc::ENOTTY, "ENOTTY"),
    (libc::EFBIG, "EFBIG"),
    (libc::ENOSPC, "ENOSPC"),
    (libc::EROFS, "EROFS"),
    (libc::EPIPE, "EPIPE"),
    (libc::ENOSYS, "ENOSYS"),
    (libc::ELOOP, "ELOOP"),
    (libc::EOPNOTSUPP, "EOPNOTSUPP"),
    (libc::EAFNOSUPPORT, "EAFNOSUPPORT"),
    (libc::EPROTONOSUPPORT, "EPROTONOSUPPORT"),
    (libc::ESOCKTNOSUPPORT, "ESOCKTNOSUPPORT"),
    (libc::ENETUNREACH, "ENETUNREACH"),
    (libc::EHOSTUNREACH, "EHOSTUNREACH"),
    (libc::ECONNREFUSED, "ECONNREFUSED"),
    (libc::ETIMEDOUT, "ETIMEDOUT"),
    (libc::ESTALE, "ESTALE"),
    (libc::EDQUOT, "EDQUOT"),
    (libc::EOVERFLOW, "EOVERFLOW"),
];

pub fn name(error: &io::Error) -> String {
    let Some(code) = error.raw_os_error() else { return format!("error: {error}") };
    let known = NAMES.iter().find(|(known, _)| *known == code);
    known.map_or_else(|| format!("errno {code}"), |(_, name)| (*name).into())
}

/// The line of a program.
pub fn line(said: Said) -> String {
    said.unwrap_or_else(|error| name(&error))
}

/// For attempts that got what they wanted: that alone is wrong.
pub fn got<T>(answer: io::Result<T>) -> Said {
    answer.map(|_| "got it".into())
}

/// What the host told the program about itself, for it to aim at.
pub fn told(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| format!("{name} was not told"))
}

pub fn number(name: &str) -> usize {
    told(name).parse().unwrap_or(0)
}
