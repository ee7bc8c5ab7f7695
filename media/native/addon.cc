// The addon of a media thread: sockets and sleeps, SRTP, regular packets of calls, blocks of recordings, and what the SIP sockets ask of the kernel.
#include "addon.h"

NAPI_MODULE_INIT() {
  using namespace parley;
  const bool added = add_packet_io(env, exports) && add_datagrams(env, exports) && add_srtp(env, exports) && add_media_path(env, exports) &&
                     add_recordings(env, exports);
  return added ? exports : nullptr;
}
