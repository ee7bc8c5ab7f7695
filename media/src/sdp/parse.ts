import { MediaSection } from './media-section.ts'
import { DIRECTIONS, parseConnection, SDP_LIMITS, type SdpErrorCode, SdpSyntaxError } from './sdp-syntax.ts'
import type { MediaDescription, SessionDescription } from './session-description.ts'

type SdpParseResult =
  | { readonly ok: true; readonly description: SessionDescription }
  | {
      readonly ok: false
      readonly code: SdpErrorCode
      /** 1-based; 0 when it is the whole body. */
      readonly line: number
      readonly detail: string
    }

/**
 * Parses a session description (RFC 8866). Never throws. Sloppy line ends, missing `s=` and `t=`, blank lines and
 * unknown lines are accepted; lines that decide where media goes and under which key are parsed strictly.
 */
export function parseSdp(bytes: Uint8Array): SdpParseResult {
  const position = { line: 0 }
  try {
    return { ok: true, description: parseLines(splitLines(bytes), position) }
  } catch (error) {
    if (!(error instanceof SdpSyntaxError)) throw error
    return { ok: false, code: error.code, line: position.line, detail: error.message }
  }
}

const decoder = new TextDecoder()

function splitLines(bytes: Uint8Array): string[] {
  if (bytes.length > SDP_LIMITS.bytes) throw new SdpSyntaxError('sdp_too_large', `${bytes.length} bytes`)
  const lines = decoder.decode(bytes).split(/\r?\n/)
  while (lines.at(-1)?.trim() === '') lines.pop()
  if (lines.length === 0) throw new SdpSyntaxError('sdp_empty', 'the body is empty')
  if (lines.length > SDP_LIMITS.lines) throw new SdpSyntaxError('sdp_too_large', `${lines.length} lines`)
  return lines
}

interface SessionSection {
  origin: SessionDescription['origin'] | null
  sessionName: string
  timing: string | null
  connection: string | null
  direction: SessionDescription['direction']
}

function parseLines(lines: readonly string[], position: { line: number }): SessionDescription {
  const session: SessionSection = { origin: null, sessionName: '-', timing: null, connection: null, direction: null }
  const media: MediaSection[] = []
  for (const [index, line] of lines.entries()) {
    position.line = index + 1
    if (line === '') continue
    checkLine(line, index)
    const type = line[0]!
    const value = line.slice(2).trim()
    if (type === 'm') {
      if (media.length === SDP_LIMITS.media) throw new SdpSyntaxError('sdp_too_large', 'too many media lines')
      media.push(new MediaSection(value))
    } else if (media.length > 0) {
      media.at(-1)!.line(type, value)
    } else if (index > 0) {
      sessionLine(session, type, value)
    }
  }
  position.line = 0
  if (session.origin === null) throw new SdpSyntaxError('sdp_origin', 'there is no o= line')
  return {
    origin: session.origin,
    sessionName: session.sessionName,
    timing: session.timing ?? '0 0',
    connection: session.connection,
    direction: session.direction,
    media: media.map((section): MediaDescription => section.finish()),
  }
}

function checkLine(line: string, index: number): void {
  if (line.length > SDP_LIMITS.lineCharacters) throw new SdpSyntaxError('sdp_too_large', 'the line is too long')
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for; tab alone is text (RFC 8866 section 9).
  if (/[\u0000-\u0008\u000a-\u001f\u007f]/.test(line)) {
    throw new SdpSyntaxError('sdp_control_character', 'a control character inside the line')
  }
  if (line[1] !== '=') throw new SdpSyntaxError('sdp_line', 'the line is not of the form x=value')
  if (index === 0 && line.trimEnd() !== 'v=0') throw new SdpSyntaxError('sdp_version', 'the first line is not v=0')
}

function sessionLine(session: SessionSection, type: string, value: string): void {
  switch (type) {
    case 'v':
      throw new SdpSyntaxError('sdp_version', 'a second v= line')
    case 'o':
      if (session.origin !== null) throw new SdpSyntaxError('sdp_origin', 'a second o= line')
      session.origin = parseOrigin(value)
      break
    case 's':
      session.sessionName = value === '' ? '-' : value
      break
    case 't':
      // The time of the session is not used on a phone call: an unreadable t= line is accepted.
      if (/^\d{1,20} +\d{1,20}$/.test(value)) session.timing ??= value.replace(/ +/, ' ')
      break
    case 'c': {
      const address = parseConnection(value)
      session.connection ??= address
      break
    }
    case 'a':
      session.direction ??= DIRECTIONS.find(direction => direction === value) ?? null
      break
  }
}

/** RFC 8866 section 5.2. Some senders put blanks into the user name: only the last five fields count. */
function parseOrigin(value: string): SessionDescription['origin'] {
  const fields = value.split(/[ \t]+/)
  const [sessionId, version, network, , address] = fields.slice(-5)
  const readable = fields.slice(-5).every(field => /^[!-~]+$/.test(field))
  if (fields.length < 6 || !readable || network!.toUpperCase() !== 'IN') {
    throw new SdpSyntaxError('sdp_origin', 'the o= line is not "user id version IN type address"')
  }
  return { username: fields.slice(0, -5).join(' '), sessionId: sessionId!, version: version!, address: address! }
}
