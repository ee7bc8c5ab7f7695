import { canonicalName } from './canonical-name.ts'
import { mediaTypeOf } from './content-type.ts'
import { readHeaderSection } from './header-section.ts'
import { type Capabilities, inspectRequest } from './inspect-request.ts'
import type { CSeq, NameAddr, Params, SipMessage, Uri, Via } from './message.ts'
import { REGISTERED_METHODS } from './methods.ts'
import { parseDatagram } from './parse-datagram.ts'
import { DEFAULT_LIMITS, type Fault, type Parsed, type ParseResult } from './parse-result.ts'
import { StreamFramer } from './stream-framer.ts'
import { serialiseUri } from './uri.ts'

interface DecodeOptions {
  /**
   * How the bytes came. "auto" (default) is "datagram": a file ends where its message ends, which is what a datagram
   * does. As a "stream" a missing Content-Length is an error, and a body that is cut off is waited for.
   */
  readonly kind?: 'auto' | 'datagram' | 'stream'
  /** Whose judgement is asked for; default: a user agent with all registered methods and usual extensions. */
  readonly abilities?: Capabilities
}

interface DecodeOutcome {
  /** 0: a user agent takes the message; 2: it is refused or dropped. */
  readonly exitCode: 0 | 2
  readonly json: Readonly<Record<string, unknown>>
}

const ANY_USER_AGENT: Capabilities = {
  methods: [...REGISTERED_METHODS],
  extensions: [
    '100rel',
    'from-change',
    'gruu',
    'histinfo',
    'join',
    'norefersub',
    'outbound',
    'path',
    'precondition',
    'replaces',
    'tdialog',
    'timer',
  ],
  mediaTypes: [
    'application/sdp',
    'application/dtmf',
    'application/dtmf-relay',
    'message/sipfrag',
    'multipart/*',
    'text/*',
  ],
}

/**
 * What `parley sip decode FILE` prints. Accepted: `{accepted: true, faults, message}`. Refused or dropped:
 * `{accepted: false, answer, offset, fault, faults, fatal}`, with `message` where it could be read: then a user
 * agent refuses it for what it asks, not for its form.
 */
export function decodeFile(bytes: Uint8Array, options: DecodeOptions = {}): DecodeOutcome {
  const result = options.kind === 'stream' ? firstOfStream(bytes) : parseDatagram(bytes)
  if (!result.ok) return refused(result.answer, result.fault, { fatal: result.fatal })
  const { message, faults } = result
  const readable = { faults, message: describe(message) }
  if (message.kind === 'request') {
    const objection = inspectRequest(message, options.abilities ?? ANY_USER_AGENT)
    if (objection === undefined) return { exitCode: 0, json: { accepted: true, ...readable } }
    const answer = message.method === 'ACK' ? null : objection.status
    return refused(answer, located(objection.fault, bytes), readable)
  }
  const fault = responseFault(result)
  return fault === undefined
    ? { exitCode: 0, json: { accepted: true, ...readable } }
    : refused(null, located(fault, bytes), readable)
}

function refused(answer: number | null, fault: Fault, more: Readonly<Record<string, unknown>>): DecodeOutcome {
  return { exitCode: 2, json: { accepted: false, answer, offset: fault.offset, fault, ...more } }
}

/** RFC 3261 section 8.1.3.3: a response with a second Via was meant for somebody else. */
function responseFault({ message }: Parsed): Fault | undefined {
  if (message.via.length < 2) return undefined
  const detail = 'A response with more than one Via has lost its way; a user agent drops it.'
  return { code: 'foreign_response', where: 'Via', offset: 0, detail }
}

/** A fault found above the parser has no offset of its own: give it that of its header line. */
function located(fault: Fault, bytes: Uint8Array): Fault {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
  const { startOffset, fields } = readHeaderSection(text, DEFAULT_LIMITS)
  const field = fields.find(candidate => canonicalName(candidate.name) === fault.where)
  return { ...fault, offset: field?.offset ?? startOffset }
}

function firstOfStream(bytes: Uint8Array): ParseResult {
  const framer = new StreamFramer()
  framer.push(bytes)
  let result = framer.next()
  while (result !== undefined && 'keepAlive' in result) result = framer.next()
  if (result !== undefined) return result
  const detail = 'The stream ends before the message does.'
  const fault: Fault = { code: 'incomplete', where: 'message', offset: bytes.length, detail }
  return { ok: false, fault, answer: null, responseFields: null, fatal: true }
}

function describe(message: SipMessage): Readonly<Record<string, unknown>> {
  const start =
    message.kind === 'request'
      ? {
          kind: 'request',
          method: message.method,
          uri: describeUri(message.uri),
          max_forwards: message.maxForwards ?? null,
        }
      : { kind: 'response', status: message.status, reason: message.reason }
  const text = Buffer.from(message.body).toString('utf8')
  const printable = !text.includes('\ufffd') && !text.includes('\0')
  return {
    ...start,
    via: message.via.map(describeVia),
    from: describeAddress(message.from),
    to: describeAddress(message.to),
    call_id: message.callId,
    cseq: describeCSeq(message.cseq),
    route: message.route.map(describeAddress),
    record_route: message.recordRoute.map(describeAddress),
    contact: message.contact === '*' ? '*' : message.contact.map(describeAddress),
    headers: message.headers.entries.map(([name, value]) => ({ name, value })),
    body: {
      bytes: message.body.length,
      media_type: mediaTypeOf(message) ?? null,
      ...(printable ? { text } : { base64: Buffer.from(message.body).toString('base64') }),
    },
  }
}

function describeUri(uri: Uri): Readonly<Record<string, unknown>> {
  const text = serialiseUri(uri)
  if (!('host' in uri)) return { text, scheme: uri.scheme, opaque: uri.opaque }
  return {
    text,
    scheme: uri.scheme,
    user: uri.user ?? null,
    password: uri.password ?? null,
    host: uri.host,
    port: uri.port ?? null,
    params: describeParams(uri.params),
    headers: uri.headers.map(([name, value]) => ({ name, value })),
  }
}

function describeAddress(address: NameAddr): Readonly<Record<string, unknown>> {
  return {
    display_name: address.displayName ?? null,
    uri: describeUri(address.uri),
    params: describeParams(address.params),
  }
}

function describeVia(via: Via): Readonly<Record<string, unknown>> {
  return { transport: via.transport, host: via.host, port: via.port ?? null, params: describeParams(via.params) }
}

function describeCSeq(cseq: CSeq): Readonly<Record<string, unknown>> {
  return { sequence: cseq.sequence, method: cseq.method }
}

/** Pairs, not an object: a parameter may be called "__proto__". */
function describeParams(params: Params): readonly Readonly<Record<string, unknown>>[] {
  return [...params].map(([name, value]) => ({ name, value }))
}
