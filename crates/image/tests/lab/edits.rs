//! Programs drawn at random, which do something to a few objects.

use testkit::Random;

const SLOTS: &[&str] = &["a", "b", "c"];

/// Something to do to one of a few objects.
fn edit(random: &mut Random, which: usize) -> String {
    let (name, number, index) = (SLOTS[random.below(SLOTS.len())], random.below(100), random.below(6));
    match random.below(16) {
        0 => format!("o{which} {name} := {number}"),
        1 => format!("o{which} removeSlot(\"{name}\")"),
        2 => format!("o{which} {name} := list({number})"),
        3 | 4 => format!("l{which} append({number})"),
        5 => format!("l{which} atInsert({index} min(l{which} size), {number})"),
        6 => format!("if(l{which} size > {index}, l{which} removeAt({index}))"),
        7 => format!("if(l{which} size > {index}, l{which} atPut({index}, \"{number}\"))"),
        8 => format!("m{which} atPut(\"{name}\", {number})"),
        9 => format!("m{which} removeAt(\"{name}\")"),
        10 => format!("t{which} appendSeq(\"{number}\")"),
        11 => format!("if(t{which} size > {index}, t{which} removeSlice({index}, {index}))"),
        12 => format!("m{which} atPut(\"{name}\", list({number}))"),
        13 => format!("if(m{which} at(\"{name}\") type == \"List\", m{which} at(\"{name}\") append({number}))"),
        14 => {
            let slot = format!("o{which} getLocalSlot(\"{name}\")");
            format!("if({slot} type == \"List\", {slot} append({number}))")
        }
        _ => format!("o{which} setProto({})", if number % 2 == 0 { "P" } else { "Object" }),
    }
}

pub fn edits(random: &mut Random, which: usize) -> String {
    let count = 1 + random.below(6);
    (0..count).map(|_| edit(random, which) + "; ").collect::<String>() + "1"
}

pub fn look(which: usize) -> String {
    format!(
        "list(o{which} slotNames sort map(name, list(name, o{which} getLocalSlot(name))), o{which} protos map(proto,
            if(proto == P, \"P\", if(proto == o0, \"o0\", if(proto == o1, \"o1\", \"Object\")))), l{which},
            m{which} keys sort map(key, list(key, m{which} at(key))), t{which} asString) asString"
    )
}

pub const THINGS: &str = "
    o0 := Object clone; o1 := Object clone; l0 := list(1, 2, 3); l1 := list(4, 5, 6); m0 := Map clone; m1 := Map clone
    t0 := \"zero\" asMutable; t1 := \"one\" asMutable; P := Object clone; 1";
