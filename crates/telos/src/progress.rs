//! How far long work is: a bar on the standard error with rate and time left, if that is a terminal, else nothing.

use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;

const COUNTED: &str = "{msg:10} {bar:30} {human_pos}/{human_len}  {per_sec}, {eta} left";
const BYTES: &str = "{msg:10} {bar:30} {bytes}/{total_bytes}  {bytes_per_sec}, {eta} left";

pub struct Bar(ProgressBar);

impl Bar {
    /// For things that are counted.
    pub fn counting() -> Bar {
        Bar::styled(COUNTED)
    }

    pub fn of_bytes() -> Bar {
        Bar::styled(BYTES)
    }

    fn styled(template: &str) -> Bar {
        // A bar is quiet by itself where there is no terminal.
        let bar = ProgressBar::no_length();
        bar.set_style(ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()));
        Bar(bar)
    }

    /// Whether anybody sees it.
    pub fn is_seen() -> bool {
        std::io::stderr().is_terminal()
    }

    /// A new stage begins with a rate of its own.
    pub fn tell(&self, stage: &str, done: u64, total: u64) {
        if self.0.message() != stage {
            self.0.reset();
            self.0.set_message(stage.to_string());
        }
        self.0.set_length(total.max(done));
        self.0.set_position(done);
    }

    pub fn end(&self) {
        self.0.finish_and_clear();
    }
}
