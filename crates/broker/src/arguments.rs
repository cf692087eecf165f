//! Reads the arguments of a call. They come from a dream: none is what it should be until it was looked at.

use crate::call::Call;
use crate::error::Refusal;
use crate::value::Value;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

impl Call {
    pub(crate) fn text(&self, at: usize, what: &str) -> Result<&str, Refusal> {
        match self.arguments.get(at) {
            Some(Value::Text(text)) => Ok(text),
            Some(Value::Bytes(bytes)) => std::str::from_utf8(bytes).map_err(|_| self.wanted(at, what, "text")),
            _ => Err(self.wanted(at, what, "text")),
        }
    }

    pub(crate) fn text_or_nil(&self, at: usize, what: &str) -> Result<Option<&str>, Refusal> {
        match self.arguments.get(at) {
            None | Some(Value::Nil) => Ok(None),
            Some(_) => self.text(at, what).map(Some),
        }
    }

    pub(crate) fn bytes(&self, at: usize, what: &str) -> Result<&[u8], Refusal> {
        self.arguments.get(at).and_then(Value::as_bytes).ok_or_else(|| self.wanted(at, what, "text or bytes"))
    }

    pub(crate) fn bytes_or_nil(&self, at: usize, what: &str) -> Result<&[u8], Refusal> {
        match self.arguments.get(at) {
            None | Some(Value::Nil) => Ok(&[]),
            Some(_) => self.bytes(at, what),
        }
    }

    pub(crate) fn number(&self, at: usize, what: &str) -> Result<f64, Refusal> {
        match self.arguments.get(at) {
            Some(Value::Number(number)) => Ok(*number),
            _ => Err(self.wanted(at, what, "a number")),
        }
    }

    /// A path need not be text.
    pub(crate) fn path(&self, at: usize) -> Result<&Path, Refusal> {
        let bytes = self.bytes(at, "a path")?;
        if bytes.is_empty() || bytes.contains(&0) {
            return Err(self.wanted(at, "a path", "not empty and without NUL"));
        }
        Ok(Path::new(OsStr::from_bytes(bytes)))
    }

    pub(crate) fn at_most(&self, count: usize) -> Result<(), Refusal> {
        match self.arguments.len() <= count {
            true => Ok(()),
            false => Err(Refusal::failed(format!("`{}` takes no more than {count} arguments", self.name))),
        }
    }

    fn wanted(&self, at: usize, what: &str, form: &str) -> Refusal {
        Refusal::failed(format!("argument {} of `{}` is {what}: it must be {form}", at + 1, self.name))
    }
}
