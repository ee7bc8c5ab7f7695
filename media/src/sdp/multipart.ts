/** A body that is larger than this, or in more parts, is refused. */
const MULTIPART_LIMITS = { bytes: 65_536, parts: 16, headersPerPart: 32, headerLineBytes: 1024 } as const

type ExtractedSdp =
  | { readonly ok: true; readonly sdp: Uint8Array }
  /** 415: there is no application/sdp in it; 400: the body is not what its type says. */
  | { readonly ok: false; readonly status: 400 | 415; readonly code: string; readonly detail: string }

/**
 * The application/sdp in a message body (RFC 5621): the body itself, or the first such part of multipart/mixed,
 * multipart/alternative or multipart/related (RFC 2046 section 5.1). `contentType` is the whole header value; when it
 * carries no boundary the body's first delimiter line tells it. Never throws.
 */
export function extractSdp(contentType: string, body: Uint8Array): ExtractedSdp {
  const type = mediaType(contentType)
  if (type === 'application/sdp') return { ok: true, sdp: body }
  if (!/^multipart\/(?:mixed|alternative|related)$/.test(type)) {
    return { ok: false, status: 415, code: 'not_sdp', detail: 'the body is not application/sdp' }
  }
  if (body.length > MULTIPART_LIMITS.bytes) return malformed('multipart_too_large', `${body.length} bytes`)
  // One character per byte: offsets in the text are offsets in the body.
  const text = Buffer.from(body.buffer, body.byteOffset, body.length).toString('latin1')
  const boundary = boundaryParameter(contentType) ?? /^(?:\r?\n)*--([!-~]{1,70})[ \t]*\r?\n/.exec(text)?.[1]
  if (boundary === undefined) return malformed('multipart_boundary', 'there is no boundary')
  return firstSdpPart(text, boundary, body)
}

function firstSdpPart(text: string, boundary: string, body: Uint8Array): ExtractedSdp {
  let at = nextDelimiter(text, boundary, 0)
  if (at === null) return malformed('multipart_boundary', 'the boundary is not in the body')
  for (let part = 0; !at.closing; part++) {
    if (part === MULTIPART_LIMITS.parts) return malformed('multipart_too_many_parts', 'too many parts')
    // A last part whose closing delimiter is missing reaches to the end of the body.
    const next = nextDelimiter(text, boundary, at.end)
    const content = partContent(text, at.end, next?.start ?? text.length)
    if (content === null) return malformed('multipart_part', 'the headers of a part cannot be read')
    if (content.type === 'application/sdp') return { ok: true, sdp: body.subarray(content.start, content.end) }
    if (next === null) break
    at = next
  }
  return { ok: false, status: 415, code: 'not_sdp', detail: 'no part of the body is application/sdp' }
}

interface Delimiter {
  /** Offset of the line end before it, which belongs to the delimiter. */
  readonly start: number
  /** Offset after its own line end. */
  readonly end: number
  readonly closing: boolean
}

function nextDelimiter(text: string, boundary: string, from: number): Delimiter | null {
  const mark = `--${boundary}`
  for (let at = text.indexOf(mark, from); at >= 0; at = text.indexOf(mark, at + 1)) {
    if (at > 0 && text[at - 1] !== '\n') continue
    const lineEnd = text.indexOf('\n', at)
    const rest = text.slice(at + mark.length, lineEnd < 0 ? text.length : lineEnd).trimEnd()
    if (rest !== '' && rest !== '--') continue
    const start = at === 0 || at === from ? at : at - (text[at - 2] === '\r' ? 2 : 1)
    return { start, end: lineEnd < 0 ? text.length : lineEnd + 1, closing: rest === '--' }
  }
  return null
}

/** A part without a Content-Type is text/plain (RFC 2046 section 5.1). */
function partContent(text: string, from: number, to: number): { type: string; start: number; end: number } | null {
  let type = 'text/plain'
  let at = from
  for (let count = 0; count <= MULTIPART_LIMITS.headersPerPart; count++) {
    const lineEnd = text.indexOf('\n', at)
    if (lineEnd < 0 || lineEnd >= to || lineEnd - at > MULTIPART_LIMITS.headerLineBytes) return null
    const line = text.slice(at, lineEnd).trimEnd()
    at = lineEnd + 1
    if (line === '') return { type, start: at, end: to }
    const header = /^content-type[ \t]*:(.*)$/i.exec(line)
    if (header !== null) type = mediaType(header[1]!)
  }
  return null
}

function mediaType(header: string): string {
  return header.split(';', 1)[0]!.trim().toLowerCase()
}

function boundaryParameter(contentType: string): string | undefined {
  const match = /;[ \t]*boundary[ \t]*=[ \t]*(?:"([^"\r\n]{1,70})"|([^\s;"]{1,70}))/i.exec(contentType)
  return match === null ? undefined : (match[1] ?? match[2])
}

function malformed(code: string, detail: string): ExtractedSdp {
  return { ok: false, status: 400, code, detail }
}
