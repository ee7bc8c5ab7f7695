export { Dialog } from './dialog/dialog.ts'
export { type DialogSnapshot, isDialogSnapshot } from './dialog/dialog-snapshot.ts'
export { CertificateWatch, type CertificateWatchOptions } from './io/certificate-watch.ts'
export { ensureLocalCertificate, type LocalCertificate, type LocalCertificateOptions } from './io/local-authority.ts'
export { SocketTransport, type SocketTransportStats } from './io/socket-transport.ts'
export type { SocketTransportOptions, TlsIdentity } from './io/socket-transport-options.ts'
export { SystemDns, type SystemDnsOptions } from './io/system-dns.ts'
export { SystemResolver, type SystemResolverOptions } from './io/system-resolver.ts'
export { type AuthValue, parseChallenges, parseCredentials, serialiseAuthValue } from './message/auth-value.ts'
export { canonicalName } from './message/canonical-name.ts'
export { type ContentType, mediaTypeOf, parseContentType } from './message/content-type.ts'
export { parseCSeq, serialiseCSeq } from './message/cseq.ts'
export { type DecodeOptions, type DecodeOutcome, decodeFile } from './message/decode.ts'
export { HeaderList } from './message/header-list.ts'
export { type Capabilities, inspectRequest, type RequestRejection } from './message/inspect-request.ts'
export {
  type CSeq,
  isSipUri,
  type MessageFields,
  type NameAddr,
  type OpaqueUri,
  type Params,
  type SipMessage,
  type SipRequest,
  type SipResponse,
  type SipUri,
  tagOf,
  type Uri,
  type Via,
} from './message/message.ts'
export {
  createRequest,
  createResponse,
  type RequestOptions,
  type ResponseOptions,
} from './message/message-factory.ts'
export { parseNameAddr, parseNameAddrList, serialiseNameAddr } from './message/name-addr.ts'
export { parseDatagram } from './message/parse-datagram.ts'
export {
  DEFAULT_LIMITS,
  type Fault,
  type MessageLimits,
  type Parsed,
  type ParseResult,
  type Refused,
  type ResponseSeed,
} from './message/parse-result.ts'
export { parseReason, type ReasonValue, serialiseReason } from './message/reason.ts'
export { reasonPhrase } from './message/reason-phrases.ts'
export { parseRetryAfter, type RetryAfter } from './message/retry-after.ts'
export { serialise } from './message/serialise.ts'
export { SipMessageError } from './message/sip-message-error.ts'
export { splitList } from './message/split-list.ts'
export { type KeepAlive, StreamFramer } from './message/stream-framer.ts'
export { tokenList } from './message/token-list.ts'
export { parseUri, serialiseUri, uriEquals } from './message/uri.ts'
export { parseVia, serialiseVia } from './message/via.ts'
export { serialiseWarning } from './message/warning.ts'
export { DEFAULT_TIMERS, type TimerSettings } from './transaction/timers.ts'
export type { DnsPort, NaptrRecord, SrvRecord } from './transport/dns.ts'
export { DnsCache, type DnsCacheOptions } from './transport/dns-cache.ts'
export { isHostName } from './transport/host-name.ts'
export { type IpNetwork, isInNetworks, parseIpNetwork } from './transport/ip-network.ts'
export { bareHost, defaultPort, type Resolver } from './transport/resolver.ts'
export {
  type ResolveOverride,
  type ResolveOverrides,
  ServerLocator,
  type ServerLocatorOptions,
} from './transport/server-location.ts'
export { DEFAULT_STREAM_LIMITS, type StreamLimits } from './transport/stream-limits.ts'
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
export type { ByeOutcome } from './ua/bye.ts'
export type { CancelOutcome } from './ua/cancel.ts'
export { forwardableHeaders } from './ua/custom-headers.ts'
export { type InviteAttempt, isInviteAttempt } from './ua/invite-attempt.ts'
export type {
  AnswerOptions,
  Body,
  Credentials,
  Direction,
  GuardDecision,
  HeaderPairs,
  HeaderReason,
  InviteSession,
  OutboundCall,
  ReferOptions,
  ReferResult,
  RequestGuard,
  SessionEnd,
  SessionEvent,
} from './ua/session.ts'
export type { SessionTimerOptions } from './ua/session-timer-options.ts'
export { SipStateError } from './ua/sip-state-error.ts'
export { UserAgent } from './ua/user-agent.ts'
export type {
  LogEntry,
  OutboundRequest,
  RequestOutcome,
  UserAgentLimits,
  UserAgentOptions,
} from './ua/user-agent-options.ts'
export { type PassedMessage, VirtualNetwork, type VirtualNetworkOptions } from './ua/virtual-network.ts'
export { type VirtualElementOptions, VirtualTransport } from './ua/virtual-transport.ts'
