//! Why did it fail?
