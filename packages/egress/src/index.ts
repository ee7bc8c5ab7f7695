export { parseEgressAllow } from './allow-list.ts'
export { OutboundHttp } from './io/outbound-http.ts'
export type { Egress, EgressRequest, EgressResult, PreparedRequest } from './protocol.ts'
export { isPermitted, isPermittedHost } from './target.ts'
