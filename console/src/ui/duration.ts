/** A duration in ms as `m:ss` or `h:mm:ss`; null as a dash. */
export function clock(ms: number | null): string {
  if (ms === null) return '–'
  const seconds = Math.round(ms / 1000)
  const two = (value: number) => String(value).padStart(2, '0')
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60]
  return hours > 0 ? `${hours}:${two(minutes)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`
}

/** A short time: `840 ms`, `1.25 s`; null as a dash. */
export function shortTime(ms: number | null): string {
  if (ms === null) return '–'
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(ms < 10_000 ? 2 : 1)} s`
}
