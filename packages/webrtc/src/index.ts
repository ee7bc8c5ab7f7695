export { WebRtcError } from './errors.ts'
export { type BrowserPeer, PeerProcess } from './io/peer-process.ts'
export type { PeerOptions } from './protocol.ts'
