/** The value of a Warning header (RFC 3261 section 20.43): `399 agent "text"`; code 300..399. */
export function serialiseWarning(_code: number, _agent: string, _text: string): string {
  throw new Error('being written')
}
