#include "hardware_crypto.h"

#include <openssl/crypto.h>

#include <cstring>

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#define PARLEY_HARDWARE __attribute__((target("aes,sha,ssse3,sse4.1")))
#define PARLEY_HARDWARE_INLINE PARLEY_HARDWARE __attribute__((always_inline)) inline
#endif

namespace parley {

#if defined(__x86_64__)

namespace {

constexpr size_t kShaBlockBytes = 64;
constexpr size_t kHashKeyBytes = 20;
/** Blocks that are encrypted at once, so that the rounds of one fill the waits of another; a packet of 20 ms has twice as many. */
constexpr size_t kBlocksAtOnce = 5;
#define PARLEY_UNROLLED _Pragma("GCC unroll 8")

PARLEY_HARDWARE_INLINE __m128i load(const void* from) { return _mm_loadu_si128(static_cast<const __m128i*>(from)); }

PARLEY_HARDWARE_INLINE void store(void* to, __m128i value) { _mm_storeu_si128(static_cast<__m128i*>(to), value); }

/** The S-box of each byte. */
PARLEY_HARDWARE_INLINE uint32_t substituted(uint32_t word) {
  return static_cast<uint32_t>(_mm_cvtsi128_si32(_mm_aeskeygenassist_si128(_mm_set_epi32(0, 0, static_cast<int>(word), 0), 0)));
}

/** FIPS 197, section 5.2; words are little-endian here. */
PARLEY_HARDWARE void expand_key(HardwareKeys* keys, const uint8_t* key, size_t bytes) {
  const size_t key_words = bytes / 4;
  keys->rounds = static_cast<uint32_t>(key_words + 6);
  uint32_t words[4 * (kMostAesRounds + 1)];
  memcpy(words, key, bytes);
  uint32_t constant = 1;
  for (size_t i = key_words; i < 4 * (keys->rounds + 1); i++) {
    uint32_t word = words[i - 1];
    if (i % key_words == 0) {
      word = substituted(word >> 8 | word << 24) ^ constant;
      constant = constant << 1 ^ (constant & 0x80 ? 0x11b : 0);
    } else if (key_words == 8 && i % key_words == 4) {
      word = substituted(word);
    }
    words[i] = words[i - key_words] ^ word;
  }
  memcpy(keys->round_keys, words, sizeof words);
  OPENSSL_cleanse(words, sizeof words);
}

/** Encrypts the counter blocks from `first` on. */
template <size_t kBlocks>
PARLEY_HARDWARE_INLINE void key_stream(const HardwareKeys& keys, __m128i iv, size_t first, __m128i (&stream)[kBlocks]) {
  const __m128i whitening = load(keys.round_keys[0]);
  PARLEY_UNROLLED
  for (size_t i = 0; i < kBlocks; i++) {
    const __m128i counter = _mm_set_epi32(static_cast<int>((first + i) << 24), 0, 0, 0);
    stream[i] = _mm_xor_si128(_mm_xor_si128(iv, counter), whitening);
  }
  for (uint32_t round = 1; round < keys.rounds; round++) {
    const __m128i key = load(keys.round_keys[round]);
    PARLEY_UNROLLED
    for (size_t i = 0; i < kBlocks; i++) stream[i] = _mm_aesenc_si128(stream[i], key);
  }
  const __m128i last = load(keys.round_keys[keys.rounds]);
  PARLEY_UNROLLED
  for (size_t i = 0; i < kBlocks; i++) stream[i] = _mm_aesenclast_si128(stream[i], last);
}

/** SHA-1 of `blocks` blocks (FIPS 180-4, section 6.1.2), four rounds at a time. */
PARLEY_HARDWARE void compress(uint32_t (&state)[kSha1Words], const uint8_t* bytes, size_t blocks) {
  const __m128i big_endian = _mm_set_epi64x(0x0001020304050607, 0x08090a0b0c0d0e0f);
  __m128i abcd = _mm_shuffle_epi32(load(state), 0x1b);
  __m128i e = _mm_set_epi32(static_cast<int>(state[4]), 0, 0, 0);
  for (; blocks > 0; blocks--, bytes += kShaBlockBytes) {
    const __m128i before = abcd;
    __m128i words[20];
    // What `abcd` was before the last four rounds, of which e is made.
    __m128i last = abcd;
#define PARLEY_ROUNDS(group, next_e)                      \
  {                                                       \
    const __m128i sum = next_e;                           \
    last = abcd;                                          \
    abcd = _mm_sha1rnds4_epu32(abcd, sum, (group) / 5);   \
  }
#define PARLEY_LOADED(group) words[group] = _mm_shuffle_epi8(load(bytes + 16 * (group)), big_endian);
#define PARLEY_SCHEDULED(group)                                                                                              \
  words[group] = _mm_sha1msg2_epu32(                                                                                         \
      _mm_xor_si128(_mm_sha1msg1_epu32(words[(group)-4], words[(group)-3]), words[(group)-2]), words[(group)-1]);            \
  PARLEY_ROUNDS(group, _mm_sha1nexte_epu32(last, words[group]))
    PARLEY_LOADED(0)
    PARLEY_ROUNDS(0, _mm_add_epi32(e, words[0]))
    PARLEY_LOADED(1)
    PARLEY_ROUNDS(1, _mm_sha1nexte_epu32(last, words[1]))
    PARLEY_LOADED(2)
    PARLEY_ROUNDS(2, _mm_sha1nexte_epu32(last, words[2]))
    PARLEY_LOADED(3)
    PARLEY_ROUNDS(3, _mm_sha1nexte_epu32(last, words[3]))
    PARLEY_SCHEDULED(4)
    PARLEY_SCHEDULED(5)
    PARLEY_SCHEDULED(6)
    PARLEY_SCHEDULED(7)
    PARLEY_SCHEDULED(8)
    PARLEY_SCHEDULED(9)
    PARLEY_SCHEDULED(10)
    PARLEY_SCHEDULED(11)
    PARLEY_SCHEDULED(12)
    PARLEY_SCHEDULED(13)
    PARLEY_SCHEDULED(14)
    PARLEY_SCHEDULED(15)
    PARLEY_SCHEDULED(16)
    PARLEY_SCHEDULED(17)
    PARLEY_SCHEDULED(18)
    PARLEY_SCHEDULED(19)
#undef PARLEY_SCHEDULED
#undef PARLEY_LOADED
#undef PARLEY_ROUNDS
    e = _mm_sha1nexte_epu32(last, e);
    abcd = _mm_add_epi32(abcd, before);
  }
  store(state, _mm_shuffle_epi32(abcd, 0x1b));
  state[4] = static_cast<uint32_t>(_mm_extract_epi32(e, 3));
}

void write32(uint8_t* to, uint32_t value) {
  for (int i = 0; i < 4; i++) to[i] = static_cast<uint8_t>(value >> (24 - 8 * i));
}

/** The end of what is hashed: `count` bytes, a 1 bit, the number of bits with the block of the key before. */
void hash_end(uint32_t (&state)[kSha1Words], uint8_t* end, size_t count, size_t hashed) {
  const size_t blocks = count + 9 > kShaBlockBytes ? 2 : 1;
  end[count] = 0x80;
  memset(end + count + 1, 0, blocks * kShaBlockBytes - count - 1);
  write32(end + blocks * kShaBlockBytes - 4, static_cast<uint32_t>(8 * (kShaBlockBytes + hashed)));
  compress(state, end, blocks);
}

void begin_hash(uint32_t (&state)[kSha1Words], const uint8_t* key, uint8_t pad) {
  static constexpr uint32_t kInitial[kSha1Words] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
  uint8_t block[kShaBlockBytes];
  for (size_t i = 0; i < kShaBlockBytes; i++) block[i] = static_cast<uint8_t>(pad ^ (i < kHashKeyBytes ? key[i] : 0));
  memcpy(state, kInitial, sizeof state);
  compress(state, block, 1);
  OPENSSL_cleanse(block, sizeof block);
}

}  // namespace

bool has_hardware_crypto() {
  static const bool has = [] {
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (__get_cpuid(1, &a, &b, &c, &d) == 0) return false;
    constexpr unsigned kWanted = bit_AES | bit_SSSE3 | bit_SSE4_1;
    if ((c & kWanted) != kWanted) return false;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b & bit_SHA) != 0;
  }();
  return has;
}

void prepare_keys(HardwareKeys* keys, const uint8_t* encryption, size_t encryption_bytes, const uint8_t* authentication) {
  expand_key(keys, encryption, encryption_bytes);
  begin_hash(keys->inner, authentication, 0x36);
  begin_hash(keys->outer, authentication, 0x5c);
}

PARLEY_HARDWARE void counter_mode(const HardwareKeys& keys, const uint8_t (&iv)[kAesBlockBytes], const uint8_t* from, uint8_t* to,
                                  size_t length) {
  const __m128i initial = load(iv);
  size_t block = 0;
  for (; length >= kBlocksAtOnce * kAesBlockBytes; length -= kBlocksAtOnce * kAesBlockBytes, block += kBlocksAtOnce) {
    __m128i stream[kBlocksAtOnce];
    key_stream(keys, initial, block, stream);
    PARLEY_UNROLLED
    for (size_t i = 0; i < kBlocksAtOnce; i++, from += kAesBlockBytes, to += kAesBlockBytes) {
      store(to, _mm_xor_si128(load(from), stream[i]));
    }
  }
  for (; length > 0; block++) {
    __m128i stream[1];
    key_stream(keys, initial, block, stream);
    uint8_t bytes[kAesBlockBytes];
    store(bytes, stream[0]);
    const size_t count = length < kAesBlockBytes ? length : kAesBlockBytes;
    for (size_t i = 0; i < count; i++) to[i] = from[i] ^ bytes[i];
    from += count;
    to += count;
    length -= count;
  }
}

void hmac_sha1(const HardwareKeys& keys, const uint8_t* bytes, size_t length, uint32_t last, uint8_t (&digest)[4 * kSha1Words]) {
  uint32_t state[kSha1Words];
  uint8_t end[2 * kShaBlockBytes];
  memcpy(state, keys.inner, sizeof state);
  const size_t blocks = length / kShaBlockBytes;
  compress(state, bytes, blocks);
  const size_t left = length % kShaBlockBytes;
  memcpy(end, bytes + blocks * kShaBlockBytes, left);
  write32(end + left, last);
  hash_end(state, end, left + 4, length + 4);
  for (size_t i = 0; i < kSha1Words; i++) write32(end + 4 * i, state[i]);
  memcpy(state, keys.outer, sizeof state);
  hash_end(state, end, sizeof digest, sizeof digest);
  for (size_t i = 0; i < kSha1Words; i++) write32(digest + 4 * i, state[i]);
}

#else

bool has_hardware_crypto() { return false; }
void prepare_keys(HardwareKeys*, const uint8_t*, size_t, const uint8_t*) {}
void counter_mode(const HardwareKeys&, const uint8_t (&)[kAesBlockBytes], const uint8_t*, uint8_t*, size_t) {}
void hmac_sha1(const HardwareKeys&, const uint8_t*, size_t, uint32_t, uint8_t (&)[4 * kSha1Words]) {}

#endif

}  // namespace parley
