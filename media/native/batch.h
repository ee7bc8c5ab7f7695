// A PacketBatch of JavaScript (packet-io.ts) during one call.
#ifndef PARLEY_MEDIA_BATCH_H
#define PARLEY_MEDIA_BATCH_H

#include <cstddef>
#include <cstdint>

#include "addon.h"

namespace parley {

/** PACKET_SLOT_BYTES of packet-io.ts. */
constexpr size_t kSlotBytes = 1536;

/** Where JavaScript's arrays are during one call, and how many packets all of them have room for. */
struct Batch {
  uint8_t* bytes;
  uint16_t* length;
  int32_t* socket;
  uint32_t* ipv4;
  uint16_t* port;
  double* arrived_at;
  size_t capacity;
};

/** Reads the arrays (bytes, length, socket, ipv4, port, and arrivedAt if `with_arrivals`). */
inline bool batch_of(napi_env env, const napi_value* values, bool with_arrivals, Batch* batch) {
  void* data[6] = {};
  size_t length[6] = {};
  static constexpr napi_typedarray_type kTypes[6] = {napi_uint8_array,  napi_uint16_array, napi_int32_array,
                                                     napi_uint32_array, napi_uint16_array, napi_float64_array};
  const size_t arrays = with_arrivals ? 6 : 5;
  for (size_t i = 0; i < arrays; i++) {
    if (!array_of(env, values[i], kTypes[i], &data[i], &length[i])) return false;
  }
  batch->bytes = static_cast<uint8_t*>(data[0]);
  batch->length = static_cast<uint16_t*>(data[1]);
  batch->socket = static_cast<int32_t*>(data[2]);
  batch->ipv4 = static_cast<uint32_t*>(data[3]);
  batch->port = static_cast<uint16_t*>(data[4]);
  batch->arrived_at = static_cast<double*>(data[5]);
  batch->capacity = length[0] / kSlotBytes;
  for (size_t i = 1; i < arrays; i++) {
    if (length[i] < batch->capacity) batch->capacity = length[i];
  }
  return true;
}

}  // namespace parley

#endif
