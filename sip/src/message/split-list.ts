/** The elements of a comma-separated header value, trimmed; commas in quotes and angle brackets do not split. */
export function splitList(_value: string): string[] {
  throw new Error('being written')
}
