/**
 * A session description without `a=end-of-candidates` (RFC 8840 section 8.2). libdatachannel passes it to its ICE agent before the candidates of the same
 * description: now and then the agent finds no pair in between, and the connection fails before it has begun.
 */
export function withoutEndOfCandidates(sdp: string): string {
  return sdp.replace(/^a=end-of-candidates\r?\n/gm, '')
}
