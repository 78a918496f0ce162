//! All order scripts on libuv, or on the library that `OXUV_ORDER_LIBRARY` names.

oxuv_order::script_tests!(oxuv_order_libuv::Libuv);
