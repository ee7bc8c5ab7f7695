// The addon of a media thread: sockets and sleeps, SRTP, and what the SIP sockets ask of the kernel.
#include "addon.h"

NAPI_MODULE_INIT() {
  using namespace parley;
  return add_packet_io(env, exports) && add_datagrams(env, exports) && add_srtp(env, exports) ? exports : nullptr;
}
