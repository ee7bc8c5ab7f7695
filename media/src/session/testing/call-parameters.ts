import type { MediaParameters } from '../media-session.ts'

/** Parameters of a PCMU call with digits by RTP to a peer at `port` of 127.0.0.1. `srtp`: null for plain RTP. */
export function pcmuCall(port: number, srtp: MediaParameters['srtp']): MediaParameters {
  return {
    remote: { address: '127.0.0.1', port },
    direction: 'sendrecv',
    codec: 'PCMU',
    payloadType: 0,
    ptimeMs: 20,
    dtmfPayloadType: 101,
    srtp,
  }
}
