export { type EgressAllowEntry, parseEgressAllow } from './allow-list.ts'
export { OutboundHttp, type OutboundHttpOptions } from './io/outbound-http.ts'
export type {
  Egress,
  EgressNotConnected,
  EgressRefused,
  EgressRequest,
  EgressResult,
  PreparedRequest,
} from './protocol.ts'
