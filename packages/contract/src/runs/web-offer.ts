/** Longest session description of a browser, characters: without video it has about 3,000. */
export const MAX_WEB_OFFER = 32_768

/** The audio that a browser offers. */
interface WebOffer {
  /** `a=mid` of its media line. */
  readonly mid: string
  /** Payload type of opus/48000/2. */
  readonly payloadType: number
  /** Format parameters of Opus; null: none. */
  readonly fmtp: string | null
}

/**
 * Reads a browser's offer (RFC 9725 section 4.2): the first audio line with Opus (RFC 7587), over DTLS-SRTP with ICE. A text: what it lacks.
 */
export function readWebOffer(sdp: string): WebOffer | string {
  if (sdp.length > MAX_WEB_OFFER) return `is longer than ${MAX_WEB_OFFER} characters`
  const lines = sdp.split(/\r?\n/)
  if (lines[0] !== 'v=0') return 'is not a session description: its first line is not v=0'
  const starts = lines.flatMap((line, i) => (line.startsWith('m=') ? [i] : []))
  const session = lines.slice(0, starts[0] ?? lines.length)
  for (const [i, start] of starts.entries()) {
    const section = lines.slice(start, starts[i + 1])
    if (!/^m=audio [1-9]\d* UDP\/TLS\/RTP\/SAVPF /.test(section[0]!)) continue
    return audioOf(section, session)
  }
  return 'has no audio over UDP/TLS/RTP/SAVPF'
}

function audioOf(section: readonly string[], session: readonly string[]): WebOffer | string {
  const value = (prefix: string) => section.find(line => line.startsWith(prefix))?.slice(prefix.length)
  const shared = (prefix: string) => value(prefix) ?? session.find(line => line.startsWith(prefix))
  if (shared('a=fingerprint:') === undefined) return 'has no a=fingerprint: DTLS-SRTP is needed'
  if (shared('a=ice-ufrag:') === undefined || shared('a=ice-pwd:') === undefined) return 'has no ICE credentials'
  const mid = value('a=mid:')
  if (mid === undefined || !/^[!-~]{1,32}$/.test(mid)) return 'has an audio line without a=mid'
  const mapping = section.map(line => /^a=rtpmap:(\d{1,3}) opus\/48000\/2$/i.exec(line)).find(match => match !== null)
  if (mapping === undefined) return 'has no opus/48000/2'
  const fmtp = value(`a=fmtp:${mapping[1]} `)
  return { mid, payloadType: Number(mapping[1]), fmtp: fmtp?.slice(0, 256) ?? null }
}

/** The candidates in an SDP fragment of trickle ICE (RFC 8840), with the media line that they belong to. */
export function readWebCandidates(fragment: string): readonly { readonly candidate: string; readonly mid: string }[] {
  let mid = '0'
  const found: { candidate: string; mid: string }[] = []
  for (const line of fragment.split(/\r?\n/).slice(0, 100)) {
    if (line.startsWith('a=mid:')) mid = line.slice('a=mid:'.length)
    // Names of multicast DNS hide private addresses from us; such a browser is found by its own checks.
    else if (/^a=candidate:/.test(line) && line.length < 512 && !line.includes('.local '))
      found.push({ candidate: line.slice('a='.length), mid })
  }
  return found.slice(0, 30)
}
