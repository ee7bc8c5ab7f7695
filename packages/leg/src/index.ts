export type { MediaStatistics } from '@parley/media'
export type {
  Credentials,
  Flow,
  GuardDecision,
  InviteAttempt,
  InviteSession,
  NextHop,
  SipRequest,
  SipUri,
  TlsIdentity,
  Uri,
} from '@parley/sip'
export { ensureLocalCertificate, parseNameAddr, parseUri, tagOf } from '@parley/sip'
export { type DialOptions, dialLeg, type LegOptions, receiveLeg } from './connect.ts'
export { LegError } from './errors.ts'
export { Endpoint, type EndpointOptions } from './io/endpoint.ts'
export type { CallLeg, LegEnd, LegEvent, LegSecurity, LegTransport } from './leg.ts'
export { ALL_NETWORKS } from './media-destinations.ts'
export type { ObservedMessage } from './observed-transport.ts'
export { SipCallLeg } from './sip-call-leg.ts'
export { VirtualLine } from './virtual-line.ts'
export { addressOnThisMachine, openWebLeg, type WebLeg } from './web-leg.ts'
