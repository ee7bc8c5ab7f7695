export { WebRtcError } from './errors.ts'
export { type BrowserPeer, type PeerEvent, PeerProcess } from './io/peer-process.ts'
export type { IceServer, OfferedAudio, PeerOptions } from './protocol.ts'
