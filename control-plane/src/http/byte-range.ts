/** What a Range header asks for: bytes `from` to `to`, both included; null: everything; `unsatisfiable`: nothing there. */
type ByteRange = { readonly from: number; readonly to: number } | null | 'unsatisfiable'

/**
 * The one range that `header` asks of `size` bytes (RFC 9110, 14.2). Several ranges, other units and what cannot be
 * understood ask for everything, as the RFC lets a server take them.
 */
export function parseByteRange(header: string | undefined, size: number): ByteRange {
  const found = header === undefined ? null : /^bytes=([0-9]{0,15})-([0-9]{0,15})$/.exec(header.trim())
  const [, first = '', last = ''] = found ?? []
  if (found === null || (first === '' && last === '')) return null
  if (first === '') {
    const count = Number(last)
    return count === 0 || size === 0 ? 'unsatisfiable' : { from: Math.max(0, size - count), to: size - 1 }
  }
  const from = Number(first)
  const to = last === '' ? size - 1 : Math.min(Number(last), size - 1)
  if (last !== '' && Number(last) < from) return null
  return from >= size ? 'unsatisfiable' : { from, to }
}
