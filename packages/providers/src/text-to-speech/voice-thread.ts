/**
 * A thread of a local voice that has not spoken for this long ends, and gives its memory back: 30 to 40 MB each. The beginning of a call starts
 * it again (`warm`), so that a caller does not wait for it.
 */
export const VOICE_THREAD_IDLE_MS = 60_000
