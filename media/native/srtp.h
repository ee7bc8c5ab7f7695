// SRTP of RTP packets under one set of session keys, for the media path too.
#ifndef PARLEY_MEDIA_SRTP_H
#define PARLEY_MEDIA_SRTP_H

#include <node_api.h>
#include <openssl/evp.h>
#include <openssl/sha.h>

#include <cstddef>
#include <cstdint>

#include "hardware_crypto.h"

namespace parley {

/** PACKET_SLOT_BYTES of packet-io.ts. */
constexpr size_t kMostPacketBytes = 1536;
constexpr size_t kMostTagBytes = 16;
constexpr size_t kSaltBytes = 14;
constexpr uint64_t kPacketIndices = UINT64_C(1) << 48;

/** AES in counter mode and HMAC-SHA1, or AES-GCM, under one set of session keys; at a cache line. */
struct alignas(64) RtpTransform {
  /** About: OpenSSL's context, and the plaintext of GCM, are held by few. */
  static constexpr int64_t kHeldBytes = 1024;
  size_t tag_bytes = 0;
  bool is_gcm = false;
  /** Of counter mode: by the processor's instructions; then `cipher`, `inner` and `outer` are not used. */
  bool uses_hardware = false;
  uint8_t salt[kSaltBytes] = {};
  HardwareKeys hardware = {};
  /** Kept with its key; of counter mode it encrypts single blocks. null: the processor's instructions do that. */
  EVP_CIPHER_CTX* cipher = nullptr;
  /** SHA-1 after the block of the key, inner and outer (RFC 2104). */
  SHA_CTX inner = {};
  SHA_CTX outer = {};
  /** Of the packet that GCM found authentic last, kMostPacketBytes; null: counter mode. */
  uint8_t* plaintext = nullptr;
  size_t plaintext_bytes = 0;

  ~RtpTransform();
};

/** A packet, and where its payload begins; `index` is its 48-bit packet index. */
struct Packet {
  uint8_t* bytes;
  size_t capacity;
  size_t header;
  size_t length;
  uint32_t ssrc;
  uint64_t index;
};

/** Encrypts in place and appends the tag, for which there is room; false: OpenSSL failed. */
bool seal_packet(RtpTransform* transform, const Packet& packet);
/** Whether the tag of a packet that is at least as long as header and tag is right. The packet is not changed. */
bool is_authentic(RtpTransform* transform, const Packet& packet);
/** Decrypts to `to`, which may be its place, the payload of the packet that was just found authentic; false: OpenSSL failed. */
bool open_authentic(RtpTransform* transform, const Packet& packet, uint8_t* to);
/** The transform that JavaScript's object holds; null: it is another object. */
RtpTransform* transform_of(napi_env env, napi_value value);

}  // namespace parley

#endif
