//! Instructions: sixteen bytes each, three registers, and fuel.
//!
//! Code does not pay for each instruction. Every place has a number, `owed_at`: the fuel of all instructions before it, in
//! the order they lie in. While code runs, its count of fuel is what is left plus what the present place owes, so going
//! straight on changes nothing; a jump pays the difference of the two places, a call pays all that its place owes, and
//! the return to that place takes it back. What is left is exact whenever anybody can look.

use object::Value;

/// What an instruction does. `a`, `b`, `c` are registers, `x` a site or a place in the code, `value` a constant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Op {
    /// a = value
    Constant,
    /// a = b
    Move,
    /// a = b, which must not be something that a read would activate
    Load,
    /// a = b, which must be a number
    Number,
    /// a = b ∘ c, both numbers
    Add,
    Subtract,
    Multiply,
    Divide,
    Modulo,
    Less,
    Greater,
    LessEqual,
    GreaterEqual,
    Equal,
    NotEqual,
    /// a = b ∘ value, both numbers
    AddConstant,
    SubtractConstant,
    MultiplyConstant,
    DivideConstant,
    ModuloConstant,
    LessConstant,
    GreaterConstant,
    LessEqualConstant,
    GreaterEqualConstant,
    EqualConstant,
    NotEqualConstant,
    /// to x unless b ∘ c
    UnlessLess,
    UnlessGreater,
    UnlessLessEqual,
    UnlessGreaterEqual,
    UnlessEqual,
    UnlessNotEqual,
    /// to x unless b ∘ value
    UnlessLessConstant,
    UnlessGreaterConstant,
    UnlessLessEqualConstant,
    UnlessGreaterEqualConstant,
    UnlessEqualConstant,
    UnlessNotEqualConstant,
    /// to x
    Jump,
    /// to x unless b is true
    JumpUnless,
    /// a..a+3 are counter, end, step, result: to x if there is nothing to count; else b = counter
    ForBegin,
    /// the next count: to x, with b = counter, unless it was the last
    ForNext,
    /// a = how often so far, a+1 = how often in all: as above; b is the counter, or a itself
    RepeatBegin,
    RepeatNext,
    /// a = index, a+1 = direction, a+2 = keys, a+3 = the list: c = item, b = index, or a itself
    ForeachBegin,
    ForeachNext,
    /// a = the answer of b to the message of site x, which has no arguments
    Get,
    /// as Get; b is a local that was not read yet, and must not be something that a read would activate
    GetOfLocal,
    /// a = the answer of b to the message of site x; its c arguments are in a+2 and on, and cost `value` of the fuel
    Send,
    /// as Send, to the locals and what they stand for
    SendSelf,
    /// a = what b has under the name of site x, a+1 = b; on with the arguments, or to value with the answer in a
    Find,
    FindSelf,
    /// a = the answer of what was found, its c arguments in a+2 and on
    Call,
    /// b's slot of site x = c
    SetSlot,
    UpdateSlot,
    /// the same for the name as the locals find it
    UpdateSelf,
    /// the context's slot of site x = c; a loop's own variable, so it is never refused
    Bind,
    /// a = b, which must answer the name of site x as objects and locals did at first
    Guard,
    /// answer b
    Return,
    /// go on in the tree
    Leave,
}

/// Each round of a loop costs one unit of fuel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Round {
    First,
    Next,
}

impl Op {
    /// Whether it computes `a` from numbers.
    pub fn is_arithmetic(self) -> bool {
        (Op::Add as u8..=Op::NotEqualConstant as u8).contains(&(self as u8))
    }

    /// Whether it leads to place x.
    pub fn is_jump(self) -> bool {
        (Op::UnlessLess as u8..=Op::ForeachNext as u8).contains(&(self as u8))
    }

    /// Whether it begins the first round of a loop by going straight on, or the next one by jumping.
    pub fn begins_round(self) -> Option<Round> {
        match self {
            Op::ForBegin | Op::RepeatBegin | Op::ForeachBegin => Some(Round::First),
            Op::ForNext | Op::RepeatNext | Op::ForeachNext => Some(Round::Next),
            _ => None,
        }
    }

    /// The jump that a comparison becomes when only its truth matters.
    pub fn as_jump(self) -> Option<Op> {
        Some(match self {
            Op::Less => Op::UnlessLess,
            Op::Greater => Op::UnlessGreater,
            Op::LessEqual => Op::UnlessLessEqual,
            Op::GreaterEqual => Op::UnlessGreaterEqual,
            Op::Equal => Op::UnlessEqual,
            Op::NotEqual => Op::UnlessNotEqual,
            Op::LessConstant => Op::UnlessLessConstant,
            Op::GreaterConstant => Op::UnlessGreaterConstant,
            Op::LessEqualConstant => Op::UnlessLessEqualConstant,
            Op::GreaterEqualConstant => Op::UnlessGreaterEqualConstant,
            Op::EqualConstant => Op::UnlessEqualConstant,
            Op::NotEqualConstant => Op::UnlessNotEqualConstant,
            _ => return None,
        })
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Instruction {
    pub op: Op,
    pub a: u8,
    pub b: u8,
    pub c: u8,
    /// While compiling, the messages that this instruction stands for. Then what a jump pays, and for what does not
    /// jump, what is owed behind it.
    pub fuel: i16,
    pub x: u16,
    pub value: Value,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instruction_is_two_words() {
        assert_eq!(size_of::<Instruction>(), 16);
    }
}
