/** Limits of a description; a larger one is refused, never truncated. */
export const SDP_LIMITS = {
  bytes: 65_536,
  lines: 1000,
  lineCharacters: 8192,
  media: 32,
  formatsPerMedia: 64,
  cryptoPerMedia: 32,
} as const

export type SdpErrorCode =
  | 'sdp_too_large'
  | 'sdp_empty'
  | 'sdp_control_character'
  | 'sdp_line'
  | 'sdp_version'
  | 'sdp_origin'
  | 'sdp_connection'
  | 'sdp_media'

/** Ends the parse; never thrown beyond this package. */
export class SdpSyntaxError extends Error {
  readonly code: SdpErrorCode

  constructor(code: SdpErrorCode, detail: string) {
    super(detail)
    this.code = code
  }
}

export const DIRECTIONS = ['sendrecv', 'sendonly', 'recvonly', 'inactive'] as const

/** The address of a `c=` line (RFC 8866 section 5.7), without a multicast TTL. */
export function parseConnection(value: string): string {
  const match = /^IN +(?:IP4|IP6) +([!-.0-~]{1,255})(?:\/\d{1,3}){0,2}$/i.exec(value)
  if (match === null) throw new SdpSyntaxError('sdp_connection', 'the c= line is not "IN IP4|IP6 address"')
  return match[1]!
}
