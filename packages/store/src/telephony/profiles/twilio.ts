import type { TrunkProfile } from '../trunk-details.ts'

/** Twilio Elastic SIP Trunking. Needs "Secure trunking" and, for transfers, "Call Transfer (SIP REFER)" on the trunk. */
export const twilio = {
  transport: 'tls',
  media: 'srtp',
  codecs: ['PCMU', 'PCMA'],
  // The limit of a trunk in a region unless a higher one was bought.
  cps: 1,
  number_format_out: 'e164',
  number_format_in: 'e164',
  refer: true,
  session_expires: 1800,
  dtmf: 'events',
  keep_alive: 25,
} as const satisfies TrunkProfile
