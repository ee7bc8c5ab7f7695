import type { TrunkProfile } from '../trunk-details.ts'

/** Telnyx SIP trunking. Needs a connection with TLS, encrypted media SRTP and number format +E.164. */
export const telnyx = {
  transport: 'tls',
  media: 'srtp',
  codecs: ['PCMU', 'PCMA'],
  cps: 20,
  number_format_out: 'e164',
  number_format_in: 'e164',
  refer: true,
  session_expires: 1800,
  dtmf: 'events',
  keep_alive: 25,
} as const satisfies TrunkProfile
