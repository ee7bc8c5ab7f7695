import { errorsOf } from '@parley/kernel'

/** The errors of this package. */
export const WebRtcError = errorsOf({
  offer_refused: { retryable: false, text: 'The offer of the browser cannot be answered.' },
  peer_process_lost: { retryable: true, text: 'The process that has the peer connections ended.' },
})
