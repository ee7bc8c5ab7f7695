// libsrtp2 as a filter: `transform SUITE KEY_AND_SALT` reads lines "OPERATION HEX" with protect, unprotect, protect_rtcp or
// unprotect_rtcp, and writes for each the packet in hex, or "error N" with libsrtp's status. Each operation has a session of its own, for any
// SSRC.
#include <srtp2/srtp.h>

#include <cstdio>
#include <cstring>
#include <iostream>
#include <map>
#include <string>

namespace {

using Bytes = std::basic_string<unsigned char>;
using Operation = srtp_err_status_t (*)(srtp_t, void*, int*);

constexpr size_t kMostPacketBytes = 2048;

Bytes bytes_of(const std::string& hex) {
  Bytes bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) bytes.push_back(static_cast<unsigned char>(std::stoul(hex.substr(i, 2), nullptr, 16)));
  return bytes;
}

/** RTCP of suites with a tag of 32 bits has one of 80 (RFC 4568 section 6.2). */
bool set_suite(const std::string& suite, srtp_policy_t* policy) {
  if (suite == "AES_CM_128_HMAC_SHA1_80" || suite == "AES_CM_128_HMAC_SHA1_32") {
    srtp_crypto_policy_set_aes_cm_128_hmac_sha1_80(&policy->rtcp);
    policy->rtp = policy->rtcp;
    if (suite == "AES_CM_128_HMAC_SHA1_32") srtp_crypto_policy_set_aes_cm_128_hmac_sha1_32(&policy->rtp);
  } else if (suite == "AES_256_CM_HMAC_SHA1_80" || suite == "AES_256_CM_HMAC_SHA1_32") {
    srtp_crypto_policy_set_aes_cm_256_hmac_sha1_80(&policy->rtcp);
    policy->rtp = policy->rtcp;
    if (suite == "AES_256_CM_HMAC_SHA1_32") srtp_crypto_policy_set_aes_cm_256_hmac_sha1_32(&policy->rtp);
  } else if (suite == "AEAD_AES_128_GCM") {
    srtp_crypto_policy_set_aes_gcm_128_16_auth(&policy->rtp);
    policy->rtcp = policy->rtp;
  } else if (suite == "AEAD_AES_256_GCM") {
    srtp_crypto_policy_set_aes_gcm_256_16_auth(&policy->rtp);
    policy->rtcp = policy->rtp;
  } else {
    return false;
  }
  return true;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3 || srtp_init() != srtp_err_status_ok) return 2;
  Bytes key = bytes_of(arguments[2]);
  struct Session {
    Operation operation;
    srtp_ssrc_type_t direction;
    srtp_t session;
  };
  std::map<std::string, Session> sessions = {
      {"protect", {srtp_protect, ssrc_any_outbound, nullptr}},
      {"unprotect", {srtp_unprotect, ssrc_any_inbound, nullptr}},
      {"protect_rtcp", {srtp_protect_rtcp, ssrc_any_outbound, nullptr}},
      {"unprotect_rtcp", {srtp_unprotect_rtcp, ssrc_any_inbound, nullptr}},
  };
  for (auto& [name, session] : sessions) {
    srtp_policy_t policy;
    memset(&policy, 0, sizeof policy);
    if (!set_suite(arguments[1], &policy)) return 2;
    policy.ssrc.type = session.direction;
    policy.key = key.data();
    policy.window_size = 1024;
    if (srtp_create(&session.session, &policy) != srtp_err_status_ok) return 3;
  }
  std::string operation;
  std::string hex;
  while (std::cin >> operation >> hex) {
    const auto found = sessions.find(operation);
    Bytes packet = bytes_of(hex);
    if (found == sessions.end() || packet.size() > kMostPacketBytes) return 2;
    int length = static_cast<int>(packet.size());
    packet.resize(packet.size() + SRTP_MAX_TRAILER_LEN + 4);
    const srtp_err_status_t status = found->second.operation(found->second.session, packet.data(), &length);
    if (status != srtp_err_status_ok) {
      printf("error %d\n", status);
      continue;
    }
    for (int i = 0; i < length; i++) printf("%02x", packet[static_cast<size_t>(i)]);
    printf("\n");
  }
  return 0;
}
