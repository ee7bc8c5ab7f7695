import type { ParleyError } from '@parley/kernel'
import { MediaError } from '../errors.ts'
import { formatCrypto } from './sdes.ts'
import type { MediaDescription, SdpCodec, SessionDescription } from './session-description.ts'

const encoder = new TextEncoder()

/**
 * Serialises a description (RFC 8866 section 5, CRLF line ends). Throws `MediaError` "sdp_invalid_value" for any value
 * that would be read differently: line ends, control characters, blanks inside a token.
 */
export function serialiseSdp(description: SessionDescription): Uint8Array {
  return encoder.encode(sdpText(description))
}

export function sdpText(description: SessionDescription): string {
  const { origin } = description
  const id = `${token('session id', origin.sessionId)} ${token('version', origin.version)}`
  const lines = [
    'v=0',
    `o=${text('user name', origin.username)} ${id} IN ${addressType(origin.address)} ${token('address', origin.address)}`,
    `s=${text('session name', description.sessionName)}`,
  ]
  if (description.connection !== null) lines.push(connectionLine(description.connection))
  lines.push(`t=${matching('timing', description.timing, /^\d+ \d+$/)}`)
  if (description.direction !== null) lines.push(`a=${description.direction}`)
  for (const media of description.media) mediaLines(media, lines)
  return `${lines.join('\r\n')}\r\n`
}

function mediaLines(media: MediaDescription, lines: string[]): void {
  const formats = media.formats.map(format => token('format', format))
  if (formats.length === 0) throw invalid('formats', 'a media line needs one')
  const head = [slashless('media', media.kind), port(media.port), token('protocol', media.protocol), ...formats]
  lines.push(`m=${head.join(' ')}`)
  if (media.connection !== null) lines.push(connectionLine(media.connection))
  for (const codec of media.codecs) codecLines(codec, lines)
  if (media.ptimeMs !== null) lines.push(`a=ptime:${milliseconds(media.ptimeMs)}`)
  if (media.maxptimeMs !== null) lines.push(`a=maxptime:${milliseconds(media.maxptimeMs)}`)
  for (const crypto of media.crypto) {
    token('suite', crypto.suite)
    for (const parameter of crypto.sessionParameters) token('session parameter', parameter)
    lines.push(`a=crypto:${formatCrypto(crypto)}`)
  }
  if (media.direction !== null) lines.push(`a=${media.direction}`)
  if (media.rtcpMux) lines.push('a=rtcp-mux')
  if (media.rtcp !== null) {
    const { address } = media.rtcp
    const where = address === null ? '' : ` IN ${addressType(address)} ${slashless('address', address)}`
    lines.push(`a=rtcp:${port(media.rtcp.port)}${where}`)
  }
}

function codecLines(codec: SdpCodec, lines: string[]): void {
  // The registered spelling: a few peers compare this name case-sensitively.
  const name = codec.name === 'TELEPHONE-EVENT' ? 'telephone-event' : slashless('codec', codec.name)
  const channels = codec.channels === 1 ? '' : `/${integer('channels', codec.channels, 99)}`
  const payloadType = integer('payload type', codec.payloadType, 127)
  lines.push(`a=rtpmap:${payloadType} ${name}/${integer('clock rate', codec.clockRate, 999_999)}${channels}`)
  if (codec.fmtp !== null) lines.push(`a=fmtp:${payloadType} ${text('fmtp', codec.fmtp)}`)
}

function connectionLine(address: string): string {
  return `c=IN ${addressType(address)} ${slashless('address', address)}`
}

function addressType(address: string): 'IP4' | 'IP6' {
  return address.includes(':') ? 'IP6' : 'IP4'
}

function port(value: number): number {
  return integer('port', value, 65_535)
}

function integer(name: string, value: number, max: number): number {
  if (!Number.isInteger(value) || value < 0 || value > max) throw invalid(name, `${value} is not 0 to ${max}`)
  return value
}

function milliseconds(value: number): string {
  return matching('ptime', String(value), /^\d+(?:\.\d+)?$/)
}

/** Free text: whole lines of it must stay one line. */
function text(name: string, value: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is refused.
  return matching(name, value, /^(?![ \t])[^\u0000-\u0008\u000a-\u001f\u007f]+(?<![ \t])$/)
}

function token(name: string, value: string): string {
  return matching(name, value, /^[!-~]+$/)
}

function slashless(name: string, value: string): string {
  return matching(name, value, /^[!-.0-~]+$/)
}

function matching(name: string, value: string, pattern: RegExp): string {
  if (!pattern.test(value)) throw invalid(name, 'it holds characters that do not belong there')
  return value
}

function invalid(name: string, detail: string): ParleyError {
  return new MediaError('sdp_invalid_value', `SDP cannot carry this ${name}: ${detail}`)
}
