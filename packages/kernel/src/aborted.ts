/** Reason for an abort whose reason nobody asks for: an own one for each would cost a stack trace. */
export const ABORTED = new DOMException('the work is no longer wanted', 'AbortError')
