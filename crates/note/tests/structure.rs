//! Laws that hold for any text: spans cut out exactly what they say, line ends do not matter, and time is linear.

mod structure {
    mod fuzz;
    mod hostile;
    pub(crate) mod laws;
    mod lines;
    pub(crate) mod nasty;
    mod properties;
}
