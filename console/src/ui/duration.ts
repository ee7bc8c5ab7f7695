/** A duration in ms as `m:ss` or `h:mm:ss`; null as a dash. */
export function clock(ms: number | null): string {
  if (ms === null) return '–'
  const seconds = Math.round(ms / 1000)
  const two = (value: number) => String(value).padStart(2, '0')
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60]
  return hours > 0 ? `${hours}:${two(minutes)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`
}

/** A short time in the numbers of the language: `840 ms`, `1.25 s` or `1,25 s`, on one line; null as a dash. */
export function shortTime(ms: number | null, language: string): string {
  if (ms === null) return '–'
  if (ms < 1000) return `${Math.round(ms)}\u00a0ms`
  const digits = ms < 10_000 ? 2 : 1
  const format = new Intl.NumberFormat(language, { minimumFractionDigits: digits, maximumFractionDigits: digits })
  return `${format.format(ms / 1000)}\u00a0s`
}
