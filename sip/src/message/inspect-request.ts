import { parseContentType } from './content-type.ts'
import type { SipRequest } from './message.ts'
import { REGISTERED_METHODS } from './methods.ts'
import type { Fault } from './parse-result.ts'
import { splitList } from './split-list.ts'
import { tokenList } from './token-list.ts'

/** Methods, extensions and media types that a user agent supports; they decide which requests it accepts (RFC 3261 section 8.2). */
export interface Capabilities {
  readonly methods: readonly string[]
  /** Option tags that may stand in Require. */
  readonly extensions: readonly string[]
  /** Media types of bodies, lower-cased; a subtype may be "*". */
  readonly mediaTypes: readonly string[]
}

interface RequestRejection {
  /** 405, 416, 420, 415, 406, … */
  readonly status: number
  readonly fault: Fault
  /** Header fields that the answer has to carry: Allow, Unsupported, Accept, … */
  readonly headers: readonly (readonly [name: string, value: string])[]
}

/**
 * Why a well-formed request cannot be taken, in the order of RFC 3261 section 8.2; undefined when it can. Require is
 * not looked at in ACK and CANCEL (section 8.2.2.3).
 */
export function inspectRequest(request: SipRequest, abilities: Capabilities): RequestRejection | undefined {
  return (
    screenMethod(request, abilities) ??
    screenScheme(request) ??
    screenRequire(request, abilities) ??
    screenContent(request, abilities) ??
    screenAccept(request, abilities)
  )
}

function objection(
  status: number,
  code: string,
  where: string,
  detail: string,
  headers: RequestRejection['headers'] = [],
): RequestRejection {
  return { status, fault: { code, where, offset: 0, detail }, headers }
}

function screenMethod({ method }: SipRequest, { methods }: Capabilities): RequestRejection | undefined {
  if (methods.includes(method)) return undefined
  const status = REGISTERED_METHODS.has(method) ? 405 : 501
  const allow: RequestRejection['headers'] = [['Allow', methods.join(', ')]]
  return objection(status, 'unknown_method', 'start_line', `The method ${method} is not supported.`, allow)
}

function screenScheme({ uri }: SipRequest): RequestRejection | undefined {
  if ('host' in uri) return undefined
  return objection(416, 'unknown_scheme', 'start_line', `Requests to the scheme "${uri.scheme}" are not supported.`)
}

function screenRequire(request: SipRequest, { extensions }: Capabilities): RequestRejection | undefined {
  if (request.method === 'ACK' || request.method === 'CANCEL') return undefined
  const known = new Set(extensions.map(tag => tag.toLowerCase()))
  const unknown = tokenList(request.headers, 'Require').filter(tag => !known.has(tag.toLowerCase()))
  if (unknown.length === 0) return undefined
  const tags = unknown.join(', ')
  return objection(420, 'unknown_extension', 'Require', `Not supported: ${tags}.`, [['Unsupported', tags]])
}

/** RFC 3261 section 8.2.3. A body whose handling is optional is ignored. */
function screenContent(request: SipRequest, { mediaTypes }: Capabilities): RequestRejection | undefined {
  if (request.body.length === 0) return undefined
  if (/;\s*handling\s*=\s*optional/i.test(request.headers.get('Content-Disposition') ?? '')) return undefined
  const encoding = request.headers.get('Content-Encoding')
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    const detail = `The encoding "${encoding}" is not supported.`
    return objection(415, 'unknown_encoding', 'Content-Encoding', detail, [['Accept-Encoding', 'identity']])
  }
  const value = request.headers.get('Content-Type')
  const mediaType = value === undefined ? undefined : parseContentType(value)?.mediaType
  if (mediaType === undefined || mediaTypes.some(type => covers(type, mediaType))) return undefined
  const detail = `Bodies of the type ${mediaType} are not supported.`
  return objection(415, 'unknown_media_type', 'Content-Type', detail, [['Accept', mediaTypes.join(', ')]])
}

/** An INVITE whose Accept excludes application/sdp gets 406, because the sender could not read our answer (RFC 4475 section 3.3.15). */
function screenAccept(request: SipRequest, { mediaTypes }: Capabilities): RequestRejection | undefined {
  if (request.method !== 'INVITE' || !request.headers.has('Accept')) return undefined
  const ranges = request.headers.all('Accept').flatMap(splitList)
  const taken = ranges.some(range => {
    const accepted = parseContentType(range)?.mediaType
    return accepted !== undefined && (covers(accepted, 'application/sdp') || accepted === '*/*')
  })
  if (taken || !mediaTypes.includes('application/sdp')) return undefined
  return objection(406, 'not_acceptable', 'Accept', 'The sender accepts no session description.')
}

function covers(pattern: string, mediaType: string): boolean {
  return pattern === mediaType || (pattern.endsWith('/*') && mediaType.startsWith(pattern.slice(0, -1)))
}
