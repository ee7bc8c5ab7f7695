/** The reason of aborts whose reason is never read. One object serves all of them, because each new one records a stack trace. */
export const ABORTED = new DOMException('the work is no longer wanted', 'AbortError')
