//! What a query can be asked for: of one thing whether it fits, of many things which of them do, and of either what can be
//! said so far.

/// Things out of some: those that a query, or a part of it, is true of.
pub trait Answers: Clone {
    /// None out of the same things.
    fn none(&self) -> Self;

    fn or(self, other: &Self) -> Self;

    /// Those of these for which `part`, asked of them, does not come out.
    fn except<E>(&self, part: impl FnOnce(&Self) -> Result<Self, E>) -> Result<Self, E>;

    /// Whether there are none, so that nothing more has to be asked of them.
    fn is_none(&self) -> bool;

    /// Whether these are all out of `within`, so that no alternative can add to them.
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

/// What can be said before everything is known: those that a query is surely true of, and those that it may be true of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnswerBounds<A> {
    pub certain: A,
    /// The certain ones are among them.
    pub possible: A,
}

impl<A: Answers> AnswerBounds<A> {
    /// Where everything is known.
    pub fn exactly(answers: A) -> Self {
        Self { certain: answers.clone(), possible: answers }
    }

    /// Where nothing is known but that it is among these.
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

    /// What is surely true of a thing rules it out, whether or not the thing itself is certain.
    fn except<E>(&self, part: impl FnOnce(&Self) -> Result<Self, E>) -> Result<Self, E> {
        let found = part(&Self::exactly(self.possible.clone()))?;
        Ok(Self {
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
