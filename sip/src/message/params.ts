import { consistsOf, type FaultReporter, ignoreFault, PARAM_VALUE, skipClass, skipSpace, TOKEN } from './characters.ts'
import { headerToken } from './header-text.ts'
import type { Params } from './message.ts'
import { endOfQuoted, quote, unquote } from './quoted-string.ts'

export const NO_PARAMS: Params = new Map()

/**
 * Reads `;name=value;name` from `start` to the end of `text` (RFC 3261 section 25.1, generic-param). Undefined when
 * anything else stands there. Of a name given twice the first counts.
 */
export function parseParams(text: string, start: number, notice: FaultReporter = ignoreFault): Params | undefined {
  let i = skipSpace(text, start)
  if (i === text.length) return NO_PARAMS
  const params = new Map<string, string | null>()
  while (i < text.length) {
    if (text.charCodeAt(i) !== 0x3b) return undefined
    i = skipSpace(text, i + 1)
    if (i === text.length) {
      notice('trailing_semicolon', 'A semicolon without a parameter ends the value.')
      break
    }
    const nameEnd = skipClass(TOKEN, text, i)
    if (nameEnd === i) return undefined
    const name = text.slice(i, nameEnd).toLowerCase()
    i = skipSpace(text, nameEnd)
    let value: string | null = null
    if (text.charCodeAt(i) === 0x3d) {
      i = skipSpace(text, i + 1)
      const end = text.charCodeAt(i) === 0x22 ? endOfQuoted(text, i) : skipClass(PARAM_VALUE, text, i)
      if (end === -1) return undefined
      const written = text.slice(i, end)
      const read = written.charCodeAt(0) === 0x22 ? unquote(written) : written
      if (read === undefined) return undefined
      value = read
      i = skipSpace(text, end)
    }
    if (params.has(name)) notice('duplicate_parameter', `The parameter "${name}" is given more than once.`)
    else params.set(name, value)
  }
  return params
}

/** `;name=value…`, values quoted where they must be; throws SipMessageError when a name is no token. */
export function serialiseParams(params: Params, where: string): string {
  let text = ''
  for (const [name, value] of params) {
    text += `;${headerToken(name, `${where} parameter name`)}`
    if (value !== null) text += `=${serialiseParamValue(name, value, `${where} parameter "${name}"`)}`
  }
  return text
}

const ADDRESS = /^\[?[0-9a-fA-F:.]+\]?$/

/**
 * Tokens by the grammar, never quoted. If a peer uses characters that no token may contain ("=", "/"), they are still
 * written unchanged, because the peer matches dialogs and transactions by them.
 */
const NEVER_QUOTED = new Set(['branch', 'tag', 'received', 'maddr', 'from-tag', 'to-tag'])

function serialiseParamValue(name: string, value: string, where: string): string {
  const bare = consistsOf(NEVER_QUOTED.has(name) ? PARAM_VALUE : TOKEN, value) || ADDRESS.test(value)
  return bare ? value : quote(value, where)
}
