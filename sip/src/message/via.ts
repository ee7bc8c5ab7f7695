import { type FaultReporter, ignoreFault, skipClass, skipSpace, TOKEN, trimSpace } from './characters.ts'
import { headerToken } from './header-text.ts'
import { parseHost, parsePort, serialiseHostPort } from './host.ts'
import type { Via } from './message.ts'
import { parseParams, serialiseParams } from './params.ts'
import { splitList } from './split-list.ts'

const PROTOCOL = /^SIP[ \t]*\/[ \t]*2\.0[ \t]*\/[ \t]*/i

/** One Via value (RFC 3261 section 20.42): white space is allowed around every separator. */
export function parseVia(text: string, notice: FaultReporter = ignoreFault): Via | undefined {
  // Fast path without a regular expression for the usual spelling.
  const plain = text.startsWith('SIP/2.0/') && text.charCodeAt(8) > 0x20
  const transportStart = plain ? 8 : (PROTOCOL.exec(text)?.[0].length ?? 0)
  const transportEnd = skipClass(TOKEN, text, transportStart)
  const hostStart = skipSpace(text, transportEnd)
  if (transportStart === 0 || transportEnd === transportStart || hostStart === transportEnd) return undefined

  const semicolon = text.indexOf(';', hostStart)
  const sentByEnd = semicolon === -1 ? text.length : semicolon
  const sentBy = text.slice(hostStart, sentByEnd)
  const colon = sentBy.indexOf(':', sentBy.charCodeAt(0) === 0x5b ? sentBy.indexOf(']') + 1 : 0)
  const host = parseHost(trimSpace(colon === -1 ? sentBy : sentBy.slice(0, colon)))
  const port = colon === -1 ? undefined : parsePort(trimSpace(sentBy.slice(colon + 1)))
  const params = parseParams(text, sentByEnd, notice)
  if (host === undefined || params === undefined || (colon !== -1 && port === undefined)) return undefined
  return { transport: text.slice(transportStart, transportEnd).toUpperCase(), host, port, params }
}

/** A whole Via line; undefined when any of its values is malformed. */
export function parseViaList(value: string, notice: FaultReporter = ignoreFault): readonly Via[] | undefined {
  const values: Via[] = []
  for (const element of splitList(value)) {
    const via = parseVia(element, notice)
    if (via === undefined) return undefined
    values.push(via)
  }
  return values
}

/** Throws SipMessageError for what cannot be written. */
export function serialiseVia(via: Via): string {
  const transport = headerToken(via.transport, 'Via transport')
  return `SIP/2.0/${transport} ${serialiseHostPort(via.host, via.port, 'Via')}${serialiseParams(via.params, 'Via')}`
}
