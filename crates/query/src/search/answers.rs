//! The forms of an answer: for one thing whether it matches, for many things which of them do, and for either what is
//! known so far.

/// A subset: those that a query, or part of it, is true of.
pub trait Answers: Clone {
    /// None out of the same things.
    fn none(&self) -> Self;

    fn or(self, other: &Self) -> Self;

    /// Those of these that `part`, evaluated for them, does not match.
    fn except<E>(&self, part: impl FnOnce(&Self) -> Result<Self, E>) -> Result<Self, E>;

    /// Whether it is empty, so that nothing more has to be evaluated.
    fn is_none(&self) -> bool;

    /// Whether these are all of `within`, so that no alternative can add to them.
    fn is_all(&self, within: &Self) -> bool;
}

/// One thing: it is in or out.
impl Answers for bool {
    fn none(&self) -> Self {
        false
    }

    fn or(self, other: &Self) -> Self {
        self || *other
    }

    fn except<E>(&self, part: impl FnOnce(&Self) -> Result<Self, E>) -> Result<Self, E> {
        Ok(*self && !part(self)?)
    }

    fn is_none(&self) -> bool {
        !*self
    }

    fn is_all(&self, within: &Self) -> bool {
        self == within
    }
}

/// What is known before everything is: those that a query surely matches, and those that it may match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnswerBounds<A> {
    pub certain: A,
    /// Includes the certain ones.
    pub possible: A,
}

impl<A: Answers> AnswerBounds<A> {
    /// Where everything is known.
    pub fn exactly(answers: A) -> Self {
        Self { certain: answers.clone(), possible: answers }
    }

    /// Nothing is known except that it is among these.
    pub fn unknown(within: &Self) -> Self {
        Self { certain: within.certain.none(), possible: within.possible.clone() }
    }
}

impl AnswerBounds<bool> {
    /// Of one thing, where it is known.
    pub fn known(within: Self, holds: bool) -> Self {
        Self { certain: within.certain && holds, possible: within.possible && holds }
    }
}

impl<A: Answers> Answers for AnswerBounds<A> {
    fn none(&self) -> Self {
        Self { certain: self.certain.none(), possible: self.possible.none() }
    }

    fn or(self, other: &Self) -> Self {
        Self { certain: self.certain.or(&other.certain), possible: self.possible.or(&other.possible) }
    }

    /// A sure match of the excluded part rules it out, whether or not the thing itself is certain.
    fn except<E>(&self, part: impl FnOnce(&Self) -> Result<Self, E>) -> Result<Self, E> {
        let found = part(&Self::exactly(self.possible.clone()))?;
        Ok(Self {
            // Crosswise: certain is what possibly excluded things do not touch, and the other way round.
            certain: self.certain.except(|_| Ok(found.possible))?,
            possible: self.possible.except(|_| Ok(found.certain))?,
        })
    }

    fn is_none(&self) -> bool {
        self.possible.is_none()
    }

    fn is_all(&self, within: &Self) -> bool {
        self.certain.is_all(&within.certain) && self.possible.is_all(&within.possible)
    }
}
