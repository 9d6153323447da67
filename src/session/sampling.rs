//! Sampling: logits to the next token.
