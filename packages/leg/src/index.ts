export type { MediaReport, MediaStatistics } from '@parley/media'
export type {
  Credentials,
  DialogSnapshot,
  Flow,
  Gatekeeper,
  GateVerdict,
  InviteAttempt,
  InviteSession,
  NameAddr,
  NextHop,
  SipRequest,
  SipUri,
  TlsIdentity,
  Uri,
} from '@parley/sip'
export { ensureLocalCertificate, parseNameAddr, parseUri, tagOf } from '@parley/sip'
export { CallLeg } from './call-leg.ts'
export { type DialOptions, dialLeg, type LegOptions, type LegPlant, receiveLeg } from './connect.ts'
export { Station, type StationOptions } from './io/station.ts'
export type {
  LegDirection,
  LegEnd,
  LegEvent,
  LegSecurity,
  LegState,
  LegTransport,
  ReofferPurpose,
  TransferReceipt,
} from './leg.ts'
export { LineEnd, VirtualLine } from './virtual-line.ts'
