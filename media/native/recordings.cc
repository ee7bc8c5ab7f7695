// The recording writer's copy of a ring (RecordingRingReader.copy of recording-ring.ts): two channels become one block of byte pairs.
#include <cstring>

#include "addon.h"
#include "rings.h"

namespace parley {
namespace {

#if defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)
#define PARLEY_SHUFFLES
#endif
#endif

/** Bytes of `first` and `second` in turns. */
void interleave(const uint8_t* first, const uint8_t* second, size_t count, uint8_t* into) {
  size_t i = 0;
#ifdef PARLEY_SHUFFLES
  typedef uint8_t Bytes __attribute__((vector_size(16)));
  for (; i + sizeof(Bytes) <= count; i += sizeof(Bytes)) {
    Bytes a;
    Bytes b;
    memcpy(&a, first + i, sizeof a);
    memcpy(&b, second + i, sizeof b);
    const Bytes low = __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    const Bytes high = __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
    memcpy(into + 2 * i, &low, sizeof low);
    memcpy(into + 2 * i + sizeof low, &high, sizeof high);
  }
#endif
  for (; i < count; i++) {
    into[2 * i] = first[i];
    into[2 * i + 1] = second[i];
  }
}

/** copyRecording(ring, frames, into, swap): how many frames from the ring's read position on `into` has as byte pairs. */
napi_value copy_recording(napi_env env, napi_callback_info info) {
  size_t count = 4;
  napi_value arguments[4];
  void* memory = nullptr;
  void* into = nullptr;
  size_t bytes = 0;
  size_t room = 0;
  uint32_t frames = 0;
  bool swap = false;
  RecordingRing ring;
  if (napi_get_cb_info(env, info, &count, arguments, nullptr, nullptr) != napi_ok || count < 4 ||
      !array_of(env, arguments[0], napi_int32_array, &memory, &bytes) || !ring.attach(memory, bytes * sizeof(int32_t)) ||
      !whole(env, arguments[1], UINT32_MAX, &frames) || !array_of(env, arguments[2], napi_uint8_array, &into, &room) ||
      napi_get_value_bool(env, arguments[3], &swap) != napi_ok) {
    return fail(env, "copyRecording takes an Int32Array over a recording's ring, a number, a Uint8Array and a boolean");
  }
  const size_t wanted = frames < room / 2 ? frames : room / 2;
  return number(env, static_cast<int32_t>(ring.copy(wanted, static_cast<uint8_t*>(into), swap, interleave)));
}

}  // namespace

bool add_recordings(napi_env env, napi_value exports) { return add_function(env, exports, "copyRecording", copy_recording); }

}  // namespace parley
