// AES in counter mode and HMAC-SHA1 by the processor's own instructions: for a packet of 20 ms OpenSSL takes longer to be called than to
// encrypt, and its contexts are spread over memory that many calls do not find in the caches.
#ifndef PARLEY_MEDIA_HARDWARE_CRYPTO_H
#define PARLEY_MEDIA_HARDWARE_CRYPTO_H

#include <cstddef>
#include <cstdint>

namespace parley {

constexpr size_t kAesBlockBytes = 16;
constexpr size_t kMostAesRounds = 14;
constexpr size_t kSha1Words = 5;

/** Session keys as the instructions take them, in as few cache lines as possible. */
struct HardwareKeys {
  /** SHA-1 after the block of the key, inner and outer (RFC 2104). */
  uint32_t inner[kSha1Words];
  uint32_t outer[kSha1Words];
  uint32_t rounds;
  alignas(16) uint8_t round_keys[kMostAesRounds + 1][kAesBlockBytes];
};

/** Whether this processor has the instructions and the compiler knew them. */
bool has_hardware_crypto();

// The following need `has_hardware_crypto`.

/** `encryption`: 16 or 32 bytes; `authentication`: 20 bytes. */
void prepare_keys(HardwareKeys* keys, const uint8_t* encryption, size_t encryption_bytes, const uint8_t* authentication);
/** Encrypts or decrypts `length` bytes, fewer than 256 blocks, to `to`, which may be their place; the last byte of `iv` is 0. */
void counter_mode(const HardwareKeys& keys, const uint8_t (&iv)[kAesBlockBytes], const uint8_t* from, uint8_t* to, size_t length);
/** HMAC-SHA1 of `length` bytes and of `last`, as a big-endian number. */
void hmac_sha1(const HardwareKeys& keys, const uint8_t* bytes, size_t length, uint32_t last, uint8_t (&digest)[4 * kSha1Words]);

}  // namespace parley

#endif
