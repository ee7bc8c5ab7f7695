export type {
  Egress,
  EgressNotConnected,
  EgressRefused,
  EgressRequest,
  EgressResult,
  PreparedRequest,
} from './protocol.ts'
