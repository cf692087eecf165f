//! What no dream is begun with, whoever asks for it: a mandate without end. Which directories none is given says `crate::images`.

use dream::Bounds;

/// As long as the texts of a journal may be: a mandate is in all that is told of a dream.
pub fn check_mandate(mandate: &str) -> Result<(), String> {
    let (bytes, most) = (mandate.len(), Bounds::default().text_bytes);
    match bytes > most {
        true => Err(format!("a mandate of {bytes} bytes is too long: {most} are the most")),
        false => Ok(()),
    }
}
