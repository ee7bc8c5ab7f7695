import type { TrunkProfile } from '../trunk-details.ts'

/** A carrier or PBX without a profile: the defaults, written out. */
export const generic = {
  transport: 'tls',
  media: 'srtp',
  codecs: ['PCMU', 'PCMA'],
  cps: 20,
  number_format_out: 'e164',
  number_format_in: 'any',
  refer: true,
  session_expires: 1800,
  dtmf: 'events',
  keep_alive: 25,
} as const satisfies TrunkProfile
