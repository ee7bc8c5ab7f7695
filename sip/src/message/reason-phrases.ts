/** The phrase of RFC 3261 section 21 and its extensions; that of the class (x00) for an unknown status. */
export function reasonPhrase(_status: number): string {
  throw new Error('being written')
}
