//! How the library's functions are called.

/// Calls a function of the library.
macro_rules! call {
    ($self:ident.$function:ident($($argument:expr),* $(,)?)) => {
        // SAFETY: the loop is open until the driver is dropped or the script has closed it, which is the script's
        // last action. Handles are initialised when they get their name, in memory that lives longer than the loop,
        // and a script does to each what its kind allows. Other pointers are valid during the call, which is as long
        // as the library uses them. Nothing of this driver is borrowed: callbacks may call it.
        unsafe { ($self.library.$function)($($argument),*) }
    };
}

pub(crate) use call;
