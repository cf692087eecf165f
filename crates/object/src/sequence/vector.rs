//! Sequences as vectors of numbers: arithmetic in place, functions applied to every item, reductions to one Number.
//! Results are stored in the receiver's own item type, so integers wrap and drop fractions.

use super::{Encoding, Item, ItemType, Scalar, Sequence, SequenceError, with_item};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
    Power,
}

/// The right side of an arithmetic operation.
#[derive(Debug, Clone, Copy)]
pub enum Operand<'a> {
    Number(f64),
    Sequence(&'a Sequence),
}

/// What Io applies to every item in place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnaryFunction {
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    Sinh,
    Cosh,
    Tanh,
    Exp,
    Log,
    Log10,
    Sqrt,
    Ceil,
    Floor,
    Abs,
}

impl UnaryFunction {
    pub fn apply(self, number: f64) -> f64 {
        match self {
            UnaryFunction::Sin => number.sin(),
            UnaryFunction::Cos => number.cos(),
            UnaryFunction::Tan => number.tan(),
            UnaryFunction::Asin => number.asin(),
            UnaryFunction::Acos => number.acos(),
            UnaryFunction::Atan => number.atan(),
            UnaryFunction::Sinh => number.sinh(),
            UnaryFunction::Cosh => number.cosh(),
            UnaryFunction::Tanh => number.tanh(),
            UnaryFunction::Exp => number.exp(),
            UnaryFunction::Log => number.ln(),
            UnaryFunction::Log10 => number.log10(),
            UnaryFunction::Sqrt => number.sqrt(),
            UnaryFunction::Ceil => number.ceil(),
            UnaryFunction::Floor => number.floor(),
            UnaryFunction::Abs => number.abs(),
        }
    }
}

impl Sequence {
    /// `+=` and its kin: item by item over the shorter length, or the same number for every item. Only in `number`
    /// encoding.
    pub fn apply(&mut self, operator: Operator, operand: Operand<'_>) -> Result<(), SequenceError> {
        if self.encoding != Encoding::Number {
            return Err(SequenceError::NotNumberEncoding);
        }
        match operand {
            Operand::Number(number) => self.map_numbers(|item| match operator {
                Operator::Add => item + number,
                Operator::Subtract => item - number,
                Operator::Multiply => item * number,
                Operator::Divide => item / number,
                Operator::Power => item.powf(number),
            }),
            Operand::Sequence(other) => return self.combine(operator, other),
        }
        Ok(())
    }

    /// `+` and its kin: the same on a copy.
    pub fn applied(&self, operator: Operator, operand: Operand<'_>) -> Result<Sequence, SequenceError> {
        let mut out = self.clone();
        out.apply(operator, operand).map(|()| out)
    }

    fn combine(&mut self, operator: Operator, other: &Sequence) -> Result<(), SequenceError> {
        let item_type = self.item_type;
        let size = item_type.size();
        let others = other.items_for(self);
        let pairs = self.buffer.as_mut_slice().chunks_exact_mut(size).zip(others.chunks_exact(size));
        with_item!(item_type, T => for (slot, right) in pairs {
            let (left, right) = (T::read(slot), T::read(right));
            let result = match operator {
                Operator::Add => Some(left.add(right)),
                Operator::Subtract => Some(left.subtract(right)),
                Operator::Multiply => Some(left.multiply(right)),
                Operator::Divide => left.divide(right),
                Operator::Power => Some(T::from_number(left.to_number().powf(right.to_number()))),
            };
            result.ok_or(SequenceError::IntegerDivisionByZero(item_type))?.write(slot);
        });
        Ok(())
    }

    /// Io's `+=` with four arguments: adds the other, stretched by `x_scale` and multiplied by `y_scale`, from item
    /// `offset` on.
    pub fn add_scaled(&mut self, other: &Sequence, offset: i64, x_scale: f64, y_scale: f64) {
        let others: Vec<f64> = other.numbers().collect();
        let skipped = usize::try_from(offset.saturating_neg()).unwrap_or(0);
        let start = usize::try_from(offset).unwrap_or(0).min(self.len());
        let mut numbers: Vec<f64> = self.numbers().collect();
        for (step, slot) in numbers[start..].iter_mut().enumerate() {
            let source = (step + skipped) as f64 / x_scale;
            match others.get(source as usize) {
                Some(value) if source >= 0.0 => *slot += value * y_scale,
                _ => break,
            }
        }
        self.store_numbers(&numbers);
    }

    /// Applies a function to every item.
    pub fn apply_function(&mut self, function: UnaryFunction) {
        self.map_numbers(|item| function.apply(item));
    }

    /// Changes every sign; unsigned items have none.
    pub fn negate(&mut self) -> Result<(), SequenceError> {
        if !self.item_type.is_signed() {
            return Err(SequenceError::NegateUnsigned(self.item_type));
        }
        let negated: Vec<Scalar> = self.scalars().map(negate_scalar).collect();
        self.store_scalars(&negated);
        Ok(())
    }

    pub fn square(&mut self) {
        with_item!(self.item_type, T => for slot in self.buffer.as_mut_slice().chunks_exact_mut(size_of::<T>()) {
            let item = T::read(slot);
            item.multiply(item).write(slot);
        });
    }

    /// To length one: divides by the root of the sum of squares.
    pub fn normalize(&mut self) {
        let length = self.numbers().map(|item| self.product_of(item, item)).sum::<f64>().sqrt();
        self.map_numbers(|item| item / length);
    }

    /// Every item becomes its index.
    pub fn range_fill(&mut self) {
        let indexes: Vec<f64> = (0..self.len()).map(|index| index as f64).collect();
        self.store_numbers(&indexes);
    }

    /// Io's `zero`: every item becomes 0, the size stays.
    pub fn clear(&mut self) {
        self.buffer.as_mut_slice().fill(0);
    }

    /// Io's `setItemsToDouble`; `setItemsToLong` passes a whole number.
    pub fn set_items_to(&mut self, number: f64) {
        self.map_numbers(|_| number);
    }

    /// 1 where either item is not zero, else 0, over the shorter length.
    pub fn logical_or(&mut self, other: &Sequence) {
        self.combine_numbers(other, |left, right| f64::from(left != 0.0 || right != 0.0));
    }

    pub fn logical_and(&mut self, other: &Sequence) {
        self.combine_numbers(other, |left, right| f64::from(left != 0.0 && right != 0.0));
    }

    /// Io's `Max`: the greater of each pair of items.
    pub fn maximum_with(&mut self, other: &Sequence) {
        self.combine_numbers(other, |left, right| if left > right { left } else { right });
    }

    /// Io's `Min`: the lesser of each pair of items.
    pub fn minimum_with(&mut self, other: &Sequence) {
        self.combine_numbers(other, |left, right| if left < right { left } else { right });
    }

    pub fn sum(&self) -> f64 {
        self.numbers().fold(0.0, |total, item| total + item)
    }

    pub fn product(&self) -> f64 {
        self.numbers().product()
    }

    /// 0 for an empty sequence, as `max`.
    pub fn min(&self) -> f64 {
        self.numbers().reduce(f64::min).unwrap_or(0.0)
    }

    pub fn max(&self) -> f64 {
        self.numbers().reduce(f64::max).unwrap_or(0.0)
    }

    /// NaN for an empty sequence, as `mean_square`.
    pub fn mean(&self) -> f64 {
        self.sum() / self.len() as f64
    }

    pub fn mean_square(&self) -> f64 {
        self.numbers().map(|item| self.product_of(item, item)).fold(0.0, |total, item| total + item) / self.len() as f64
    }

    pub fn root_mean_square(&self) -> f64 {
        self.mean_square().sqrt()
    }

    pub fn dot_product(&self, other: &Sequence) -> f64 {
        let same_type = self.item_type == other.item_type;
        let products = self.numbers().zip(other.numbers()).map(|(left, right)| match same_type {
            true => self.product_of(left, right),
            false => left * right,
        });
        products.fold(0.0, |total, product| total + product)
    }

    /// The root of the sum of squared differences; as in Io, 0 when sizes differ.
    pub fn distance_to(&self, other: &Sequence) -> f64 {
        if self.len() != other.len() {
            return 0.0;
        }
        let squares = self.numbers().zip(other.numbers()).map(|(left, right)| (left - right) * (left - right));
        squares.sum::<f64>().sqrt()
    }

    /// Products of `float32` items keep that type's precision, as the stored result of a multiplication would.
    fn product_of(&self, left: f64, right: f64) -> f64 {
        match self.item_type {
            ItemType::Float32 => f64::from(left as f32 * right as f32),
            _ => left * right,
        }
    }

    fn map_numbers(&mut self, map: impl Fn(f64) -> f64) {
        let item_type = self.item_type;
        let slots = self.buffer.as_mut_slice().chunks_exact_mut(item_type.size());
        with_item!(item_type, T => slots.for_each(|slot| T::from_number(map(T::read(slot).to_number())).write(slot)));
    }

    fn combine_numbers(&mut self, other: &Sequence, combine: impl Fn(f64, f64) -> f64) {
        let results: Vec<f64> = self.numbers().zip(other.numbers()).map(|(left, right)| combine(left, right)).collect();
        self.store_numbers(&results);
    }

    fn store_numbers(&mut self, numbers: &[f64]) {
        let item_type = self.item_type;
        let slots = self.buffer.as_mut_slice().chunks_exact_mut(item_type.size());
        for (slot, number) in slots.zip(numbers) {
            with_item!(item_type, T => T::from_number(*number).write(slot));
        }
    }
}

fn negate_scalar(item: Scalar) -> Scalar {
    match item {
        Scalar::Integer(value) => Scalar::Integer(-value),
        Scalar::Float(value) => Scalar::Float(-value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vector(numbers: &[f64]) -> Sequence {
        Sequence::vector(numbers)
    }

    fn integers(item_type: ItemType, numbers: &[f64]) -> Sequence {
        let mut sequence = Sequence::with_type(item_type, Encoding::Number);
        numbers.iter().for_each(|number| sequence.append_number(*number));
        sequence
    }

    #[test]
    fn adds_and_multiplies_in_place() {
        let mut sequence = vector(&[1.0, 2.0, 3.0]);
        sequence.apply(Operator::Add, Operand::Sequence(&vector(&[10.0, 20.0]))).unwrap();
        assert_eq!(sequence, vector(&[11.0, 22.0, 3.0]));
        sequence.apply(Operator::Multiply, Operand::Number(2.0)).unwrap();
        assert_eq!(sequence, vector(&[22.0, 44.0, 6.0]));
        sequence.apply(Operator::Divide, Operand::Number(0.0)).unwrap();
        assert_eq!(sequence.at(0), Some(f64::INFINITY));
        assert_eq!(vector(&[2.0]).applied(Operator::Power, Operand::Number(3.0)).unwrap(), vector(&[8.0]));
    }

    #[test]
    fn refuses_what_io_cannot_do() {
        let text = Sequence::from("abc").apply(Operator::Add, Operand::Number(1.0)).unwrap_err();
        assert_eq!(text.to_string(), "operation not valid on non-number encodings");
        let mut bytes = integers(ItemType::Uint8, &[1.0]);
        assert!(bytes.apply(Operator::Divide, Operand::Sequence(&integers(ItemType::Uint8, &[0.0]))).is_err());
        assert!(bytes.negate().is_err());
    }

    #[test]
    fn integers_wrap() {
        let mut bytes = integers(ItemType::Uint8, &[250.0]);
        bytes.apply(Operator::Add, Operand::Sequence(&vector(&[10.0]))).unwrap();
        assert_eq!(bytes.at(0), Some(4.0));
        let mut smallest = integers(ItemType::Int8, &[-128.0]);
        smallest.negate().unwrap();
        assert_eq!(smallest.at(0), Some(-128.0));
        let mut divided = integers(ItemType::Int64, &[i64::MIN as f64]);
        divided.apply(Operator::Divide, Operand::Sequence(&integers(ItemType::Int64, &[-1.0]))).unwrap();
        assert_eq!(divided.at(0), Some(i64::MIN as f64));
    }

    #[test]
    fn reduces_as_the_io_suite_says() {
        let sequence = vector(&[1.0, 2.0, 3.0, 4.0, 5.0]);
        assert_eq!((sequence.sum(), sequence.product()), (15.0, 120.0));
        assert_eq!(sequence.root_mean_square(), 11.0f64.sqrt());
        assert_eq!((sequence.min(), sequence.max(), sequence.mean()), (1.0, 5.0, 3.0));
        assert_eq!(vector(&[-3.0, -1.0]).max(), -1.0);
        assert_eq!(vector(&[]).max(), 0.0);
        assert_eq!(sequence.dot_product(&vector(&[1.0, 1.0])), 3.0);
        assert_eq!(vector(&[0.0, 0.0]).distance_to(&vector(&[3.0, 4.0])), 5.0);
    }

    #[test]
    fn applies_functions_to_every_item() {
        let mut sequence = vector(&[3.0, 4.0]);
        sequence.normalize();
        assert_eq!(sequence, vector(&[0.6, 0.8]));
        sequence.apply_function(UnaryFunction::Ceil);
        assert_eq!(sequence, vector(&[1.0, 1.0]));
        sequence.range_fill();
        sequence.logical_or(&vector(&[0.0, 5.0]));
        assert_eq!(sequence, vector(&[0.0, 1.0]));
        sequence.maximum_with(&vector(&[7.0, 0.0]));
        assert_eq!(sequence, vector(&[7.0, 1.0]));
        sequence.square();
        assert_eq!(sequence, vector(&[49.0, 1.0]));
        sequence.clear();
        assert!(sequence.is_zero());
    }

    #[test]
    fn adds_scaled() {
        let mut sequence = vector(&[0.0; 5]);
        sequence.add_scaled(&vector(&[1.0, 2.0]), 1, 2.0, 10.0);
        assert_eq!(sequence, vector(&[0.0, 10.0, 10.0, 20.0, 20.0]));
    }
}
