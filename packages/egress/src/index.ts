export type { Egress, EgressRequest, EgressResult } from './protocol.ts'
