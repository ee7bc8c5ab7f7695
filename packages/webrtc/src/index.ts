export { WebRtcError } from './errors.ts'
export { type BrowserPeer, PeerProcess, type PeerProcessOptions } from './io/peer-process.ts'
export type { IceServer } from './protocol.ts'
export { iceServersFor, isEngineRelay, parseIceUrl, type TurnSettings } from './turn.ts'
