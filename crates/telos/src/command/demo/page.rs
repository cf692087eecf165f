//! How a demo looks: colours only where they are wanted, lines as long as the terminal is wide.

use crate::host::{Sink, StandardOutput};
use crate::options::Color;
use anstyle::{AnsiColor, Style};
use std::io::IsTerminal;

/// Where nobody says how wide it is, and the most that reads well.
const WIDTH: usize = 80;
const WIDTH_MAX: usize = 100;
/// A terminal that is narrower wraps for itself.
const WIDTH_MIN: usize = 30;

pub struct Page {
    pub output: StandardOutput,
    pub is_colored: bool,
    width: usize,
}

pub fn colored(color: AnsiColor) -> Style {
    Style::new().fg_color(Some(color.into()))
}

pub const BOLD: Style = Style::new().bold();
pub const DIM: Style = Style::new().dimmed();

impl Page {
    pub fn new(color: Color) -> Page {
        let output = StandardOutput::new(Sink::Standard);
        Page { output, is_colored: color.on_stdout(), width: width_of_terminal().unwrap_or(WIDTH) }
    }

    pub fn plain(&self, text: &str) {
        self.output.write_bytes(text.as_bytes());
    }

    pub fn styled(&self, style: Style, text: &str) {
        match self.is_colored {
            true => self.plain(&format!("{style}{text}{style:#}")),
            false => self.plain(text),
        }
    }

    /// Words of the guide, in lines that fit.
    pub fn words(&self, style: Style, text: &str) {
        for line in wrapped(text, self.width - INDENT.len()) {
            self.styled(style, &format!("{INDENT}{line}"));
            self.plain("\n");
        }
    }

    /// Lines of somebody's output. On a terminal those that are too long go on below, further to the right.
    pub fn quoted(&self, style_of: impl Fn(&str) -> Style, text: &str) {
        let is_terminal = std::io::stdout().is_terminal();
        for line in text.lines() {
            let style = style_of(line);
            let indent = line.len() - line.trim_start().len();
            let room = self.width.saturating_sub(INDENT.len() + BAR.chars().count() + indent + HANGING.len());
            let parts =
                if is_terminal { wrapped(line.trim_start(), room.max(WIDTH_MIN / 2)) } else { vec![line.into()] };
            for (number, part) in parts.iter().enumerate() {
                let hanging = if number > 0 { HANGING } else { "" };
                let indent = if is_terminal { indent } else { 0 };
                self.styled(DIM, &format!("{INDENT}{BAR}"));
                self.styled(style, &format!("{:indent$}{hanging}{part}", ""));
                self.plain("\n");
            }
        }
    }
}

pub const INDENT: &str = "   ";
const BAR: &str = "│ ";
const HANGING: &str = "    ";

fn width_of_terminal() -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(std::io::stdout()).ok()?;
    let columns = usize::from(size.ws_col);
    (columns > 0).then(|| columns.clamp(WIDTH_MIN, WIDTH_MAX))
}

/// Breaks between words; a word that is too long stays whole.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut room = width;
    for (number, word) in text.split(' ').enumerate() {
        let length = word.chars().count();
        let gap = usize::from(number > 0);
        if gap == 1 && length + gap > room {
            lines.push(String::new());
            room = width;
        } else if gap == 1 {
            lines.last_mut().expect("there is always a line").push(' ');
            room -= gap;
        }
        lines.last_mut().expect("there is always a line").push_str(word);
        room = room.saturating_sub(length);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_between_words_and_nothing_is_lost() {
        assert_eq!(wrapped("a dream is a fork", 8), ["a dream", "is a", "fork"]);
        assert_eq!(wrapped("regression   passed", 40), ["regression   passed"]);
        assert_eq!(wrapped("incomprehensibilities are long", 5), ["incomprehensibilities", "are", "long"]);
        assert_eq!(wrapped("", 5), [""]);
    }
}
