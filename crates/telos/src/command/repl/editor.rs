//! The line editor of a terminal: history, several lines, completion and colours.

use super::completion::Snapshot;
use crate::highlight;
use language::syntax::{Completeness, is_complete};
use nu_ansi_term::{Color, Style};
use reedline::{
    ColumnarMenu, Completer, CompletionResult, DefaultHinter, Emacs, FileBackedHistory, Highlighter, KeyCode,
    KeyModifiers, MenuBuilder, Prompt, PromptEditMode, PromptHistorySearch, Reedline, ReedlineEvent, ReedlineMenu,
    Span, StyledText, Suggestion, ValidationResult, Validator, default_emacs_keybindings,
};
use std::borrow::Cow;
use std::fs::{OpenOptions, Permissions};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

const HISTORY_LINES: usize = 10_000;
const MENU: &str = "slots";
const INDICATOR: &str = "> ";

/// Makes an editor that completes from the snapshot, whatever it is at the time.
pub fn editor(snapshot: Arc<Mutex<Snapshot>>, is_colored: bool) -> Reedline {
    let mut keys = default_emacs_keybindings();
    let complete = vec![ReedlineEvent::Menu(MENU.to_string()), ReedlineEvent::MenuNext];
    keys.add_binding(KeyModifiers::NONE, KeyCode::Tab, ReedlineEvent::UntilFound(complete));
    keys.add_binding(KeyModifiers::SHIFT, KeyCode::BackTab, ReedlineEvent::MenuPrevious);
    let menu = ColumnarMenu::default().with_name(MENU).with_marker(INDICATOR).with_columns(4).with_column_padding(2);
    let mut editor = Reedline::create()
        .with_ansi_colors(is_colored)
        .with_completer(Box::new(SlotCompleter(snapshot)))
        .with_partial_completions(true)
        .with_quick_completions(true)
        .with_menu(ReedlineMenu::EngineCompleter(Box::new(menu)))
        .with_edit_mode(Box::new(Emacs::new(keys)))
        .with_validator(Box::new(WholeInput));
    if is_colored {
        let hinter = DefaultHinter::default().with_style(Style::new().fg(Color::DarkGray));
        editor = editor.with_highlighter(Box::new(Colors)).with_hinter(Box::new(hinter));
    }
    // Without a place to keep it, history lasts as long as the dialogue.
    match history_path()
        .filter(|path| is_private(path))
        .and_then(|path| FileBackedHistory::with_file(HISTORY_LINES, path).ok())
    {
        Some(history) => editor.with_history(Box::new(history)),
        None => editor,
    }
}

/// Makes the history a file that nobody else reads: what was typed may hold a secret.
fn is_private(path: &Path) -> bool {
    let make = || -> std::io::Result<()> {
        std::fs::create_dir_all(path.parent().unwrap_or(path))?;
        let file = OpenOptions::new().create(true).append(true).mode(0o600).open(path)?;
        file.set_permissions(Permissions::from_mode(0o600))
    };
    make().is_ok()
}

/// `$XDG_STATE_HOME/telos/history`, which is in `~/.local/state` unless said otherwise.
fn history_path() -> Option<PathBuf> {
    let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let state = variable("XDG_STATE_HOME").or_else(|| variable("HOME").map(|home| home.join(".local/state")))?;
    Some(state.join("telos").join("history"))
}

struct WholeInput;

impl Validator for WholeInput {
    fn validate(&self, line: &str) -> ValidationResult {
        match is_complete(line) {
            Completeness::NeedsMore => ValidationResult::Incomplete,
            _ => ValidationResult::Complete,
        }
    }
}

struct SlotCompleter(Arc<Mutex<Snapshot>>);

impl Completer for SlotCompleter {
    fn complete(&mut self, line: &str, position: usize) -> CompletionResult {
        let Ok(snapshot) = self.0.lock() else { return CompletionResult::fresh(Vec::new()) };
        let (start, names) = snapshot.complete(line, position);
        let suggestion = |name: &str| Suggestion {
            value: name.to_string(),
            span: Span::new(start, position),
            append_whitespace: false,
            ..Suggestion::default()
        };
        CompletionResult::fresh(names.into_iter().map(suggestion).collect::<Vec<_>>())
    }
}

struct Colors;

impl Highlighter for Colors {
    fn highlight(&self, line: &str, _cursor: usize) -> StyledText {
        let mut styled = StyledText::new();
        for (piece, text) in highlight::pieces(line) {
            styled.push((style_of(piece), text.to_string()));
        }
        styled
    }
}

/// The same colours in the editor's own vocabulary.
fn style_of(piece: highlight::Piece) -> Style {
    use highlight::Piece;
    match piece {
        Piece::Comment => Color::DarkGray.normal(),
        Piece::Text => Color::Green.normal(),
        Piece::Number => Color::Cyan.normal(),
        Piece::Prototype => Color::Yellow.normal(),
        Piece::Control => Color::Purple.normal(),
        Piece::Operator => Color::Blue.normal(),
        Piece::Plain => Style::new(),
    }
}

/// What stands before the cursor.
pub struct IoPrompt;

impl Prompt for IoPrompt {
    fn render_prompt_left(&self) -> Cow<'_, str> {
        Cow::Borrowed("Io")
    }

    fn render_prompt_right(&self) -> Cow<'_, str> {
        Cow::Borrowed("")
    }

    fn render_prompt_indicator(&self, _mode: PromptEditMode) -> Cow<'_, str> {
        Cow::Borrowed(INDICATOR)
    }

    fn render_prompt_multiline_indicator(&self) -> Cow<'_, str> {
        Cow::Borrowed("..> ")
    }

    fn render_prompt_history_search_indicator(&self, search: PromptHistorySearch) -> Cow<'_, str> {
        Cow::Owned(format!("(search: {}) ", search.term))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The history was readable by everybody on the machine.
    #[test]
    fn nobody_else_reads_the_history() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("telos/history");
        assert!(is_private(&path));
        std::fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
        assert!(is_private(&path));
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }
}
