import { errorsOf } from '@parley/kernel'

/** The errors of this package. */
export const WebRtcError = errorsOf({
  offer_refused: { retryable: false, text: 'The offer of the browser cannot be answered.' },
  peer_process_lost: { retryable: true, text: 'The process that has the peer connections ended.' },
  livekit_not_installed: { retryable: false, text: 'The library for rooms of LiveKit is not installed.' },
  livekit_unreachable: { retryable: true, text: 'The LiveKit server did not answer.' },
  room_refused: { retryable: false, text: 'The LiveKit server refused the request.' },
  room_not_found: { retryable: false, text: 'The LiveKit server has no such room.' },
})
