import type { SipRequest } from '@parley/leg'
import type { HeaderPairs } from '@parley/sip'
import { EngineError } from '../errors.ts'

/** Maximum of a header line without its line break, in bytes. */
const MAX_BYTES = 1024

/** Variables of the headers that a trunk lets in, and the names of headers whose value is refused. */
interface HeaderVariables {
  readonly variables: Readonly<Record<string, string>>
  readonly refused: readonly string[]
}

/** `X-Foo` becomes the variable `x-foo`; several lines of a header are joined by commas. `names`: the trunk's `headers_in`. */
export function headerVariables({ headers }: SipRequest, names: readonly string[] = []): HeaderVariables {
  const variables: Record<string, string> = {}
  const refused: string[] = []
  for (const name of names) {
    const variable = name.toLowerCase()
    const values = headers.entries.flatMap(([known, value]) => (known.toLowerCase() === variable ? [value] : []))
    if (values.length === 0) continue
    const value = values.join(', ')
    if (isSendable(name, value)) variables[variable] = value.toWellFormed()
    else refused.push(name)
  }
  return { variables, refused }
}

/**
 * `X-Foo` gets the value of the variable `x-foo`; a header whose variable is missing or empty is left out. `names`: the trunk's
 * `headers_out`. Throws "header_refused" for a value with CR, LF or NUL and for a line of more than 1,024 bytes.
 */
export function variableHeaders(
  variables: Readonly<Record<string, string>>,
  names: readonly string[] = [],
): HeaderPairs {
  return names.flatMap(name => {
    const variable = name.toLowerCase()
    const value = Object.hasOwn(variables, variable) ? (variables[variable] ?? '') : ''
    if (value === '') return []
    if (!isSendable(name, value))
      throw new EngineError(
        'header_refused',
        `the variable ${variable} cannot be sent as the header ${name}: it has a line break, or the line is longer than ${MAX_BYTES} bytes`,
      )
    return [[name, value] as const]
  })
}

function isSendable(name: string, value: string): boolean {
  return !/[\r\n\0]/.test(value) && Buffer.byteLength(`${name}: ${value}`, 'utf8') <= MAX_BYTES
}
