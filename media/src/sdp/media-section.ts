import { parseCrypto } from './sdes.ts'
import { DIRECTIONS, parseConnection, SDP_LIMITS, SdpSyntaxError } from './sdp-syntax.ts'
import type { CryptoAttribute, MediaDescription, SdpCodec } from './session-description.ts'

type Mapping = Omit<SdpCodec, 'payloadType' | 'fmtp'>

/** Payload types with a meaning of their own (RFC 3551 section 6, table 4). */
const STATIC_AUDIO: ReadonlyMap<number, Mapping> = new Map(
  (
    [
      [0, 'PCMU', 8000, 1],
      [3, 'GSM', 8000, 1],
      [4, 'G723', 8000, 1],
      [5, 'DVI4', 8000, 1],
      [6, 'DVI4', 16000, 1],
      [7, 'LPC', 8000, 1],
      [8, 'PCMA', 8000, 1],
      [9, 'G722', 8000, 1],
      [10, 'L16', 44100, 2],
      [11, 'L16', 44100, 1],
      [12, 'QCELP', 8000, 1],
      [13, 'CN', 8000, 1],
      [14, 'MPA', 90000, 1],
      [15, 'G728', 8000, 1],
      [16, 'DVI4', 11025, 1],
      [17, 'DVI4', 22050, 1],
      [18, 'G729', 8000, 1],
    ] as const
  ).map(([payloadType, name, clockRate, channels]) => [payloadType, { name, clockRate, channels }]),
)

/** One `m=` line and what follows it, while it is being read (RFC 8866 section 5.14). */
export class MediaSection {
  readonly #kind: string
  readonly #port: number
  readonly #protocol: string
  readonly #formats: readonly string[]
  readonly #mappings = new Map<number, Mapping>()
  readonly #fmtp = new Map<number, string>()
  readonly #crypto: CryptoAttribute[] = []
  #cryptoLines = 0
  #connection: string | null = null
  #direction: MediaDescription['direction'] = null
  #ptimeMs: number | null = null
  #maxptimeMs: number | null = null
  #rtcpMux = false
  #rtcp: MediaDescription['rtcp'] = null

  /** `value` of the `m=` line; throws `SdpSyntaxError`. */
  constructor(value: string) {
    const match = /^([!-.0-~]{1,64}) +(\d{1,5})(?:\/\d{1,5})? +([!-~]{1,64})((?: +[!-~]{1,255})+)$/.exec(value)
    if (match === null) throw new SdpSyntaxError('sdp_media', 'the m= line is not "kind port protocol formats"')
    this.#kind = match[1]!.toLowerCase()
    this.#port = Number(match[2])
    this.#protocol = match[3]!
    this.#formats = match[4]!.split(' ').filter(format => format !== '')
    if (this.#port > 65_535) throw new SdpSyntaxError('sdp_media', 'the port is above 65535')
    if (this.#formats.length > SDP_LIMITS.formatsPerMedia) throw new SdpSyntaxError('sdp_too_large', 'too many formats')
  }

  line(type: string, value: string): void {
    if (type === 'c') {
      const address = parseConnection(value)
      this.#connection ??= address
    } else if (type === 'a') this.#attribute(value)
    else if (type === 'v' || type === 'o') throw new SdpSyntaxError('sdp_line', `${type}= after the first m= line`)
  }

  #attribute(text: string): void {
    const colon = text.indexOf(':')
    const name = (colon < 0 ? text : text.slice(0, colon)).toLowerCase()
    const value = colon < 0 ? '' : text.slice(colon + 1).trim()
    switch (name) {
      case 'rtpmap':
        this.#rtpmap(value)
        break
      case 'fmtp':
        this.#formatParameters(value)
        break
      case 'crypto':
        this.#cryptoLine(value)
        break
      case 'ptime':
        this.#ptimeMs ??= parseMs(value)
        break
      case 'maxptime':
        this.#maxptimeMs ??= parseMs(value)
        break
      case 'rtcp-mux':
      // RFC 8858: the offerer takes RTCP on no other port; the answer is "rtcp-mux".
      case 'rtcp-mux-only':
        this.#rtcpMux = true
        break
      case 'rtcp':
        this.#rtcp ??= parseRtcp(value)
        break
      default:
        if (colon < 0) this.#direction ??= DIRECTIONS.find(direction => direction === name) ?? null
    }
  }

  #rtpmap(value: string): void {
    const match = /^(\d{1,3}) +([!-.0-~]{1,64})\/(\d{1,6})(?:\/(\d{1,2}))?$/.exec(value)
    if (match === null) return
    const payloadType = Number(match[1])
    // The first mapping counts: a later line must not redefine a number that was already used.
    if (payloadType > 127 || this.#mappings.has(payloadType)) return
    const channels = Number(match[4] ?? 1)
    this.#mappings.set(payloadType, { name: match[2]!.toUpperCase(), clockRate: Number(match[3]), channels })
  }

  #formatParameters(value: string): void {
    const match = /^(\d{1,3}) +(\S.*)$/.exec(value)
    if (match === null) return
    const payloadType = Number(match[1])
    if (payloadType <= 127 && !this.#fmtp.has(payloadType)) this.#fmtp.set(payloadType, match[2]!)
  }

  #cryptoLine(value: string): void {
    if (++this.#cryptoLines > SDP_LIMITS.cryptoPerMedia) throw new SdpSyntaxError('sdp_too_large', 'too many a=crypto')
    const crypto = parseCrypto(value)
    if (crypto !== null) this.#crypto.push(crypto)
  }

  finish(): MediaDescription {
    return {
      kind: this.#kind,
      port: this.#port,
      protocol: this.#protocol,
      formats: this.#formats,
      connection: this.#connection,
      direction: this.#direction,
      codecs: this.#codecs(),
      ptimeMs: this.#ptimeMs,
      maxptimeMs: this.#maxptimeMs,
      crypto: this.#crypto,
      hasCrypto: this.#cryptoLines > 0,
      rtcpMux: this.#rtcpMux,
      rtcp: this.#rtcp,
    }
  }

  #codecs(): SdpCodec[] {
    if (!/(?:^|\/)RTP\//i.test(this.#protocol)) return []
    const codecs = new Map<number, SdpCodec>()
    for (const format of this.#formats) {
      if (!/^(?:0|[1-9]\d{0,2})$/.test(format)) continue
      const payloadType = Number(format)
      const mapping =
        this.#mappings.get(payloadType) ?? (this.#kind === 'audio' ? STATIC_AUDIO.get(payloadType) : undefined)
      if (mapping === undefined || payloadType > 127 || codecs.has(payloadType)) continue
      codecs.set(payloadType, { payloadType, ...mapping, fmtp: this.#fmtp.get(payloadType) ?? null })
    }
    return [...codecs.values()]
  }
}

/** RFC 8866 section 6.4 allows fractions; a value without meaning counts as absent. */
function parseMs(value: string): number | null {
  if (!/^\d{1,5}(?:\.\d{1,6})?$/.test(value)) return null
  const ms = Number(value)
  return ms > 0 ? ms : null
}

/** RFC 3605. */
function parseRtcp(value: string): MediaDescription['rtcp'] {
  const match = /^(\d{1,5})(?: +IN +(?:IP4|IP6) +([!-.0-~]{1,255}))?$/i.exec(value)
  if (match === null || Number(match[1]) > 65_535) return null
  return { port: Number(match[1]), address: match[2] ?? null }
}
