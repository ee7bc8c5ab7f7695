import { type Diagnostic, ParleyApiError } from '@parley/client'

const WIDEST = 48

/** Rows under headings, columns aligned, without what would move a terminal's cursor. */
export function table(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [headings, ...rows.map(row => row.map(cell => cut(printable(cell))))]
  const widths = headings.map((_, column) => Math.max(...lines.map(line => [...(line[column] ?? '')].length)))
  const padded = (cell: string, column: number) => cell + ' '.repeat(widths[column]! - [...cell].length)
  return lines.map(line => `${line.map(padded).join('  ').trimEnd()}\n`).join('')
}

/** Each finding on a line of its own, with the edits that fix it. */
export function diagnosticLines(diagnostics: readonly Diagnostic[]): string {
  return diagnostics
    .map(({ severity, code, path, message, fixes = [] }) =>
      [
        `${severity.padEnd(7)}  ${printable(path) || '/'}  ${printable(message)}  (${printable(code)})\n`,
        ...fixes.map(({ label }) => `         fix: ${printable(label)}\n`),
      ].join(''),
    )
    .join('')
}

/** The API's refusal and its places, in lines; other errors are returned unchanged. */
export function toldPlainly(error: unknown): unknown {
  if (!(error instanceof ParleyApiError)) return error
  const { message, code, reason, issues, diagnostics, requestId, idempotencyKey } = error
  const lines = [
    `${printable(message)} (${reason === null ? code : `${code}, ${reason}`})`,
    ...issues.map(issue => `  ${printable(issue.path) || '/'}  ${printable(issue.message)}`),
    ...diagnosticLines(diagnostics)
      .split('\n')
      .filter(line => line !== '')
      .map(line => `  ${line}`),
    ...(error.outcome === 'unknown' ? [`it may have been carried out; its idempotency key is ${idempotencyKey}`] : []),
    ...(requestId === null ? [] : [`request ${printable(requestId)}`]),
  ]
  return new Error(lines.join('\n'), { cause: error })
}

export function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`
}

function cut(text: string): string {
  const characters = [...text]
  return characters.length <= WIDEST ? text : `${characters.slice(0, WIDEST - 1).join('')}…`
}

/** Names are untrusted: control and direction characters could forge the output. */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu, '\u00b7')
}
