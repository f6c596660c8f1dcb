//! Laws for any text: spans cut out exactly the right text, line endings do not matter, and time is linear.

mod structure {
    mod fuzz;
    mod hostile;
    pub(crate) mod laws;
    mod lines;
    pub(crate) mod nasty;
    mod properties;
}
