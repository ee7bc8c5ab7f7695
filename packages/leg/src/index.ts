export type { MediaReport, MediaStatistics } from '@parley/media'
export type {
  Credentials,
  DialogSnapshot,
  Flow,
  GuardDecision,
  InviteAttempt,
  InviteSession,
  NameAddr,
  NextHop,
  RequestGuard,
  SipRequest,
  SipUri,
  TlsIdentity,
  Uri,
} from '@parley/sip'
export { ensureLocalCertificate, parseNameAddr, parseUri, tagOf } from '@parley/sip'
export { CallLeg } from './call-leg.ts'
export { type DialOptions, dialLeg, type LegContext, type LegOptions, receiveLeg } from './connect.ts'
export { Endpoint, type EndpointOptions } from './io/endpoint.ts'
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
