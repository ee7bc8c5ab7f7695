// What the parts of the addon share: how JavaScript's values are read, and how each part adds itself to the exports.
#ifndef PARLEY_MEDIA_ADDON_H
#define PARLEY_MEDIA_ADDON_H

#include <node_api.h>

#include <cstddef>
#include <cstdint>

namespace parley {

/** Throws a TypeError; null, for the caller to return. */
inline napi_value fail(napi_env env, const char* message) {
  napi_throw_type_error(env, "ERR_INVALID_ARG_TYPE", message);
  return nullptr;
}

inline napi_value number(napi_env env, int32_t value) {
  napi_value result = nullptr;
  napi_create_int32(env, value, &result);
  return result;
}

/** Whether `value` is a whole number from 0 to `most`; `napi_get_value_uint32` would take any, also NaN, for one. */
inline bool whole(napi_env env, napi_value value, uint32_t most, uint32_t* result) {
  double given = 0;
  if (napi_get_value_double(env, value, &given) != napi_ok || !(given >= 0 && given <= most)) return false;
  *result = static_cast<uint32_t>(given);
  return *result == given;
}

/** Detached arrays have length 0, so that they hold no packet. */
inline bool array_of(napi_env env, napi_value value, napi_typedarray_type wanted, void** data, size_t* length) {
  bool is_array = false;
  napi_typedarray_type type;
  return napi_is_typedarray(env, value, &is_array) == napi_ok && is_array &&
         napi_get_typedarray_info(env, value, &type, length, data, nullptr, nullptr) == napi_ok && type == wanted;
}

/** The instance that a method was called on and its arguments; null when there is none, an exception being thrown. */
template <typename T, size_t N>
T* receiver(napi_env env, napi_callback_info info, const napi_type_tag& tag, napi_value (&arguments)[N]) {
  size_t count = N;
  napi_value self = nullptr;
  bool ours = false;
  void* instance = nullptr;
  if (napi_get_cb_info(env, info, &count, arguments, &self, nullptr) != napi_ok || count < N ||
      napi_check_object_type_tag(env, self, &tag, &ours) != napi_ok || !ours ||
      napi_unwrap(env, self, &instance) != napi_ok) {
    fail(env, "a method was called on another object, or with too few arguments");
    return nullptr;
  }
  return static_cast<T*>(instance);
}

/** Called for each instance, also for what is left when the thread's environment ends. */
template <typename T>
void finalize(napi_env env, void* instance, void*) {
  int64_t held = 0;
  napi_adjust_external_memory(env, -T::kHeldBytes, &held);
  delete static_cast<T*>(instance);
}

/**
 * Makes `instance` the one of `self`, which owns it from here on; false, with an exception, when that fails. V8 is told of the
 * `T::kHeldBytes` outside of its heap, so that it collects instances in time.
 */
template <typename T>
bool wrap(napi_env env, napi_value self, const napi_type_tag& tag, T* instance) {
  if (napi_wrap(env, self, instance, finalize<T>, nullptr, nullptr) != napi_ok) {
    delete instance;
    fail(env, "the object cannot hold a native instance");
    return false;
  }
  int64_t held = 0;
  napi_type_tag_object(env, self, &tag);
  napi_adjust_external_memory(env, T::kHeldBytes, &held);
  return true;
}

/** Adds a function to the exports. */
inline bool add_function(napi_env env, napi_value exports, const char* name, napi_callback callback) {
  napi_value function = nullptr;
  return napi_create_function(env, name, NAPI_AUTO_LENGTH, callback, nullptr, &function) == napi_ok &&
         napi_set_named_property(env, exports, name, function) == napi_ok;
}

/** Adds a class to the exports. */
template <size_t N>
bool add_class(napi_env env, napi_value exports, const char* name, napi_callback construct,
               const napi_property_descriptor (&methods)[N]) {
  napi_value constructor = nullptr;
  return napi_define_class(env, name, NAPI_AUTO_LENGTH, construct, nullptr, N, methods, &constructor) == napi_ok &&
         napi_set_named_property(env, exports, name, constructor) == napi_ok;
}

constexpr napi_property_descriptor method(const char* name, napi_callback callback) {
  return {name, nullptr, callback, nullptr, nullptr, nullptr, napi_default_method, nullptr};
}

bool add_packet_io(napi_env env, napi_value exports);
bool add_datagrams(napi_env env, napi_value exports);
bool add_srtp(napi_env env, napi_value exports);
bool add_media_path(napi_env env, napi_value exports);
bool add_recordings(napi_env env, napi_value exports);

}  // namespace parley

#endif
