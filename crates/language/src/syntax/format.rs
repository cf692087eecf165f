//! stub
use super::{OperatorTable, SyntaxError};
/// stub
pub fn format(source: &str, _table: &OperatorTable) -> Result<String, SyntaxError> { Ok(source.to_owned()) }
