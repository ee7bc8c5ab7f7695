export type { DialogSnapshot } from './dialog/dialog-snapshot.ts'
export { SipStateError } from './errors.ts'
export { CertificateWatch } from './io/certificate-watch.ts'
export { ensureLocalCertificate } from './io/local-authority.ts'
export { SocketTransport, type SocketTransportStats } from './io/socket-transport.ts'
export type { TlsIdentity } from './io/socket-transport-options.ts'
export { SystemResolver } from './io/system-resolver.ts'
export { type AuthValue, parseChallenges, parseCredentials, serialiseAuthValue } from './message/auth-value.ts'
export { decodeFile } from './message/decode.ts'
export { HeaderList } from './message/header-list.ts'
export {
  isSipUri,
  type NameAddr,
  type SipMessage,
  type SipRequest,
  type SipResponse,
  type SipUri,
  tagOf,
  type Uri,
} from './message/message.ts'
export { createResponse } from './message/message-factory.ts'
export { parseNameAddr, parseNameAddrList } from './message/name-addr.ts'
export { parseDatagram } from './message/parse-datagram.ts'
export { isRegisteredStatus, reasonPhrase } from './message/reason-phrases.ts'
export { serialise } from './message/serialise.ts'
export { parseUri, serialiseUri, uriEquals } from './message/uri.ts'
export { isHostName } from './transport/host-name.ts'
export { parseIpAddress } from './transport/ip-address.ts'
export { type IpNetwork, IpNetworkTable, isInNetworks, parseIpNetwork } from './transport/ip-network.ts'
export type { ResolveOverride, ResolveOverrides, TargetPermit } from './transport/server-location.ts'
export type {
  Flow,
  NextHop,
  SipTransport,
  SocketAddress,
  Target,
  TransportInput,
  TransportName,
  TransportOutput,
} from './transport/transport.ts'
export type { InviteAttempt } from './ua/invite-attempt.ts'
export type { Registration, RegistrationOptions, RegistrationStatus } from './ua/registration/registration.ts'
export type {
  Body,
  Credentials,
  GuardDecision,
  HeaderPairs,
  InviteSession,
  ReferOptions,
  RequestGuard,
  SessionEnd,
  SessionEvent,
} from './ua/session.ts'
export type { SessionTimerOptions } from './ua/session-timer-options.ts'
export { UserAgent } from './ua/user-agent.ts'
export type { LogEntry, PingOutcome } from './ua/user-agent-options.ts'
export { VirtualNetwork } from './ua/virtual-network.ts'
