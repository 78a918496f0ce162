/* Which unwinder the shared library asks: the program's, if it has one.
 *
 * libuv.so.1 carries an unwinder, to need the C library alone. But an exception that a callback throws belongs to the
 * program's unwinder, libgcc_s.so.1 or LLVM's libunwind, and what that tells of a frame on its way through uv_run can be
 * read by its own functions only. So each time, the program's function is taken if it is to be found; a program without
 * any throws nothing, and then ours does for a panic's way to the abort, and for its backtrace.
 *
 * One that is loaded but not to be found, by whoever loaded it for itself alone, is as a rule of the same make as ours,
 * which then does, too: if it has unwound something before, since only then it knows the sizes of registers. So it takes
 * one step when the library is loaded.
 *
 * The linker sends calls of `name` to `__wrap_name`, and those of `__real_name` to the unwinder carried (--wrap). */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>
#include <unwind.h>

#pragma GCC visibility push(hidden)

#define WRAP(type, name, parameters, arguments)                                                    \
  type __real_##name parameters;                                                                   \
  type __wrap_##name parameters;                                                                   \
  type __wrap_##name parameters {                                                                  \
    type(*found) parameters = __real_##name;                                                       \
    void* symbol = dlsym(RTLD_DEFAULT, #name);                                                     \
    if (symbol != NULL) memcpy(&found, &symbol, sizeof(found));                                    \
    return found arguments;                                                                        \
  }

typedef struct _Unwind_Exception exception;
typedef struct _Unwind_Context context;

WRAP(_Unwind_Reason_Code, _Unwind_RaiseException, (exception * thrown), (thrown))
WRAP(_Unwind_Reason_Code, _Unwind_Backtrace, (_Unwind_Trace_Fn trace, void* argument), (trace, argument))
WRAP(void*, _Unwind_GetLanguageSpecificData, (context * frame), (frame))
WRAP(_Unwind_Ptr, _Unwind_GetIP, (context * frame), (frame))
WRAP(_Unwind_Ptr, _Unwind_GetIPInfo, (context * frame, int* before), (frame, before))
WRAP(_Unwind_Ptr, _Unwind_GetRegionStart, (context * frame), (frame))
WRAP(_Unwind_Ptr, _Unwind_GetTextRelBase, (context * frame), (frame))
WRAP(_Unwind_Ptr, _Unwind_GetDataRelBase, (context * frame), (frame))
WRAP(_Unwind_Word, _Unwind_GetCFA, (context * frame), (frame))
WRAP(void, _Unwind_SetGR, (context * frame, int number, _Unwind_Word value), (frame, number, value))
WRAP(void, _Unwind_SetIP, (context * frame, _Unwind_Ptr value), (frame, value))
WRAP(void, _Unwind_DeleteException, (exception * thrown), (thrown))
WRAP(void, _Unwind_Resume, (exception * thrown), (thrown))

static _Unwind_Reason_Code stop(context* frame, void* unused) {
  (void) frame, (void) unused;
  return _URC_NORMAL_STOP;
}

__attribute__((constructor)) static void take_one_step(void) {
  __real__Unwind_Backtrace(stop, NULL);
}
