import { type Diagnostic, ParleyApiError } from '@parley/client'

const MAX_CELL_WIDTH = 48

/** A table with aligned columns. Characters that move the cursor of a terminal are replaced. */
export function table(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [headings, ...rows.map(row => row.map(cell => cut(printable(cell))))]
  const widths = headings.map((_, column) => Math.max(...lines.map(line => [...(line[column] ?? '')].length)))
  const padded = (cell: string, column: number) => cell + ' '.repeat(widths[column]! - [...cell].length)
  return lines.map(line => `${line.map(padded).join('  ').trimEnd()}\n`).join('')
}

/** One line per diagnostic, followed by a line per fix. */
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

/** An error whose message has the API's refusal and its issues, one per line. Other errors are returned unchanged. */
export function withReadableMessage(error: unknown): unknown {
  if (!(error instanceof ParleyApiError)) return error
  const { message, code, reason, issues, diagnostics, requestId, idempotencyKey } = error
  const lines = [
    `${printable(message)} (${reason === null ? code : `${code}, ${reason}`})`,
    ...issues.map(issue => `  ${printable(issue.path) || '/'}  ${printable(issue.message)}`),
    ...diagnosticLines(diagnostics)
      .split('\n')
      .filter(line => line !== '')
      .map(line => `  ${line}`),
    ...(error.outcome === 'unknown'
      ? [`the request may have taken effect; repeat it safely with the idempotency key ${idempotencyKey}`]
      : []),
    ...(requestId === null ? [] : [`request id ${printable(requestId)}`]),
  ]
  return new Error(lines.join('\n'), { cause: error })
}

export function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`
}

function cut(text: string): string {
  const characters = [...text]
  return characters.length <= MAX_CELL_WIDTH ? text : `${characters.slice(0, MAX_CELL_WIDTH - 1).join('')}…`
}

/** Names are untrusted: control and direction characters could forge the output. */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu, '\u00b7')
}
