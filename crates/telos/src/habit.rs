//! What people bring along from other languages, and how it is said in Io. Owns the table of such habits.

use crate::highlight::Piece;

/// Names of slots elsewhere, with those that do the same here. The first that the object has is meant.
const NAMES: &[(&[&str], &[&str])] = &[
    (&["each", "forEach", "each_with_index", "eachWithIndex", "ipairs", "pairs"], &["foreach"]),
    (&["length", "len", "count", "getLength", "Length"], &["size"]),
    (&["toUpper", "toUpperCase", "upper", "upcase", "uppercased"], &["asUppercase"]),
    (&["toLower", "toLowerCase", "lower", "downcase", "lowercased"], &["asLowercase"]),
    (&["add", "push_back", "insertLast"], &["append", "atPut"]),
    (&["extend", "concat", "addAll"], &["appendSeq", "mergeInPlace"]),
    (&["+", "<<", "+="], &["appendSeq"]),
    (&["insert"], &["atInsert", "atInsertSeq"]),
    (&["put", "set", "setItem", "store"], &["atPut"]),
    (&["get", "getItem", "item", "nth", "charAt", "fetch"], &["at"]),
    (&["shift", "popleft", "dequeue"], &["removeFirst"]),
    (&["unshift", "pushFront"], &["prepend"]),
    (&["delete", "del", "erase", "discard"], &["removeAt", "remove", "removeSlot"]),
    (&["clear"], &["removeAll", "empty"]),
    (&["filter", "findAll", "where", "grep"], &["select"]),
    (&["find", "search", "index"], &["detect", "findSeq"]),
    (&["collect", "transform"], &["map"]),
    (&["fold", "foldl", "inject", "aggregate"], &["reduce"]),
    (
        &["includes", "include", "has", "member", "contains", "hasKey"],
        &["contains", "hasKey", "containsSeq", "hasSlot"],
    ),
    (&["sorted"], &["sort"]),
    (&["reversed"], &["reverse"]),
    (&["toString", "to_s", "tostring", "str", "String"], &["asString"]),
    (&["toInt", "to_i", "toNumber", "parseInt", "parseFloat", "tonumber", "int", "float"], &["asNumber"]),
    (&["trim", "chomp"], &["strip"]),
    (&["substring", "substr", "sub", "slice"], &["exSlice"]),
    (&["replace", "gsub", "replaceAll"], &["replaceSeq"]),
    (&["indexOf"], &["findSeq"]),
    (&["startsWith", "startswith", "start_with", "beginsWith"], &["beginsWithSeq"]),
    (&["endsWith", "endswith", "end_with"], &["endsWithSeq"]),
    (&["times"], &["repeat"]),
    (&["new", "create", "copy", "dup", "extends"], &["clone"]),
    (&["class", "getClass", "typeof", "typeOf", "className"], &["type"]),
    (&["isinstance", "instanceof", "isA", "is_a", "kindOf"], &["isKindOf"]),
    (&["equals", "isEqual", "eq"], &["=="]),
    (&["null", "None", "undefined", "Nil", "NULL", "NIL", "void"], &["nil"]),
    (&["True", "TRUE"], &["true"]),
    (&["False", "FALSE"], &["false"]),
    (&["&&", "And", "AND"], &["and"]),
    (&["||", "Or", "OR"], &["or"]),
    (&["===", "eql"], &["=="]),
    (&["!==", "<>", "~="], &["!="]),
    (&["quit"], &["exit"]),
];

/// What no other name helps with.
const ADVICE: &[(&[&str], &str)] = &[
    (&["this", "me", "Self"], "\"self\" is the object that the method was sent to"),
    (&["'", "''"], "text stands in double quotes: \"text\""),
    (&["!"], "\"not\" stands behind: (x > 1) not"),
    (&["++", "--", "+=", "-=", "*=", "/=", "%="], "x = x + 1 counts up, x = x - 1 down"),
    (&["=>", "->"], "a method is made with method(x, x * 2), a block with block(x, x * 2)"),
    (
        &["def", "function", "func", "fn", "fun", "lambda", "defun", "sub", "proc"],
        "methods are made with method(arguments, body): double := method(x, x * 2)",
    ),
    (&["class", "struct", "object"], "objects are made by cloning: Account := Object clone do(balance := 0)"),
    (&["new"], "objects are made by cloning: account := Account clone"),
    (&["var", "let", "const", "local", "val", "my", "int", "auto"], "a slot is made with \":=\": x := 1"),
    (
        &["puts", "printf", "echo", "console", "console.log", "log", "say", "disp", "cout", "fmt"],
        "\"text\" println prints a line, write(\"a\", 1) its arguments",
    ),
    (
        &["import", "require", "include", "use", "using", "load", "from"],
        "doFile(\"name.io\") evaluates a file; Name alone finds Name.io in the current directory",
    ),
    (&["throw", "raise", "error", "die", "panic"], "Exception raise(\"what is wrong\") raises an exception"),
    (
        &["catch", "except", "rescue", "finally", "ensure"],
        "e := try(expression) is the exception or nil; e catch(Exception, e error println)",
    ),
    (
        &["elif", "elsif", "elseif", "else", "then", "unless", "case", "when", "match"],
        "if(a, 1, if(b, 2, 3)), or if(a) then(1) elseif(b) then(2) else(3)",
    ),
    (&["range", "xrange", "upto", "to"], "for(i, 1, 10, i println) counts, and so does 10 repeat(i, i println)"),
    (&["input", "readline", "readLine", "gets", "scanf", "prompt"], "File standardInput readLine reads a line"),
    (&["sleep", "wait"], "System sleep(0.5) waits half a second"),
    (&["assert"], "if(x != 1, Exception raise(\"x is not 1\")), or a UnitTest with assertEquals"),
    (&["len", "length", "count"], "methods stand behind their object: \"text\" size, list(1, 2) size"),
    (&["str", "String", "toString"], "methods stand behind their object: 12 asString"),
    (&["int", "float", "Integer", "parseInt", "Number"], "methods stand behind their object: \"12\" asNumber"),
    (&["typeof", "isinstance"], "methods stand behind their object: 12 type, 12 isKindOf(Number)"),
    (&["dict", "hash", "Dictionary", "HashMap", "table"], "a Map is made with Map with(\"key\", value)"),
    (&["array", "Array", "vec", "tuple", "set"], "a List is made with list(1, 2)"),
    (&["%"], "\"#{1 + 1} apples\" interpolate puts values into text"),
];

/// How something that another language has is said here. `names` are the slots that the object has; the Lobby is asked
/// for what was meant as a function or as a word of the language.
pub fn advice(written: &str, is_lobby: bool, names: &[String]) -> Option<String> {
    let has = |name: &str| names.iter().any(|each| each == name);
    if let Some(words) = brackets(written, &has) {
        return Some(words.to_string());
    }
    let words = ADVICE.iter().find(|(habits, _)| habits.contains(&written)).map(|(_, words)| words.to_string());
    if is_lobby && words.is_some() {
        return words;
    }
    for (_, meant) in NAMES.iter().filter(|(habits, _)| habits.contains(&written)) {
        if let Some(name) = meant.iter().find(|name| **name != written && has(name)) {
            return Some(format!("did you mean '{name}'?"));
        }
    }
    if words.is_some() {
        return words;
    }
    dotted(written)
}

/// `a.b` is one name in Io, dots and all.
pub fn dotted(written: &str) -> Option<String> {
    let (object, message) = written.split_once('.')?;
    let is_name = |part: &str| part.starts_with(char::is_alphabetic);
    (is_name(object) && is_name(message)).then(|| format!("a blank stands before a message: {object} {message}"))
}

/// Operators that stand together are read as one: `y:=-1` has the operator `:=-`, which nobody knows. `text` begins where
/// the trouble is; what is known is an operator.
pub fn glued(text: &str, is_known: impl Fn(&str) -> bool) -> Option<String> {
    const OPERATORS: &str = ":'~!@$%^&*-+=|<>?/";
    let name_end = text.find(|character: char| !character.is_alphanumeric() && character != '_')?;
    let (name, rest) = text.split_at(name_end);
    let length = rest.find(|character: char| !OPERATORS.contains(character)).unwrap_or(rest.len());
    let run = &rest[..length];
    let operator = run.strip_suffix('-').filter(|operator| !is_known(run) && is_known(operator))?;
    let follows = rest[length..].starts_with(|character: char| character.is_alphanumeric() || character == '(');
    let example = format!("{name} {operator} -1");
    follows.then(|| format!("operators that stand together are read as one; a blank parts them: {}", example.trim()))
}

/// What to say of a program that does something else than it seems to: no error in Io, and never what was meant.
pub fn misread(source: &str, is_own: impl Fn(&str) -> bool) -> Option<&'static str> {
    let is_printing = || !is_own("print") && !is_own("println");
    printing(source).filter(|_| is_printing()).or_else(|| ternary(source).filter(|_| !is_own("?")))
}

/// `x > 1 ? "yes" : "no"` reads as other messages, and answers none of both.
fn ternary(source: &str) -> Option<&'static str> {
    let mut asked = false;
    for (piece, text) in crate::highlight::pieces(source) {
        match (piece, text) {
            (Piece::Operator, "?") => asked = true,
            (Piece::Operator, ":") if asked => return Some("a choice is written if(x > 1, \"yes\", \"no\")"),
            (Piece::Plain, "\n") => asked = false,
            _ => {}
        }
    }
    None
}

/// Text that is handed to `println`, which prints its receiver and takes no arguments.
fn printing(source: &str) -> Option<&'static str> {
    let is_meant_as_function = |line: &str| {
        let arguments = ["println(", "print("].iter().find_map(|start| line.strip_prefix(start));
        let is_statement = ["println \"", "print \""].iter().any(|start| line.starts_with(start));
        is_statement || arguments.is_some_and(|arguments| !arguments.trim_start().starts_with(')'))
    };
    let words =
        "println prints the object it is sent to, and ignores arguments: \"text\" println, or writeln(\"text\")";
    source.lines().any(is_meant_as_function).then_some(words)
}

/// What Io's own messages for brackets would be, and what is written instead.
fn brackets(written: &str, has: &dyn Fn(&str) -> bool) -> Option<&'static str> {
    match written {
        "squareBrackets" if has("hasKey") => Some("at(\"key\") reads a value, atPut(\"key\", value) sets it"),
        "squareBrackets" if has("swapIndices") => Some("at(0) reads an item, atPut(0, value) changes it"),
        "squareBrackets" if has("exSlice") => Some("at(0) asCharacter is a character, exSlice(0, 2) a part"),
        "squareBrackets" => Some("lists are made with list(1, 2)"),
        "curlyBrackets" => Some("bodies stand in round brackets: if(x, 1, 2); a Map is Map with(\"key\", value)"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_object_decides_what_was_meant() {
        let names = |names: &str| names.split(' ').map(String::from).collect::<Vec<_>>();
        let of = |written: &str, slots: &str| advice(written, slots == "list", &names(slots)).unwrap_or_default();
        assert_eq!(of("add", "append size"), "did you mean 'append'?");
        assert_eq!(of("add", "atPut"), "did you mean 'atPut'?");
        assert_eq!(of("len", "size"), "did you mean 'size'?");
        assert!(of("len", "list").contains("behind their object"));
        assert!(of("a.b", "").contains("a b"));
        assert_eq!(of("frobnicate", "size"), "");
    }

    #[test]
    fn operators_that_stand_together_are_parted() {
        let known = [":=", "=", "+", "-", "*"];
        let of = |text: &str| glued(text, |operator| known.contains(&operator)).unwrap_or_default();
        assert!(of("y:=-1").ends_with("y := -1") && of("x=-y").ends_with("x = -1") && of("+-1").ends_with(": + -1"));
        for fine in ["y := -1", "y -1", "y", "y:=", "y->x", "y --"] {
            assert_eq!(of(fine), "", "{fine}");
        }
    }

    #[test]
    fn a_choice_is_no_operator() {
        assert!(ternary("x := 1\ny := x > 1 ? 2 : 3").is_some());
        for fine in ["obj ?message", "a ? b", "\"a ? b : c\"", "// a ? b : c", "a ? b\nc : d"] {
            assert!(ternary(fine).is_none(), "{fine}");
        }
    }

    #[test]
    fn printing_is_no_function() {
        assert!(printing("x := 1\nprintln(\"hello\")").is_some() && printing("print(1)").is_some());
        assert!(printing("print \"hello\"").is_some());
        assert!(printing("1 println; \"println(1)\"; println").is_none() && printing("println()").is_none());
    }
}
