import { parseStartLine } from '../message/start-line.ts'

/** Longest status line that is parsed. */
const MAX_LINE = 512

/** Longest reason phrase that is kept, because it is written to logs and receipts. */
const MAX_REASON = 128

/** The status line that a message/sipfrag body begins with (RFC 3420, RFC 3515 section 2.4.5); undefined without one. */
export function sipfragStatus(body: Uint8Array): { readonly status: number; readonly reason: string } | undefined {
  const start = new TextDecoder().decode(body.subarray(0, MAX_LINE)).trimStart()
  const line = parseStartLine(/^[^\r\n]*/.exec(start)?.[0] ?? '')
  if (line?.kind !== 'response' || line.version !== '2.0' || line.status === undefined) return undefined
  return { status: line.status, reason: line.reason.slice(0, MAX_REASON) }
}
