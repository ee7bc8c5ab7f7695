import { isDigits } from './info-digits.ts'

/** What a page sends on the data channel of its call. */
type PageMessage =
  | { readonly type: 'digits'; readonly digits: string }
  /** The user hangs up. */
  | { readonly type: 'hangup' }

const MAX_DIGITS = 32

/** Null: no message that is known, or one without valid digits. */
export function readPageMessage(text: string): PageMessage | null {
  let message: unknown
  try {
    message = JSON.parse(text)
  } catch {
    return null
  }
  if (typeof message !== 'object' || message === null || !('type' in message)) return null
  if (message.type === 'hangup') return { type: 'hangup' }
  if (message.type !== 'digits' || !('digits' in message) || typeof message.digits !== 'string') return null
  const { digits } = message
  return digits.length > 0 && digits.length <= MAX_DIGITS && isDigits(digits) ? { type: 'digits', digits } : null
}
