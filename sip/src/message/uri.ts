import type { Uri } from './message.ts'

/** RFC 3261 section 19.1.1. Undefined when `text` is no URI. */
export function parseUri(_text: string): Uri | undefined {
  throw new Error('being written')
}

export function serialiseUri(_uri: Uri): string {
  throw new Error('being written')
}

/** RFC 3261 section 19.1.4. */
export function uriEquals(_left: Uri, _right: Uri): boolean {
  throw new Error('being written')
}
