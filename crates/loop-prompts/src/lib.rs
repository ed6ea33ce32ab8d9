//! Turns a prompt reference and a token map into text: one pass, values inert.
