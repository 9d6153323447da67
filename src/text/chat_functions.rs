//! Functions and filters that chat templates expect.
