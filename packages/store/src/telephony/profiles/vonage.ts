import type { TrunkProfile } from '../trunk-details.ts'

/** Vonage SIP trunking, which writes E.164 numbers without "+" in both directions. */
export const vonage = {
  transport: 'tls',
  media: 'srtp',
  codecs: ['PCMU', 'PCMA'],
  number_format_out: 'digits',
  number_format_in: 'e164',
  session_expires: 1800,
  dtmf: 'events',
  keep_alive: 25,
} as const satisfies TrunkProfile
