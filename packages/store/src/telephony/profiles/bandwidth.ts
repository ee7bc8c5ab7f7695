import type { TrunkProfile } from '../trunk-details.ts'

/** Bandwidth SIP trunking, with TLS and SRTP switched on for the account. */
export const bandwidth = {
  transport: 'tls',
  media: 'srtp',
  codecs: ['PCMU', 'PCMA'],
  country: 'US',
  number_format_out: 'e164',
  number_format_in: 'any',
  asserted_identity: 'caller',
  session_expires: 1800,
  dtmf: 'events',
  keep_alive: 25,
} as const satisfies TrunkProfile
