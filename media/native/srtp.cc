// Encryption and authentication of RTP packets (RFC 3711, RFC 6188, RFC 7714) by the OpenSSL in Node's binary. Keys, indices, replay
// windows and rollover counters are JavaScript's: what is here has no state that a packet changes.
#include "srtp.h"

#include <openssl/crypto.h>

#include <cstring>
#include <new>

#include "addon.h"

namespace parley {

RtpTransform::~RtpTransform() {
  EVP_CIPHER_CTX_free(cipher);
  delete[] plaintext;
  OPENSSL_cleanse(salt, sizeof salt);
  OPENSSL_cleanse(&hardware, sizeof hardware);
  OPENSSL_cleanse(&inner, sizeof inner);
  OPENSSL_cleanse(&outer, sizeof outer);
}

namespace {

constexpr size_t kGcmSaltBytes = 12;
constexpr size_t kGcmTagBytes = 16;
constexpr size_t kHashKeyBytes = 20;
constexpr size_t kHashBlockBytes = 64;
constexpr size_t kRolloverBytes = 4;
constexpr napi_type_tag kTypeTag = {0x2f0c3a7be9d14b6cULL, 0x8a51d07c64f3e218ULL};

void write32(uint8_t* to, uint32_t value) {
  for (int i = 0; i < 4; i++) to[i] = static_cast<uint8_t>(value >> (24 - 8 * i));
}

void exclusive_or32(uint8_t* to, uint32_t value) {
  for (int i = 0; i < 4; i++) to[i] ^= static_cast<uint8_t>(value >> (24 - 8 * i));
}

/** The packet's IV (RFC 3711 section 4.1.1, RFC 7714 section 8.1). */
void write_iv(const RtpTransform* transform, const Packet& packet, uint8_t (&iv)[kAesBlockBytes]) {
  memset(iv, 0, sizeof iv);
  memcpy(iv, transform->salt, transform->is_gcm ? kGcmSaltBytes : kSaltBytes);
  uint8_t* ssrc = iv + (transform->is_gcm ? 2 : 4);
  exclusive_or32(ssrc, packet.ssrc);
  exclusive_or32(ssrc + 4, static_cast<uint32_t>(packet.index >> 16));
  ssrc[8] ^= static_cast<uint8_t>(packet.index >> 8);
  ssrc[9] ^= static_cast<uint8_t>(packet.index);
}

/** Starts GCM with the packet's IV. */
bool begin(RtpTransform* transform, const Packet& packet, bool encrypts) {
  uint8_t iv[kAesBlockBytes];
  write_iv(transform, packet, iv);
  return EVP_CipherInit_ex(transform->cipher, nullptr, nullptr, nullptr, iv, encrypts ? 1 : 0) == 1;
}

bool apply(RtpTransform* transform, const uint8_t* from, uint8_t* to, size_t length) {
  int written = 0;
  return EVP_CipherUpdate(transform->cipher, to, &written, from, static_cast<int>(length)) == 1 &&
         written == static_cast<int>(length);
}

/**
 * Counter mode encrypts and decrypts alike: `header` to before `end`, to `to`, which may be its place. Without the processor's instructions the
 * counter blocks are encrypted by OpenSSL as blocks, because to set the IV of its own counter mode costs more than the cipher itself does for a packet of
 * 20 ms.
 */
bool counter_mode(RtpTransform* transform, const Packet& packet, size_t end, uint8_t* to) {
  if (end <= packet.header) return true;
  const size_t length = end - packet.header;
  uint8_t iv[kAesBlockBytes];
  const size_t blocks = (length + kAesBlockBytes - 1) / kAesBlockBytes;
  if (blocks * kAesBlockBytes > kMostPacketBytes + kAesBlockBytes) return false;
  write_iv(transform, packet, iv);
  if (transform->uses_hardware) {
    counter_mode(transform->hardware, iv, packet.bytes + packet.header, to, length);
    return true;
  }
  uint8_t stream[kMostPacketBytes + kAesBlockBytes];
  for (size_t block = 0; block < blocks; block++) {
    // The last two bytes count blocks, of which a packet has fewer than 256.
    iv[kAesBlockBytes - 1] = static_cast<uint8_t>(block);
    memcpy(stream + block * kAesBlockBytes, iv, kAesBlockBytes);
  }
  if (!apply(transform, stream, stream, blocks * kAesBlockBytes)) return false;
  const uint8_t* payload = packet.bytes + packet.header;
  for (size_t i = 0; i < length; i++) to[i] = payload[i] ^ stream[i];
  return true;
}

/** HMAC-SHA1 of the first `length` bytes and of the rollover counter, which is not sent. */
void hash(const RtpTransform* transform, const uint8_t* bytes, size_t length, uint64_t index,
          uint8_t (&digest)[SHA_DIGEST_LENGTH]) {
  if (transform->uses_hardware) {
    hmac_sha1(transform->hardware, bytes, length, static_cast<uint32_t>(index >> 16), digest);
    return;
  }
  uint8_t rollover[kRolloverBytes];
  write32(rollover, static_cast<uint32_t>(index >> 16));
  SHA_CTX state = transform->inner;
  SHA1_Update(&state, bytes, length);
  SHA1_Update(&state, rollover, sizeof rollover);
  SHA1_Final(digest, &state);
  state = transform->outer;
  SHA1_Update(&state, digest, sizeof digest);
  SHA1_Final(digest, &state);
}

bool gcm_header(RtpTransform* transform, const Packet& packet, bool encrypts) {
  int ignored = 0;
  return begin(transform, packet, encrypts) &&
         EVP_CipherUpdate(transform->cipher, nullptr, &ignored, packet.bytes, static_cast<int>(packet.header)) == 1;
}

bool gcm_seal(RtpTransform* transform, const Packet& packet) {
  uint8_t* payload = packet.bytes + packet.header;
  int ignored = 0;
  return gcm_header(transform, packet, true) && apply(transform, payload, payload, packet.length - packet.header) &&
         EVP_CipherFinal_ex(transform->cipher, packet.bytes + packet.length, &ignored) == 1 &&
         EVP_CIPHER_CTX_ctrl(transform->cipher, EVP_CTRL_AEAD_GET_TAG, kGcmTagBytes, packet.bytes + packet.length) == 1;
}

/** Decrypts into `plaintext`. */
bool gcm_opens(RtpTransform* transform, const Packet& packet) {
  const size_t end = packet.length - kGcmTagBytes;
  const size_t payload = end - packet.header;
  int ignored = 0;
  if (payload > kMostPacketBytes || !gcm_header(transform, packet, false) ||
      !apply(transform, packet.bytes + packet.header, transform->plaintext, payload) ||
      EVP_CIPHER_CTX_ctrl(transform->cipher, EVP_CTRL_AEAD_SET_TAG, kGcmTagBytes, packet.bytes + end) != 1) {
    return false;
  }
  transform->plaintext_bytes = payload;
  return EVP_CipherFinal_ex(transform->cipher, transform->plaintext + payload, &ignored) == 1;
}

}  // namespace

bool seal_packet(RtpTransform* transform, const Packet& packet) {
  if (transform->is_gcm) return gcm_seal(transform, packet);
  if (!counter_mode(transform, packet, packet.length, packet.bytes + packet.header)) return false;
  uint8_t digest[SHA_DIGEST_LENGTH];
  hash(transform, packet.bytes, packet.length, packet.index, digest);
  memcpy(packet.bytes + packet.length, digest, transform->tag_bytes);
  return true;
}

bool is_authentic(RtpTransform* transform, const Packet& packet) {
  if (transform->is_gcm) return gcm_opens(transform, packet);
  const size_t end = packet.length - transform->tag_bytes;
  uint8_t digest[SHA_DIGEST_LENGTH];
  hash(transform, packet.bytes, end, packet.index, digest);
  // In constant time, so that the time does not reveal how many bytes were right.
  return CRYPTO_memcmp(digest, packet.bytes + end, transform->tag_bytes) == 0;
}

bool open_authentic(RtpTransform* transform, const Packet& packet, uint8_t* to) {
  const size_t end = packet.length - transform->tag_bytes;
  if (!transform->is_gcm) return counter_mode(transform, packet, end, to);
  memcpy(to, transform->plaintext, transform->plaintext_bytes);
  return true;
}

RtpTransform* transform_of(napi_env env, napi_value value) {
  bool ours = false;
  void* instance = nullptr;
  napi_valuetype type = napi_undefined;
  if (napi_typeof(env, value, &type) != napi_ok || type != napi_object ||
      napi_check_object_type_tag(env, value, &kTypeTag, &ours) != napi_ok || !ours ||
      napi_unwrap(env, value, &instance) != napi_ok) {
    return nullptr;
  }
  return static_cast<RtpTransform*>(instance);
}

namespace {

/** Reads (packet, header, length, ssrc, index); `extra`: bytes that must fit after `length`. */
bool packet_of(napi_env env, const napi_value* arguments, size_t extra, Packet* packet) {
  void* bytes = nullptr;
  double index = 0;
  uint32_t header = 0;
  uint32_t length = 0;
  if (!array_of(env, arguments[0], napi_uint8_array, &bytes, &packet->capacity) ||
      !whole(env, arguments[1], kMostPacketBytes, &header) || !whole(env, arguments[2], kMostPacketBytes, &length) ||
      !whole(env, arguments[3], UINT32_MAX, &packet->ssrc) ||
      napi_get_value_double(env, arguments[4], &index) != napi_ok || !(index >= 0 && index < static_cast<double>(kPacketIndices)) ||
      header > length || length + extra > packet->capacity) {
    fail(env, "a packet is a Uint8Array, offset and length inside it, an SSRC and an index of 48 bits");
    return false;
  }
  packet->bytes = static_cast<uint8_t*>(bytes);
  packet->header = header;
  packet->length = length;
  packet->index = static_cast<uint64_t>(index);
  return true;
}

napi_value boolean(napi_env env, bool value) {
  napi_value result = nullptr;
  napi_get_boolean(env, value, &result);
  return result;
}

napi_value cipher_failed(napi_env env) {
  napi_throw_error(env, "ERR_CRYPTO_OPERATION_FAILED", "OpenSSL could not encrypt the packet");
  return nullptr;
}

/** seal(packet, header, length, ssrc, index): encrypts in place and appends the tag; the new length. */
napi_value seal(napi_env env, napi_callback_info info) {
  napi_value arguments[5];
  RtpTransform* transform = receiver<RtpTransform>(env, info, kTypeTag, arguments);
  Packet packet;
  if (transform == nullptr || !packet_of(env, arguments, transform->tag_bytes, &packet)) return nullptr;
  if (!seal_packet(transform, packet)) return cipher_failed(env);
  return number(env, static_cast<int32_t>(packet.length + transform->tag_bytes));
}

/** authentic(packet, header, length, ssrc, index): whether the tag is right. The packet is not changed. */
napi_value authentic(napi_env env, napi_callback_info info) {
  napi_value arguments[5];
  RtpTransform* transform = receiver<RtpTransform>(env, info, kTypeTag, arguments);
  Packet packet;
  if (transform == nullptr || !packet_of(env, arguments, 0, &packet)) return nullptr;
  if (packet.length < packet.header + transform->tag_bytes) return boolean(env, false);
  return boolean(env, is_authentic(transform, packet));
}

/** open(packet, header, length, ssrc, index): decrypts in place the packet that was just found authentic; the new length. */
napi_value open_packet(napi_env env, napi_callback_info info) {
  napi_value arguments[5];
  RtpTransform* transform = receiver<RtpTransform>(env, info, kTypeTag, arguments);
  Packet packet;
  if (transform == nullptr || !packet_of(env, arguments, 0, &packet)) return nullptr;
  if (packet.length < packet.header + transform->tag_bytes) return fail(env, "the packet is shorter than its tag");
  const size_t end = packet.length - transform->tag_bytes;
  if (transform->is_gcm && end - packet.header != transform->plaintext_bytes) {
    return fail(env, "another packet was found authentic last");
  }
  if (!open_authentic(transform, packet, packet.bytes + packet.header)) return cipher_failed(env);
  return number(env, static_cast<int32_t>(end));
}

void begin_hash(SHA_CTX* state, const uint8_t* key, uint8_t pad) {
  uint8_t block[kHashBlockBytes];
  for (size_t i = 0; i < kHashBlockBytes; i++) block[i] = static_cast<uint8_t>(pad ^ (i < kHashKeyBytes ? key[i] : 0));
  SHA1_Init(state);
  SHA1_Update(state, block, sizeof block);
  OPENSSL_cleanse(block, sizeof block);
}

const EVP_CIPHER* cipher_of(size_t key_bytes, bool is_gcm) {
  if (key_bytes == 16) return is_gcm ? EVP_aes_128_gcm() : EVP_aes_128_ecb();
  return is_gcm ? EVP_aes_256_gcm() : EVP_aes_256_ecb();
}

/** Of a transform that does not use the processor's instructions. */
bool keep_cipher(RtpTransform* transform, const uint8_t* key, size_t key_bytes) {
  transform->cipher = EVP_CIPHER_CTX_new();
  if (transform->is_gcm) transform->plaintext = new (std::nothrow) uint8_t[kMostPacketBytes];
  return transform->cipher != nullptr && (!transform->is_gcm || transform->plaintext != nullptr) &&
         EVP_CipherInit_ex(transform->cipher, cipher_of(key_bytes, transform->is_gcm), nullptr, key, nullptr, 1) == 1 &&
         EVP_CIPHER_CTX_set_padding(transform->cipher, 0) == 1;
}

/**
 * new RtpTransform(encryption, authentication, salt, tagBytes, hardware): a salt of 12 bytes is that of GCM, of 14 that of counter mode;
 * `hardware`: whether counter mode uses the processor's instructions, where it has them, instead of OpenSSL.
 */
napi_value construct(napi_env env, napi_callback_info info) {
  size_t count = 5;
  napi_value arguments[5];
  napi_value self = nullptr;
  napi_value target = nullptr;
  void* data[3] = {};
  size_t length[3] = {};
  uint32_t tag_bytes = 0;
  bool allows_hardware = false;
  bool ok = napi_get_cb_info(env, info, &count, arguments, &self, nullptr) == napi_ok &&
            napi_get_new_target(env, info, &target) == napi_ok && target != nullptr && count == 5;
  for (int i = 0; ok && i < 3; i++) ok = array_of(env, arguments[i], napi_uint8_array, &data[i], &length[i]);
  ok = ok && whole(env, arguments[3], kGcmTagBytes, &tag_bytes) && (length[0] == 16 || length[0] == 32);
  const bool is_gcm = length[2] == kGcmSaltBytes;
  ok = ok && (is_gcm ? tag_bytes == kGcmTagBytes : length[1] == kHashKeyBytes && length[2] == kSaltBytes);
  ok = ok && napi_get_value_bool(env, arguments[4], &allows_hardware) == napi_ok;
  if (!ok) return fail(env, "new RtpTransform takes a key of 16 or 32 bytes, one of 20, a salt, the length of the tag and a boolean");
  RtpTransform* transform = new (std::nothrow) RtpTransform();
  if (transform == nullptr) return fail(env, "out of memory");
  transform->is_gcm = is_gcm;
  transform->tag_bytes = tag_bytes;
  memcpy(transform->salt, data[2], length[2]);
  if (!is_gcm) {
    begin_hash(&transform->inner, static_cast<uint8_t*>(data[1]), 0x36);
    begin_hash(&transform->outer, static_cast<uint8_t*>(data[1]), 0x5c);
  }
  const uint8_t* key = static_cast<uint8_t*>(data[0]);
  transform->uses_hardware = allows_hardware && !is_gcm && has_hardware_crypto();
  if (transform->uses_hardware) {
    prepare_keys(&transform->hardware, key, length[0], static_cast<uint8_t*>(data[1]));
  } else if (!keep_cipher(transform, key, length[0])) {
    delete transform;
    return cipher_failed(env);
  }
  if (!wrap(env, self, kTypeTag, transform)) return nullptr;
  return self;
}

}  // namespace

bool add_srtp(napi_env env, napi_value exports) {
  const napi_property_descriptor methods[] = {
      method("seal", seal),
      method("authentic", authentic),
      method("open", open_packet),
  };
  return add_class(env, exports, "RtpTransform", construct, methods);
}

}  // namespace parley
